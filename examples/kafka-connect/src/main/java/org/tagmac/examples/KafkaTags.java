package org.tagmac.examples;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Map;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.connect.connector.ConnectRecord;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.errors.DataException;
import org.apache.kafka.connect.header.Header;
import org.apache.kafka.connect.transforms.Transformation;
import org.tagmac.KeyRef;
import org.tagmac.TagmacKey;

/**
 * Transformations of Kafka Connect. {@link Tag} adds a header with the tag of a record; {@link Verify}
 * fails for a record whose tag is wrong or missing. Their option {@code key} is a reference to a key.
 *
 * <p>The tag is that of the topic, the key and the value, each after its length, so that a record of
 * another topic or with another key is not accepted. Other headers, the time and the partition are
 * not tagged. A tag does not show that a record is missing, repeated or in another place.
 */
abstract class KafkaTags<R extends ConnectRecord<R>> implements Transformation<R> {
    private static final String HEADER = "tagmac";

    TagmacKey key;

    @Override
    public ConfigDef config() {
        return new ConfigDef()
                .define(
                        "key",
                        ConfigDef.Type.STRING,
                        ConfigDef.Importance.HIGH,
                        "A reference to a key, such as file:/etc/tagmac/my.key");
    }

    @Override
    public void configure(Map<String, ?> options) {
        String ref = (String) config().parse(options).get("key");
        try {
            key = KeyRef.parse(ref).resolve();
        } catch (IOException | IllegalArgumentException e) {
            // Without the reference, in case someone wrote a secret into it.
            throw new ConfigException("key: " + e.getMessage());
        }
        if (key.algorithm().needsNonce()) {
            throw new ConfigException("key: " + key.algorithm() + " needs nonces; use another MAC");
        }
    }

    /** Other tasks of the process have the same key. */
    @Override
    public void close() {}

    /** Returns what is tagged. */
    byte[] message(R record) {
        ByteArrayOutputStream message = new ByteArrayOutputStream();
        for (Object part : new Object[] {record.topic(), record.key(), record.value()}) {
            byte[] bytes = bytes(part);
            // Null is not an empty value: tombstones delete.
            int size = part == null ? -1 : bytes.length;
            message.writeBytes(ByteBuffer.allocate(4).putInt(size).array());
            message.writeBytes(bytes);
        }
        return message.toByteArray();
    }

    private static byte[] bytes(Object part) {
        if (part == null) {
            return new byte[0];
        }
        if (part instanceof byte[] bytes) {
            return bytes;
        }
        if (part instanceof String text) {
            try {
                // `getBytes` would give different strings the same bytes.
                ByteBuffer encoded = StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(text));
                return Arrays.copyOf(encoded.array(), encoded.limit());
            } catch (CharacterCodingException e) {
                throw new DataException("a string is not valid Unicode", e);
            }
        }
        throw new DataException(
                "expected strings or bytes, found " + part.getClass().getName()
                        + "; use StringConverter or ByteArrayConverter");
    }

    /** Adds the tag of a record. */
    public static final class Tag<R extends ConnectRecord<R>> extends KafkaTags<R> {
        @Override
        public R apply(R record) {
            byte[] tag = key.tag(message(record));
            record.headers().remove(HEADER).add(HEADER, tag, Schema.BYTES_SCHEMA);
            return record;
        }
    }

    /** Verifies the tag of a record. */
    public static final class Verify<R extends ConnectRecord<R>> extends KafkaTags<R> {
        @Override
        public R apply(R record) {
            Header header = record.headers().lastWithName(HEADER);
            byte[] tag = header != null && header.value() instanceof byte[] bytes ? bytes : new byte[0];
            if (!key.matches(new byte[0], message(record), tag)) {
                throw new DataException("the tag of a record of " + record.topic() + " is wrong");
            }
            return record;
        }
    }
}
