package org.tagmac.hadoop;

import java.io.EOFException;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Objects;
import org.apache.hadoop.fs.ByteBufferReadable;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSExceptionMessages;
import org.apache.hadoop.fs.FSInputStream;
import org.apache.hadoop.fs.StreamCapabilities;
import org.tagmac.Content;
import org.tagmac.DamagedFileException;

/**
 * A sealed file. Leaves are read from the store into new arrays, which only this object has, and are
 * verified there. Callers get copies of the verified bytes.
 */
final class VerifiedInputStream extends FSInputStream
        implements ByteBufferReadable, StreamCapabilities {
    /** The longest request, unless a leaf is longer. */
    private static final int MAX_REQUEST = 4 << 20;
    /** Sequential reads request at most this many bytes in advance. */
    private static final int MAX_AHEAD = 1 << 20;

    private final FSDataInputStream in;
    private final Content content;
    private final String name;
    private final long size;

    private long position;
    /** The end of the last sequential request, and the length of the next one if it begins there. */
    private long requested;
    private int ahead;
    private volatile boolean closed;
    /** Verified bytes. Threads that replace them at once lose one of the pieces. */
    private volatile Piece last = new Piece(0, new byte[0]);

    /** Verified bytes, which nothing changes, and their offset in the file. */
    private record Piece(long start, byte[] bytes) {
        boolean has(long offset) {
            return offset >= start && offset - start < bytes.length;
        }
    }

    VerifiedInputStream(FSDataInputStream in, Content content, String name) {
        this.in = in;
        this.content = content;
        this.name = name;
        size = content.size();
    }

    private void checkOpen() throws IOException {
        if (closed) {
            throw new IOException(name + ": " + FSExceptionMessages.STREAM_IS_CLOSED);
        }
    }

    /**
     * Returns a piece with the byte at an offset. If none is kept, reads {@code wanted} bytes, or
     * fewer.
     */
    private Piece piece(long offset, long wanted) throws IOException {
        Piece piece = last;
        if (!piece.has(offset)) {
            long leafSize = content.leafSize();
            long start = offset - offset % leafSize;
            long end = endOfLeaf(offset + Math.min(wanted, MAX_REQUEST) - 1);
            try {
                piece = fetch(start, end);
            } catch (DamagedFileException e) {
                if (end - start <= leafSize) {
                    throw e;
                }
                // Another leaf may be the damaged one.
                piece = fetch(start, endOfLeaf(start));
            }
            last = piece;
        }
        return piece;
    }

    /** Returns the end of the leaf with the byte at an offset below the size. */
    private long endOfLeaf(long offset) {
        long start = offset - offset % content.leafSize();
        return start + Math.min(content.leafSize(), size - start);
    }

    private Piece fetch(long start, long end) throws IOException {
        int length = Math.toIntExact(end - start);
        byte[] bytes = new byte[length];
        try {
            in.readFully(start, bytes, 0, length);
            content.verify(start, bytes);
        } catch (EOFException e) {
            throw damaged("bytes " + start + " to " + end + " are not all in the store", e);
        } catch (FileNotFoundException e) {
            throw damaged("the store does not have this sealed file", e);
        } catch (IllegalStateException e) {
            // Another thread closed the stream.
            checkOpen();
            throw e;
        }
        return new Piece(start, bytes);
    }

    private DamagedFileException damaged(String what, IOException cause) {
        DamagedFileException damaged = new DamagedFileException(name + ": " + what);
        damaged.initCause(cause);
        return damaged;
    }

    /** Returns the piece for a sequential read at the position. */
    private Piece next(int length) throws IOException {
        Piece piece = last;
        if (piece.has(position)) {
            return piece;
        }
        ahead = position == requested ? Math.min(2 * Math.max(ahead, length), MAX_AHEAD) : 0;
        piece = piece(position, Math.min(Math.max(length, ahead), size - position));
        requested = piece.start + piece.bytes.length;
        return piece;
    }

    @Override
    public synchronized int read(byte[] to, int offset, int length) throws IOException {
        checkOpen();
        Objects.checkFromIndexSize(offset, length, to.length);
        if (length == 0) {
            return 0;
        }
        if (position >= size) {
            return -1;
        }
        int count = copy(next(length), position, to, offset, length);
        position += count;
        return count;
    }

    private static int copy(Piece piece, long position, byte[] to, int offset, int length) {
        int skipped = (int) (position - piece.start);
        int count = Math.min(length, piece.bytes.length - skipped);
        System.arraycopy(piece.bytes, skipped, to, offset, count);
        return count;
    }

    @Override
    public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public synchronized int read(ByteBuffer to) throws IOException {
        checkOpen();
        if (!to.hasRemaining()) {
            return 0;
        }
        if (position >= size) {
            return -1;
        }
        Piece piece = next(to.remaining());
        int skipped = (int) (position - piece.start);
        int count = Math.min(to.remaining(), piece.bytes.length - skipped);
        to.put(piece.bytes, skipped, count);
        position += count;
        return count;
    }

    /** Threads may call this at the same time. */
    @Override
    public int read(long from, byte[] to, int offset, int length) throws IOException {
        checkOpen();
        validatePositionedReadArgs(from, to, offset, length);
        if (length == 0) {
            return 0;
        }
        if (from >= size) {
            return -1;
        }
        return copy(piece(from, Math.min(length, size - from)), from, to, offset, length);
    }

    @Override
    public synchronized void seek(long to) throws IOException {
        checkOpen();
        if (to < 0) {
            throw new EOFException(name + ": " + FSExceptionMessages.NEGATIVE_SEEK);
        }
        if (to > size) {
            throw new EOFException(name + ": " + FSExceptionMessages.CANNOT_SEEK_PAST_EOF);
        }
        position = to;
    }

    @Override
    public synchronized long skip(long count) throws IOException {
        checkOpen();
        long skipped = Math.max(0, Math.min(count, size - position));
        position += skipped;
        return skipped;
    }

    @Override
    public synchronized long getPos() {
        return position;
    }

    @Override
    public synchronized int available() throws IOException {
        checkOpen();
        return (int) Math.min(Integer.MAX_VALUE, size - position);
    }

    /** There is one copy only. */
    @Override
    public boolean seekToNewSource(long target) {
        return false;
    }

    @Override
    public boolean hasCapability(String capability) {
        return StreamCapabilities.READBYTEBUFFER.equals(capability);
    }

    @Override
    public void close() throws IOException {
        closed = true;
        last = new Piece(0, new byte[0]);
        content.close();
        in.close();
    }
}
