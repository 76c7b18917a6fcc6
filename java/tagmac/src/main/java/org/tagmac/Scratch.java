package org.tagmac;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * Memory that Java and the native library share for the length of one short call. Copying the
 * inputs and the tag costs less than JNI's calls for arrays, which take longer than the tag of 64
 * bytes.
 *
 * <p>Threads share a fixed number of them: one per thread would need too much memory with a million
 * virtual threads. A thread whose scratch is in use passes arrays.
 */
final class Scratch implements AutoCloseable {
    /** The longest message in bytes. */
    static final int MAX_MESSAGE = 1024;

    private static final int MAX_NONCE = 16;
    private static final int MAX_TAG = 64;
    /** The offsets of the parts, as in crates/java/src/scratch.rs. The tag is at 0. */
    private static final int NONCE_AT = 64;
    private static final int MESSAGE_AT = 128;

    private static final int COUNT = 64;
    /** Keeps two that are taken at once out of one line of the cache. */
    private static final int STRIDE = 16;

    private static final AtomicReferenceArray<Scratch> FREE =
            new AtomicReferenceArray<>(COUNT * STRIDE);
    private static final VarHandle WORDS =
            MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.nativeOrder());

    static {
        for (int i = 0; i < COUNT; i++) {
            try {
                FREE.set(i * STRIDE, new Scratch(i));
            } catch (Throwable e) {
                // Without it, calls pass arrays.
                break;
            }
        }
    }

    final int index;
    private final ByteBuffer memory;

    private Scratch(int index) {
        this.index = index;
        memory = Native.scratch(index).order(ByteOrder.nativeOrder());
        if (memory.capacity() != MESSAGE_AT + MAX_MESSAGE) {
            throw new LinkageError("the native library is of another version");
        }
    }

    /**
     * Takes a scratch and copies a nonce and a message into it. The caller has checked the range.
     *
     * @return null if they are too long or the scratch is in use
     */
    static Scratch with(byte[] nonce, byte[] message, int at, int size) {
        if (size > MAX_MESSAGE || nonce == null || nonce.length > MAX_NONCE) {
            return null;
        }
        int slot = ((int) Thread.currentThread().getId() & COUNT - 1) * STRIDE;
        Scratch scratch = FREE.getAndSet(slot, null);
        if (scratch != null) {
            try {
                if (nonce.length > 0) {
                    scratch.memory.put(NONCE_AT, nonce, 0, nonce.length);
                }
                scratch.memory.put(MESSAGE_AT, message, at, size);
            } catch (Throwable e) {
                scratch.close();
                throw e;
            }
        }
        return scratch;
    }

    /** Copies the tag from the scratch. */
    void get(byte[] tag) {
        if (tag.length == 16) {
            WORDS.set(tag, 0, memory.getLong(0));
            WORDS.set(tag, 8, memory.getLong(8));
        } else {
            memory.get(0, tag);
        }
    }

    /** Copies a nonce and the tag from the scratch. */
    void get(byte[] nonce, byte[] tag) {
        memory.get(NONCE_AT, nonce);
        get(tag);
    }

    /** Copies a tag into the scratch. Returns whether it fits. */
    boolean put(byte[] tag) {
        if (tag.length > MAX_TAG) {
            return false;
        }
        memory.put(0, tag);
        return true;
    }

    /** Lets other threads take it. */
    @Override
    public void close() {
        FREE.setRelease(index * STRIDE, this);
    }
}
