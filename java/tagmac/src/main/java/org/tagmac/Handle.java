package org.tagmac;

import java.lang.ref.Cleaner;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongConsumer;

/** Owns a value of the native library. It is freed once, by close or after its owner is garbage. */
final class Handle {
    private static final Cleaner CLEANER = Cleaner.create();
    /** No handle is negative. */
    private static final long CLOSED = -1;

    private final State state;
    private final Cleaner.Cleanable cleanable;

    /** The part that the Cleaner keeps. It must not refer to the owner. */
    private static final class State implements Runnable {
        final AtomicLong handle;
        final LongConsumer free;

        State(long handle, LongConsumer free) {
            this.handle = new AtomicLong(handle);
            this.free = free;
        }

        @Override
        public void run() {
            long old = handle.getAndSet(CLOSED);
            if (old != CLOSED) {
                free.accept(old);
            }
        }
    }

    Handle(Object owner, long handle, LongConsumer free) {
        state = new State(handle, free);
        Cleaner.Cleanable registered;
        try {
            registered = CLEANER.register(owner, state);
        } catch (Throwable e) {
            state.run();
            throw e;
        }
        cleanable = registered;
    }

    /**
     * Returns the handle. After {@link #close} it is one that the library refuses. The caller keeps
     * the owner reachable while it uses the handle.
     */
    long get() {
        return state.handle.getPlain();
    }

    void close() {
        cleanable.clean();
    }
}
