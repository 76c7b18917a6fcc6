package org.tagmac;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * Memory that Java and the native library share for the length of one short call. Copying inputs
 * and tag costs less than the JVM's own calls for arrays: they take longer than the tag of 64 bytes.
 *
 * <p>Threads share the rooms, because one for each would be much memory where there are a million
 * virtual threads. A thread that finds its room in use passes arrays.
 */
final class Room implements AutoCloseable {
    /** The longest message in bytes. */
    static final int MESSAGE = 1024;

    private static final int NONCE = 16;
    private static final int TAG = 64;
    /** The places of the parts, as in crates/java/src/room.rs. The tag is at 0. */
    private static final int NONCE_AT = 64;
    private static final int MESSAGE_AT = 128;

    private static final int ROOMS = 64;
    /** Two rooms that threads take at once are not in one line of the cache. */
    private static final int APART = 16;

    private static final AtomicReferenceArray<Room> FREE =
            new AtomicReferenceArray<>(ROOMS * APART);
    private static final VarHandle WORDS =
            MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.nativeOrder());

    static {
        for (int i = 0; i < ROOMS; i++) {
            FREE.set(i * APART, new Room(i));
        }
    }

    final int number;
    private final ByteBuffer memory;

    private Room(int number) {
        this.number = number;
        memory = Native.room(number).order(ByteOrder.nativeOrder());
    }

    /**
     * Takes a room and copies a nonce and a message into it. The caller has checked the range.
     *
     * @return null if they are too long or the room is in use
     */
    static Room with(byte[] nonce, byte[] message, int at, int size) {
        if (size > MESSAGE || nonce == null || nonce.length > NONCE) {
            return null;
        }
        int place = ((int) Thread.currentThread().getId() & ROOMS - 1) * APART;
        Room room = FREE.getAndSet(place, null);
        if (room != null) {
            if (nonce.length > 0) {
                room.memory.put(NONCE_AT, nonce, 0, nonce.length);
            }
            room.memory.put(MESSAGE_AT, message, at, size);
        }
        return room;
    }

    /** Copies the tag from the room. */
    void get(byte[] tag) {
        if (tag.length == 16) {
            WORDS.set(tag, 0, memory.getLong(0));
            WORDS.set(tag, 8, memory.getLong(8));
        } else {
            memory.get(0, tag);
        }
    }

    /** Copies a nonce and the tag from the room. */
    void get(byte[] nonce, byte[] tag) {
        memory.get(NONCE_AT, nonce);
        get(tag);
    }

    /** Copies a tag into the room. Returns whether it fits. */
    boolean put(byte[] tag) {
        if (tag.length > TAG) {
            return false;
        }
        memory.put(0, tag);
        return true;
    }

    /** Gives the room back. */
    @Override
    public void close() {
        FREE.setRelease(number * APART, this);
    }
}
