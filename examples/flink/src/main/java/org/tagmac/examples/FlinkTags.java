package org.tagmac.examples;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.apache.flink.api.common.functions.MapFunction;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.functions.RichFilterFunction;
import org.apache.flink.api.common.functions.RichMapFunction;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.tagmac.KeyRef;
import org.tagmac.TagmacKey;

/**
 * Tags and verifies records in a job of Apache Flink.
 *
 * <p>The functions contain a reference to the key, and each task resolves it: the key is in no job
 * graph, checkpoint or log. It runs in Flink's cluster for one process, changes one record between
 * tagging and verification, and checks that only this one is dropped.
 */
public final class FlinkTags {
    private static final int RECORDS = 10_000;
    private static final String CHANGED = "pay 4321 to Bob";

    private FlinkTags() {}

    /** Refuses strings that are not valid Unicode: {@code getBytes} would give some the same bytes. */
    private static ByteBuffer encoded(String text) throws CharacterCodingException {
        return StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(text));
    }

    /** Appends the tag of a record. */
    private static final class Tag extends RichMapFunction<String, Tuple2<String, byte[]>> {
        private static final long serialVersionUID = 1;

        private final KeyRef ref;
        private transient TagmacKey key;

        Tag(KeyRef ref) {
            this.ref = ref;
        }

        @Override
        public void open(OpenContext context) throws IOException {
            key = ref.resolve();
        }

        @Override
        public Tuple2<String, byte[]> map(String record) throws CharacterCodingException {
            return Tuple2.of(record, key.tag(encoded(record)));
        }
    }

    /** Drops the records whose tag is wrong. */
    private static final class Verify extends RichFilterFunction<Tuple2<String, byte[]>> {
        private static final long serialVersionUID = 1;

        private final KeyRef ref;
        private transient TagmacKey key;

        Verify(KeyRef ref) {
            this.ref = ref;
        }

        @Override
        public void open(OpenContext context) throws IOException {
            key = ref.resolve();
        }

        @Override
        public boolean filter(Tuple2<String, byte[]> record) throws CharacterCodingException {
            return key.matches(new byte[0], encoded(record.f0), record.f1);
        }
    }

    /** Changes a record, and not its tag. */
    private static final class Attack
            implements MapFunction<Tuple2<String, byte[]>, Tuple2<String, byte[]>> {
        private static final long serialVersionUID = 1;

        @Override
        public Tuple2<String, byte[]> map(Tuple2<String, byte[]> record) {
            return record.f0.equals(CHANGED) ? Tuple2.of("pay 4321 to Eve", record.f1) : record;
        }
    }

    public static void main(String[] arguments) throws Exception {
        KeyRef ref = KeyRef.parse(arguments[0]);
        TagmacKey key = ref.resolve();
        if (key.algorithm().needsNonce()) {
            throw new IllegalArgumentException(key.algorithm() + " needs nonces; use another MAC");
        }
        // Pinned: a task that finds another key fails.
        ref = ref.withId(key.id());
        List<String> records = new ArrayList<>();
        for (int i = 0; i < RECORDS; i++) {
            records.add("pay " + i + " to Bob");
        }
        StreamExecutionEnvironment flink = StreamExecutionEnvironment.createLocalEnvironment(2);
        DataStream<String> verified =
                flink.fromData(records)
                        .map(new Tag(ref))
                        .map(new Attack())
                        .rebalance()
                        .filter(new Verify(ref))
                        .map(record -> record.f0);
        List<String> found = new ArrayList<>(verified.executeAndCollect(RECORDS + 1));
        records.remove(CHANGED);
        Collections.sort(found);
        Collections.sort(records);
        if (!found.equals(records)) {
            throw new AssertionError("expected " + records.size() + ", found " + found.size());
        }
        System.out.println("Flink: " + found.size() + " records are right, 1 was dropped");
    }
}
