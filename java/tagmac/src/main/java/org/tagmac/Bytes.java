package org.tagmac;

import java.nio.ByteBuffer;
import java.nio.ReadOnlyBufferException;

/** The remaining bytes of a buffer: in an array, or in a direct buffer. */
record Bytes(byte[] array, ByteBuffer direct, int at, int size) {
    static Bytes of(ByteBuffer buffer) {
        int size = buffer.remaining();
        if (buffer.isDirect()) {
            touch(buffer);
            return new Bytes(null, buffer, buffer.position(), size);
        }
        if (buffer.hasArray()) {
            return new Bytes(buffer.array(), null, buffer.arrayOffset() + buffer.position(), size);
        }
        byte[] copy = new byte[size];
        buffer.duplicate().get(copy);
        return new Bytes(copy, null, 0, size);
    }

    /** Saves the native call of asking for the length of a nonce of MACs that have none. */
    static byte[] nullIfEmpty(byte[] nonce) {
        return nonce != null && nonce.length == 0 ? null : nonce;
    }

    static void checkWritable(ByteBuffer buffer) {
        if (buffer.isReadOnly()) {
            throw new ReadOnlyBufferException();
        }
    }

    /** Checks that the remaining bytes, and not only the capacity, have room for the items. */
    static void checkRoom(ByteBuffer buffer, long count, int size) {
        if (count < 0 || count * size > buffer.remaining()) {
            throw new IndexOutOfBoundsException(
                    count + " items of " + size + " bytes do not fit in " + buffer.remaining()
                            + " bytes");
        }
    }

    /**
     * Reads a byte of each buffer. The memory of a buffer may belong to an arena that was closed;
     * then this throws IllegalStateException, while the native code would read freed memory.
     */
    static void touch(ByteBuffer... buffers) {
        for (ByteBuffer buffer : buffers) {
            if (buffer != null && buffer.hasRemaining()) {
                buffer.get(buffer.position());
            }
        }
    }
}
