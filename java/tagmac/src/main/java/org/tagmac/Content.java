package org.tagmac;

import java.io.IOException;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;

/**
 * The content of a file, as it was sealed. It consists of leaves, which are verified one by one,
 * wherever their bytes come from.
 *
 * <p>Threads may share it. A closed one throws {@link IllegalStateException}.
 */
public final class Content implements AutoCloseable {
    private final Handle handle;
    private final String name;
    private final long size;
    private final long leafSize;

    Content(long native_, String name) {
        handle = new Handle(this, native_, Native::contentFree);
        this.name = name;
        size = Native.contentSize(native_);
        leafSize = Native.contentLeafSize(native_);
    }

    /** Returns the path of the file in the manifest. */
    public String name() {
        return name;
    }

    /** Returns the size in bytes. */
    public long size() {
        return size;
    }

    /**
     * Returns the length of a leaf in bytes. Only the last leaf may be shorter. A file without leaf
     * tags has one leaf.
     */
    public long leafSize() {
        return leafSize;
    }

    /**
     * Checks that {@code data} is what was sealed from byte {@code start} on: one leaf or several. No
     * thread may change the data from then on: use an array that only you have.
     *
     * @throws DamagedFileException if it is not
     * @throws IllegalArgumentException if no leaf begins at {@code start}
     * @throws IOException if the leaf tags cannot be read, or there were too many wrong leaves
     */
    public void verify(long start, byte[] data) throws IOException {
        verify(start, data, 0, data.length);
    }

    /** As {@link #verify(long, byte[])}, for a range of an array. */
    public void verify(long start, byte[] data, int offset, int length) throws IOException {
        try {
            Native.contentVerify(handle.get(), start, data, offset, length);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /** As {@link #verify(long, byte[])}, for the remaining bytes of a buffer. */
    public void verify(long start, ByteBuffer data) throws IOException {
        Bytes bytes = Bytes.of(data);
        if (bytes.array() != null) {
            verify(start, bytes.array(), bytes.at(), bytes.size());
            return;
        }
        try {
            Native.contentVerifyBuffer(
                    handle.get(), start, bytes.direct(), bytes.at(), bytes.size());
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /** Closes the content, after calls of other threads have returned. */
    @Override
    public void close() {
        handle.close();
    }

    /** Returns the path and the size. */
    @Override
    public String toString() {
        return "Content[" + name + " of " + size + " bytes]";
    }
}
