package org.tagmac;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import javax.crypto.Mac;
import javax.crypto.spec.IvParameterSpec;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

final class RacesTest {
    private static final TagmacProvider PROVIDER = new TagmacProvider();
    private static final int THREADS = 4;

    private static void together(Callable<?> work) throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(THREADS);
        try {
            List<Future<?>> running = new ArrayList<>();
            for (int i = 0; i < THREADS; i++) {
                running.add(threads.submit(work));
            }
            for (Future<?> one : running) {
                one.get();
            }
        } finally {
            threads.shutdown();
        }
    }

    /** Each tag is right or refused, whenever another thread closes the key. */
    @Test
    void keysCloseDuringCalls() throws Exception {
        byte[][] messages = {new byte[100], new byte[5000]};
        byte[][] expected = new byte[2][];
        try (TagmacKey key = new TagmacKey(new byte[16])) {
            expected[0] = key.tag(messages[0]);
            expected[1] = key.tag(messages[1]);
        }
        for (int round = 0; round < 200; round++) {
            TagmacKey key = new TagmacKey(new byte[16]);
            AtomicInteger turn = new AtomicInteger();
            together(
                    () -> {
                        try {
                            for (int i = 0; i < 20; i++) {
                                if (turn.incrementAndGet() == 30) {
                                    key.close();
                                }
                                assertArrayEquals(expected[i % 2], key.tag(messages[i % 2]));
                            }
                        } catch (IllegalStateException closed) {
                            assertTrue(turn.get() >= 30, closed.getMessage());
                        }
                        return null;
                    });
            key.close();
        }
    }

    /** Two threads with one Mac, which is misuse, neither crash nor make two tags under a nonce. */
    @Test
    void aSharedMacUsesANonceOnce() throws Exception {
        for (int round = 0; round < 100; round++) {
            Mac mac = Mac.getInstance("UMAC-64", PROVIDER);
            byte[] nonce = {0, 0, 0, 0, 0, 0, 0, (byte) round};
            mac.init(new SecretKeySpec(new byte[16], "RAW"), new IvParameterSpec(nonce));
            AtomicInteger tags = new AtomicInteger();
            together(
                    () -> {
                        try {
                            mac.update(new byte[2000]);
                            Mac clone = (Mac) mac.clone();
                            clone.doFinal();
                            tags.incrementAndGet();
                        } catch (IllegalStateException used) {
                            // Another thread was first.
                        }
                        return null;
                    });
            assertEquals(1, tags.get());
        }
    }

    @Test
    void sessionsUseEachNonceOnce() throws Exception {
        try (TagmacKey key = new TagmacKey("UMAC-64", new byte[16]);
                Session session = new Session(key)) {
            Set<List<Byte>> nonces = ConcurrentHashMap.newKeySet();
            together(
                    () -> {
                        for (int i = 0; i < 500; i++) {
                            List<Byte> nonce = new ArrayList<>();
                            for (byte b : session.tag(new byte[i]).nonce()) {
                                nonce.add(b);
                            }
                            assertTrue(nonces.add(nonce));
                        }
                        return null;
                    });
            assertEquals(THREADS * 500, session.used());
        }
    }

    /** Keys that nobody closed are freed after they became garbage, also while others are used. */
    @Test
    @Timeout(1200)
    void garbageIsFreed() throws Exception {
        byte[] message = new byte[100];
        int before = Native.open();
        Set<Integer> tags = new HashSet<>();
        for (int i = 0; i < 20_000; i++) {
            tags.add(java.util.Arrays.hashCode(new TagmacKey(new byte[16]).tag(message)));
            if (i % 10 == 0) {
                Mac mac = Mac.getInstance("PMAC-AES128", PROVIDER);
                mac.init(new SecretKeySpec(new byte[16], "RAW"));
                tags.add(java.util.Arrays.hashCode(mac.doFinal(message)));
            }
        }
        assertEquals(1, tags.size());
        while (Native.open() > before) {
            System.gc();
        }
    }
}
