package org.tagmac;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The calls that need Java 22. Java 24 and later allow them, or load no library at all. */
final class ForeignTest {
    private static final byte[] NONE = {};

    @BeforeEach
    void prepare() {
        Foreign.prepare();
        int release = Runtime.version().feature();
        assertFalse(release < 22 && Foreign.ready);
        assertTrue(release < 24 || Foreign.ready);
        assumeTrue(Foreign.ready);
    }

    /** Other tests use JNI. */
    @AfterEach
    void end() {
        Foreign.ready = false;
    }

    @Test
    void vectors() throws Exception {
        int tags = 0;
        for (Vectors.Row row : Vectors.all()) {
            if (row.message().length > Foreign.MAX_MESSAGE || !row.refuse().isEmpty()) {
                continue;
            }
            byte[] message = new byte[row.message().length + 5];
            int size = row.message().length;
            System.arraycopy(row.message(), 0, message, 3, size);
            long key = Native.keyNew(row.algorithm(), row.key(), row.tagBits());
            byte[] tag = new byte[row.tag().length];
            assertTrue(Foreign.keyTag(key, row.nonce(), message, 3, size, tag), row.source());
            assertArrayEquals(row.tag(), tag, row.source());
            assertEquals(1, Foreign.keyMatches(key, row.nonce(), message, 3, size, tag), row.source());
            tag[tag.length - 1] ^= (byte) 0x80;
            assertEquals(0, Foreign.keyMatches(key, row.nonce(), message, 3, size, tag), row.source());
            byte[] part = Arrays.copyOf(row.tag(), tag.length - 1);
            assertEquals(0, Foreign.keyMatches(key, row.nonce(), message, 3, size, part), row.source());
            Native.keyFree(key);

            long context = Native.contextNew();
            int algorithm = Algorithm.find(row.algorithm()).orElseThrow().index();
            Native.contextInit(context, algorithm, row.key(), row.tagBits());
            assertTrue(Foreign.contextTag(context, row.nonce(), message, 3, size, tag), row.source());
            assertArrayEquals(row.tag(), tag, row.source());
            Native.contextFree(context);
            tags++;
        }
        assertTrue(tags > 100, tags + " tags");
    }

    /** JNI throws for them. */
    @Test
    void refusedCalls() {
        long key = Native.keyNew("UMAC-64", new byte[16], 0);
        byte[] nonce = new byte[8];
        byte[] tag = new byte[8];
        byte[] message = new byte[Foreign.MAX_MESSAGE + 1];
        assertTrue(Foreign.keyTag(key, nonce, message, 1, Foreign.MAX_MESSAGE, tag));
        assertFalse(Foreign.keyTag(key, nonce, message, 0, message.length, tag));
        assertFalse(Foreign.keyTag(key, nonce, NONE, 0, 0, new byte[7]));
        assertFalse(Foreign.keyTag(key, new byte[100], NONE, 0, 0, tag));
        assertFalse(Foreign.keyTag(key, null, NONE, 0, 0, tag));
        assertEquals(-1, Foreign.keyMatches(key, new byte[100], NONE, 0, 0, tag));
        assertEquals(-1, Foreign.keyMatches(key, nonce, NONE, 0, 0, null));
        assertFalse(Foreign.contextTag(key, nonce, NONE, 0, 0, tag));
        int[][] ranges = {{-1, 1}, {0, -1}, {1, Foreign.MAX_MESSAGE}, {Integer.MAX_VALUE, 1}};
        byte[] shorter = new byte[Foreign.MAX_MESSAGE];
        for (int[] range : ranges) {
            assertThrows(
                    IndexOutOfBoundsException.class,
                    () -> Foreign.keyTag(key, nonce, shorter, range[0], range[1], tag));
            assertThrows(
                    IndexOutOfBoundsException.class,
                    () -> Foreign.keyMatches(key, nonce, shorter, range[0], range[1], tag));
        }
        Native.keyFree(key);
        for (long closed : new long[] {key, -1, 0, Long.MIN_VALUE, Long.MAX_VALUE}) {
            assertFalse(Foreign.keyTag(closed, nonce, NONE, 0, 0, tag));
            assertEquals(-1, Foreign.keyMatches(closed, nonce, NONE, 0, 0, tag));
            assertFalse(Foreign.contextTag(closed, nonce, NONE, 0, 0, tag));
        }
    }

    /** Tests that use JNI elsewhere. */
    @Test
    void otherTests() throws Exception {
        new VectorsTest().allVectors();
        new VectorsTest().wycheproof();
        new RacesTest().keysCloseDuringCalls();
        new RacesTest().aSharedMacUsesANonceOnce();
        new KeyTest().scratchAfterErrors();
    }

    /** The last of the first calls prepares the API, and the tags stay the same. */
    @Test
    @Timeout(1200)
    void manyCalls() {
        byte[] message = new byte[100];
        try (TagmacKey key = new TagmacKey(new byte[16])) {
            byte[] expected = key.tag(message);
            Foreign.ready = false;
            Foreign.left = 1000;
            for (int calls = 0; calls < 1000 || !Foreign.ready; calls++) {
                assertArrayEquals(expected, key.tag(message));
            }
            assertEquals(0, Foreign.left);
            assertArrayEquals(expected, key.tag(message));
        }
    }

    /** The garbage collector runs while calls of JNI hold the key. */
    @Test
    @Timeout(1200)
    void callsDuringCollections() throws Exception {
        byte[] message = new byte[100_000];
        try (TagmacKey key = new TagmacKey(new byte[16])) {
            byte[] longer = key.tag(message);
            byte[] shorter = key.tag(NONE, message, 0, 100);
            CompletableFuture<?>[] threads = new CompletableFuture<?>[4];
            for (int i = 0; i < threads.length; i++) {
                boolean isLong = i % 2 == 0;
                threads[i] =
                        CompletableFuture.runAsync(
                                () -> {
                                    for (int n = 0; n < 300; n++) {
                                        int size = isLong ? message.length : 100;
                                        assertArrayEquals(
                                                isLong ? longer : shorter, key.tag(NONE, message, 0, size));
                                        new TagmacKey(new byte[16]).close();
                                    }
                                },
                                task -> new Thread(task).start());
            }
            CompletableFuture<?> all = CompletableFuture.allOf(threads);
            while (!all.isDone()) {
                System.gc();
            }
            all.join();
        }
    }
}
