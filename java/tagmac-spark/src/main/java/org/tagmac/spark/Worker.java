package org.tagmac.spark;

import java.io.IOException;
import java.io.UncheckedIOException;
import org.apache.spark.unsafe.Platform;
import org.apache.spark.unsafe.types.UTF8String;
import org.tagmac.KeyRef;
import org.tagmac.TagmacKey;

/** Tags and verifies the values of a task. Generated code calls it. */
public final class Worker {
    /** For MACs without nonces. */
    public static final byte[] NO_NONCE = {};

    private final KeyRef ref;
    private TagmacKey key;

    /** The key is resolved at the first value, so that an error is one of the task. */
    public Worker(KeyRef ref) {
        this.ref = ref;
    }

    TagmacKey key() {
        if (key == null) {
            try {
                key = ref.resolve();
            } catch (IOException e) {
                throw new UncheckedIOException(e.getMessage(), e);
            }
        }
        return key;
    }

    /** Returns the tag of a value. */
    public byte[] tag(byte[] value, byte[] nonce) {
        return key().tag(nonce, value);
    }

    /** Returns the tag of the UTF-8 encoding of a string. */
    public byte[] tag(UTF8String value, byte[] nonce) {
        if (value.getBaseObject() instanceof byte[] array) {
            return key().tag(nonce, array, start(value), value.numBytes());
        }
        return key().tag(nonce, value.getBytes());
    }

    /** Returns the tag of a value of either type. */
    Object tag(Object value, byte[] nonce) {
        return value instanceof UTF8String text ? tag(text, nonce) : tag((byte[]) value, nonce);
    }

    /** Returns whether the tag of a value is right. */
    public boolean verify(byte[] value, byte[] tag, byte[] nonce) {
        return key().matches(nonce, value, tag);
    }

    /** Returns whether the tag of the UTF-8 encoding of a string is right. */
    public boolean verify(UTF8String value, byte[] tag, byte[] nonce) {
        if (value.getBaseObject() instanceof byte[] array) {
            return key().matches(nonce, array, start(value), value.numBytes(), tag);
        }
        return key().matches(nonce, value.getBytes(), tag);
    }

    /** Returns whether the tag of a value of either type is right. */
    boolean verify(Object value, byte[] tag, byte[] nonce) {
        return value instanceof UTF8String text
                ? verify(text, tag, nonce)
                : verify((byte[]) value, tag, nonce);
    }

    static int start(UTF8String value) {
        return (int) (value.getBaseOffset() - Platform.BYTE_ARRAY_OFFSET);
    }

    /** Returns a nonce, which must not be null. */
    public static byte[] given(byte[] nonce) {
        if (nonce == null) {
            throw new IllegalArgumentException("a value has no nonce; the nonce must not be null");
        }
        return nonce;
    }
}
