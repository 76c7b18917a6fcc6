package org.tagmac;

import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * The native methods. The library looks handles up in a table, and it or the JVM checks every range,
 * so that no argument can crash the JVM. Callers check the ranges of arrays first: a wrong one throws
 * only after the call did its work on zeros. An empty nonce is cheapest as null.
 *
 * <p>Callers keep the owner of a handle reachable until the call returns.
 */
final class Native {
    private Native() {}

    static {
        NativeLibrary.load();
    }

    static native byte[] algorithms();

    static native byte[] version();

    static native int open();

    static native long keyNew(String algorithm, byte[] key, int tagBits);

    static native long keyFromFile(String path, int tagBits) throws IOException;

    static native long keyFromEnv(String name, int tagBits) throws IOException;

    static native long keyFromText(byte[] text, int tagBits) throws IOException;

    static native byte[] keyInfo(long key);

    static native ByteBuffer scratch(int index);

    static native void keyTagScratch(long key, int scratch, int nonceSize, int size);

    static native boolean keyMatchesScratch(
            long key, int scratch, int nonceSize, int size, int tagSize);

    static native void keyTag(long key, byte[] nonce, byte[] message, int at, int size, byte[] tag);

    static native void keyTagBuffer(
            long key, byte[] nonce, ByteBuffer message, int at, int size, byte[] tag);

    static native boolean keyMatches(
            long key, byte[] nonce, byte[] message, int at, int size, byte[] tag, int tagSize);

    static native boolean keyMatchesBuffer(
            long key, byte[] nonce, ByteBuffer message, int at, int size, byte[] tag, int tagSize);

    static native void keyFree(long key);

    static native void tagMany(
            long key,
            int count,
            int width,
            ByteBuffer data,
            int dataAt,
            int dataSize,
            ByteBuffer offsets,
            int offsetsAt,
            ByteBuffer nonces,
            int noncesAt,
            int noncesSize,
            ByteBuffer tags,
            int tagsAt);

    static native int verifyMany(
            long key,
            int count,
            int width,
            ByteBuffer data,
            int dataAt,
            int dataSize,
            ByteBuffer offsets,
            int offsetsAt,
            ByteBuffer nonces,
            int noncesAt,
            int noncesSize,
            ByteBuffer tags,
            int tagsAt,
            ByteBuffer verdicts,
            int verdictsAt);

    static native long contextNew();

    static native boolean contextInit(long context, int algorithm, byte[] key, int tagBits);

    static native void contextTagScratch(long context, int scratch, int nonceSize, int size);

    static native void contextTag(
            long context, byte[] nonce, byte[] message, int at, int size, byte[] tag);

    static native void contextUpdate(long context, byte[] nonce, byte[] data, int at, int size);

    static native void contextUpdateBuffer(
            long context, byte[] nonce, ByteBuffer data, int at, int size);

    static native void contextFinish(long context, byte[] tag);

    static native void contextReset(long context);

    static native long contextFork(long context);

    static native void contextFree(long context);

    static native long sessionNew(long key, byte[] nonce, long maxMessage, double probability);

    static native long sessionRestore(long key, byte[] saved, long maxMessage, double probability);

    static native int sessionTagScratch(long session, int scratch, int size);

    static native boolean sessionMatchesScratch(
            long session, int scratch, int nonceSize, int size, int tagSize);

    static native byte[] sessionTag(long session, byte[] message, int at, int size);

    static native boolean sessionMatches(
            long session, byte[] nonce, byte[] message, int at, int size, byte[] tag, int tagSize);

    static native void sessionReserve(long session, long messages);

    static native byte[] sessionSave(long session);

    static native long sessionCount(long session, int which);

    static native void sessionFree(long session);

    static native long manifestOpen(long key, String path) throws IOException;

    static native byte[] manifestInfo(long manifest);

    static native byte[] manifestEntry(long manifest, byte[] path) throws IOException;

    static native byte[] manifestList(long manifest, byte[] path) throws IOException;

    static native void manifestFree(long manifest);

    static native long contentOpen(long manifest, byte[] path) throws IOException;

    static native long contentSize(long content);

    static native long contentLeafSize(long content);

    static native void contentVerify(long content, long start, byte[] data, int at, int size)
            throws IOException;

    static native void contentVerifyBuffer(
            long content, long start, ByteBuffer data, int at, int size) throws IOException;

    static native void contentFree(long content);
}
