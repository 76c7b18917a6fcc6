package org.tagmac.spark;

import java.io.Serializable;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.api.java.function.FlatMapFunction;
import org.apache.spark.sql.execution.vectorized.OnHeapColumnVector;
import org.apache.spark.sql.execution.vectorized.WritableColumnVector;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.vectorized.ColumnVector;
import org.apache.spark.sql.vectorized.ColumnarBatch;
import org.apache.spark.unsafe.types.UTF8String;
import org.tagmac.KeyRef;
import org.tagmac.TagmacKey;

/** Computes the new columns of the batches of a partition. */
final class TagColumns implements FlatMapFunction<Iterator<ColumnarBatch>, ColumnarBatch> {
    private static final long serialVersionUID = 1;

    private final ArrayList<Task> tasks;
    private final int inputs;

    /**
     * A new column.
     *
     * @param value the ordinal of the column of values
     * @param tag the ordinal of the column of tags to verify; -1 to make tags
     */
    record Task(KeyRef ref, boolean isText, int value, int tag) implements Serializable {}

    /** The new columns follow the first {@code inputs} columns of a batch. */
    TagColumns(ArrayList<Task> tasks, int inputs) {
        this.tasks = tasks;
        this.inputs = inputs;
    }

    @Override
    public Iterator<ColumnarBatch> call(Iterator<ColumnarBatch> batches) {
        return new Iterator<>() {
            private final List<Column> columns = new ArrayList<>();

            @Override
            public boolean hasNext() {
                return batches.hasNext();
            }

            @Override
            public ColumnarBatch next() {
                ColumnarBatch batch = batches.next();
                if (columns.isEmpty()) {
                    tasks.forEach(task -> columns.add(new Column(task)));
                }
                ColumnVector[] vectors = new ColumnVector[inputs + columns.size()];
                for (int i = 0; i < inputs; i++) {
                    vectors[i] = batch.column(i);
                }
                for (int i = 0; i < columns.size(); i++) {
                    vectors[inputs + i] = columns.get(i).compute(batch);
                }
                return new ColumnarBatch(vectors, batch.numRows());
            }
        };
    }

    /** A new column. Each batch overwrites the previous one, as those of Spark's readers do. */
    private static final class Column {
        /** The maximum bytes of the values of a call. A longer value has its own call. */
        private static final int MAX_BYTES = 256 << 10;
        /** The maximum number of values of a call. */
        private static final int MAX_VALUES = 4096;

        private final Task task;
        private final boolean verifies;
        private final TagmacKey key;
        private final WritableColumnVector result;
        private final ByteBuffer data = direct(MAX_BYTES);
        private final ByteBuffer offsets = direct(Integer.BYTES * (MAX_VALUES + 1));
        private final ByteBuffer tags;
        private final ByteBuffer verdicts;
        /** The tags of a call. */
        private final byte[] copy;
        /** The rows of the pending values. */
        private final int[] rows = new int[MAX_VALUES];
        private int count;

        Column(Task task) {
            this.task = task;
            verifies = task.tag() >= 0;
            key = new Worker(task.ref()).key();
            result =
                    new OnHeapColumnVector(
                            MAX_VALUES, verifies ? DataTypes.BooleanType : DataTypes.BinaryType);
            tags = direct(MAX_VALUES * key.tagBytes());
            verdicts = direct(verifies ? MAX_VALUES : 0);
            copy = new byte[verifies ? 0 : MAX_VALUES * key.tagBytes()];
        }

        private static ByteBuffer direct(int size) {
            return ByteBuffer.allocateDirect(size).order(ByteOrder.LITTLE_ENDIAN);
        }

        ColumnVector compute(ColumnarBatch batch) {
            result.reset();
            result.reserve(batch.numRows());
            ColumnVector values = batch.column(task.value());
            ColumnVector given = verifies ? batch.column(task.tag()) : null;
            // The vectors of Spark's readers give the bytes of any column without a copy.
            boolean shared = task.isText() || values instanceof WritableColumnVector;
            for (int row = 0; row < batch.numRows(); row++) {
                if (values.isNullAt(row) || verifies && given.isNullAt(row)) {
                    result.putNull(row);
                    continue;
                }
                byte[] tag = verifies ? given.getBinary(row) : null;
                if (verifies && tag.length != key.tagBytes()) {
                    result.putBoolean(row, false);
                } else if (shared) {
                    UTF8String value = values.getUTF8String(row);
                    if (value.getBaseObject() instanceof byte[] array) {
                        add(row, array, Worker.start(value), value.numBytes(), tag);
                    } else {
                        add(row, value.getBytes(), 0, value.numBytes(), tag);
                    }
                } else {
                    byte[] value = values.getBinary(row);
                    add(row, value, 0, value.length, tag);
                }
            }
            finish();
            return result;
        }

        private void add(int row, byte[] value, int at, int size, byte[] tag) {
            if (size > MAX_BYTES) {
                if (verifies) {
                    result.putBoolean(row, key.matches(Worker.NO_NONCE, value, at, size, tag));
                } else {
                    result.putByteArray(row, key.tag(Worker.NO_NONCE, value, at, size));
                }
                return;
            }
            if (count == MAX_VALUES || size > data.remaining()) {
                finish();
            }
            data.put(value, at, size);
            if (verifies) {
                tags.put(count * tag.length, tag);
            }
            rows[count++] = row;
            offsets.putInt(Integer.BYTES * count, data.position());
        }

        /** Processes the pending values. */
        private void finish() {
            if (count == 0) {
                return;
            }
            data.flip();
            if (verifies) {
                key.verifyMany(count, data, offsets, Integer.BYTES, null, tags, verdicts);
                for (int i = 0; i < count; i++) {
                    result.putBoolean(rows[i], verdicts.get(i) == 1);
                }
            } else {
                key.tagMany(count, data, offsets, tags);
                int size = key.tagBytes();
                tags.get(0, copy, 0, count * size);
                for (int i = 0; i < count; i++) {
                    result.putByteArray(rows[i], copy, i * size, size);
                }
            }
            data.clear();
            count = 0;
        }
    }
}
