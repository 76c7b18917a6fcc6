package org.tagmac;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.HashSet;
import java.util.Set;
import javax.crypto.Mac;
import javax.crypto.SecretKey;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.Test;

final class VectorsTest {
    private static final TagmacProvider PROVIDER = new TagmacProvider();

    private static ByteBuffer direct(byte[] bytes) {
        return ByteBuffer.allocateDirect(bytes.length + 3).position(3).put(bytes).position(3);
    }

    /** The tag by javax.crypto.Mac, in pieces of arrays and buffers if {@code cut} is positive. */
    private static byte[] byMac(Vectors.Row row, int cut) throws GeneralSecurityException {
        Mac mac = Mac.getInstance(row.algorithm(), PROVIDER);
        SecretKey key = new SecretKeySpec(row.key(), row.algorithm());
        mac.init(key, new TagmacParameterSpec(row.nonce(), row.tagBits()));
        byte[] message = row.message();
        if (cut == 0) {
            return mac.doFinal(message);
        }
        for (int at = 0, i = 0; at < message.length; at += cut, i++) {
            int size = Math.min(cut, message.length - at);
            switch (i % 4) {
                case 0 -> mac.update(message, at, size);
                case 1 -> mac.update(direct(message).position(3 + at).limit(3 + at + size));
                case 2 -> mac.update(ByteBuffer.wrap(message, at, size));
                default -> mac.update(ByteBuffer.wrap(message, at, size).asReadOnlyBuffer());
            }
        }
        return mac.doFinal();
    }

    /** With longer arrays -Xcheck:jni takes minutes, as it copies the array at each access. */
    private static final int MAX_ARRAY = 4 << 20;

    /** A short message is in scratch memory, or in arrays while the thread's is in use. */
    private static void check(Vectors.Row row) throws GeneralSecurityException {
        checkOnce(row);
        if (row.message().length <= Scratch.MAX_MESSAGE) {
            try (Scratch taken = Scratch.with(new byte[0], new byte[0], 0, 0)) {
                assertNotNull(taken);
                checkOnce(row);
            }
        }
    }

    private static void checkOnce(Vectors.Row row) throws GeneralSecurityException {
        try (TagmacKey key = new TagmacKey(row.algorithm(), row.key(), row.tagBits())) {
            String what = row.source();
            boolean valid = row.refuse().isEmpty();
            assertTrue(key.matches(row.nonce(), direct(row.message()), row.tag()) == valid, what);
            if (row.message().length > MAX_ARRAY) {
                return;
            }
            if (valid) {
                assertArrayEquals(row.tag(), key.tag(row.nonce(), row.message()), what);
                assertArrayEquals(row.tag(), key.tag(row.nonce(), direct(row.message())), what);
                assertArrayEquals(row.tag(), byMac(row, 0), what);
                assertArrayEquals(row.tag(), byMac(row, Math.max(1, row.message().length / 5)), what);
                byte[] wrong = row.tag().clone();
                wrong[0] ^= (byte) 0x80;
                assertFalse(key.matches(row.nonce(), row.message(), wrong), what);
                assertFalse(key.matches(row.nonce(), direct(row.message()), wrong), what);
            } else {
                assertFalse(MessageDigest.isEqual(row.tag(), byMac(row, 0)), what);
            }
            boolean right = key.matches(row.nonce(), row.message(), row.tag());
            assertTrue(right == valid, what);
        }
    }

    @Test
    void allVectors() throws Exception {
        Set<String> names = new HashSet<>();
        for (Vectors.Row row : Vectors.all()) {
            names.add(row.algorithm());
            if (row.message().length > MAX_ARRAY && !row.algorithm().equals("UMAC-64")) {
                continue;
            }
            if (row.refuse().equals("key")) {
                assertThrows(
                        IllegalArgumentException.class,
                        () -> new TagmacKey(row.algorithm(), row.key(), row.tagBits()));
            } else {
                check(row);
            }
        }
        for (Algorithm algorithm : Algorithm.all()) {
            // Of LightMAC, other lengths of the counter stand for the rest.
            boolean light = algorithm.name().startsWith("LIGHTMAC-");
            assertTrue(light || names.contains(algorithm.name()), algorithm + " has no vectors");
        }
    }

    @Test
    void wycheproof() throws Exception {
        int wrong = 0;
        for (Vectors.Row row : Vectors.wycheproof()) {
            if (row.refuse().isEmpty()) {
                check(row);
                continue;
            }
            wrong++;
            boolean right;
            try (TagmacKey key = new TagmacKey(row.algorithm(), row.key(), row.tagBits())) {
                right = key.matches(row.nonce(), row.message(), row.tag());
            } catch (IllegalArgumentException e) {
                right = false;
            }
            assertFalse(right, row.source());
            boolean equal;
            try {
                equal = MessageDigest.isEqual(row.tag(), byMac(row, 0));
            } catch (GeneralSecurityException | IllegalArgumentException e) {
                equal = false;
            }
            assertFalse(equal, row.source());
        }
        assertTrue(wrong > 1000, "only " + wrong + " wrong tags");
    }
}
