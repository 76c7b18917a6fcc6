package org.tagmac.spark;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.api.java.function.FlatMapFunction;
import org.apache.spark.sql.execution.vectorized.OnHeapColumnVector;
import org.apache.spark.sql.execution.vectorized.WritableColumnVector;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.vectorized.ColumnVector;
import org.apache.spark.sql.vectorized.ColumnarBatch;
import org.apache.spark.unsafe.types.UTF8String;
import org.tagmac.TagmacKey;

/** Computes the new columns of the batches of a partition. */
final class TagColumns implements FlatMapFunction<Iterator<ColumnarBatch>, ColumnarBatch> {
    private static final long serialVersionUID = 1;

    private final ArrayList<TagmacExpression> calls;

    /** The calls have places in the batches as arguments. */
    TagColumns(List<TagmacExpression> calls) {
        this.calls = new ArrayList<>(calls);
    }

    @Override
    public Iterator<ColumnarBatch> call(Iterator<ColumnarBatch> batches) {
        List<Column> columns = new ArrayList<>();
        for (TagmacExpression call : calls) {
            columns.add(new Column(call));
        }
        return new Iterator<>() {
            @Override
            public boolean hasNext() {
                return batches.hasNext();
            }

            @Override
            public ColumnarBatch next() {
                ColumnarBatch batch = batches.next();
                ColumnVector[] vectors = new ColumnVector[batch.numCols() + columns.size()];
                for (int i = 0; i < batch.numCols(); i++) {
                    vectors[i] = batch.column(i);
                }
                for (int i = 0; i < columns.size(); i++) {
                    vectors[batch.numCols() + i] = columns.get(i).of(batch);
                }
                return new ColumnarBatch(vectors, batch.numRows());
            }
        };
    }

    /** A new column. Each batch overwrites the one before, as those of Spark's readers do. */
    private static final class Column {
        /** The values of a call have at most this many bytes. A longer one has its own call. */
        private static final int BYTES = 256 << 10;
        /** A call has at most this many values. */
        private static final int VALUES = 4096;

        private final TagmacExpression call;
        private final TagmacKey key;
        private final WritableColumnVector result;
        private final ByteBuffer data = direct(BYTES);
        private final ByteBuffer offsets = direct(Integer.BYTES * (VALUES + 1));
        private final ByteBuffer tags;
        private final ByteBuffer verdicts;
        /** The tags of a call. */
        private final byte[] copy;
        /** The rows of the values that the next call is about. */
        private final int[] rows = new int[VALUES];
        private int count;

        Column(TagmacExpression call) {
            this.call = call;
            key = new Worker(call.ref()).key();
            result = new OnHeapColumnVector(VALUES, call.dataType());
            tags = direct(VALUES * key.tagBytes());
            verdicts = direct(call.verifies() ? VALUES : 0);
            copy = new byte[call.verifies() ? 0 : VALUES * key.tagBytes()];
        }

        private static ByteBuffer direct(int size) {
            return ByteBuffer.allocateDirect(size).order(ByteOrder.LITTLE_ENDIAN);
        }

        ColumnVector of(ColumnarBatch batch) {
            result.reset();
            result.reserve(batch.numRows());
            ColumnVector values = batch.column(call.place(0));
            ColumnVector given = call.verifies() ? batch.column(call.place(1)) : null;
            boolean texts = call.children().apply(0).dataType() instanceof StringType;
            // The vectors of Spark's readers give the bytes of any column without a copy.
            boolean shared = texts || values instanceof WritableColumnVector;
            for (int row = 0; row < batch.numRows(); row++) {
                if (values.isNullAt(row) || given != null && given.isNullAt(row)) {
                    result.putNull(row);
                    continue;
                }
                byte[] tag = given == null ? null : given.getBinary(row);
                if (tag != null && tag.length != key.tagBytes()) {
                    result.putBoolean(row, false);
                    continue;
                }
                byte[] array;
                int at = 0;
                int size;
                if (shared) {
                    UTF8String value = values.getUTF8String(row);
                    boolean onHeap = value.getBaseObject() instanceof byte[];
                    array = onHeap ? (byte[]) value.getBaseObject() : value.getBytes();
                    at = onHeap ? Worker.start(value) : 0;
                    size = value.numBytes();
                } else {
                    array = values.getBinary(row);
                    size = array.length;
                }
                add(row, array, at, size, tag);
            }
            finish();
            return result;
        }

        private void add(int row, byte[] value, int at, int size, byte[] tag) {
            if (size > BYTES) {
                if (tag == null) {
                    result.putByteArray(row, key.tag(Worker.NO_NONCE, value, at, size));
                } else {
                    result.putBoolean(row, key.matches(Worker.NO_NONCE, value, at, size, tag));
                }
                return;
            }
            if (count == VALUES || size > data.remaining()) {
                finish();
            }
            data.put(value, at, size);
            if (tag != null) {
                tags.put(count * tag.length, tag);
            }
            rows[count++] = row;
            offsets.putInt(Integer.BYTES * count, data.position());
        }

        /** Tags or verifies what was added. */
        private void finish() {
            if (count == 0) {
                return;
            }
            data.flip();
            if (call.verifies()) {
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
