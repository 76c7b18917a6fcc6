package org.tagmac;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.ByteBuffer;
import java.security.InvalidAlgorithmParameterException;
import java.security.InvalidKeyException;
import java.security.InvalidParameterException;
import java.security.KeyPairGenerator;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.Random;
import javax.crypto.KeyGenerator;
import javax.crypto.Mac;
import javax.crypto.SecretKey;
import javax.crypto.ShortBufferException;
import javax.crypto.spec.IvParameterSpec;
import javax.crypto.spec.PBEParameterSpec;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.Test;

final class ProviderTest {
    private static final TagmacProvider PROVIDER = new TagmacProvider();
    private static final SecretKey KEY = new SecretKeySpec(new byte[16], "RAW");

    private static Mac mac(String algorithm) throws NoSuchAlgorithmException {
        return Mac.getInstance(algorithm, PROVIDER);
    }

    private static IvParameterSpec nonce(int number) {
        return new IvParameterSpec(new byte[] {0, 0, 0, 0, 0, 0, 0, (byte) number});
    }

    /** Lengths around the size of the buffer and of critical sections. */
    private static final int[] LENGTHS = {
        0, 1, 15, 16, 17, 1023, 1024, 1025, 2048, 4096, 262_143, 262_144, 262_145, 600_000
    };

    private static byte[] message(int size) {
        byte[] message = new byte[size];
        new Random(size).nextBytes(message);
        return message;
    }

    @Test
    void everyAlgorithmHasMacAndKeys() throws Exception {
        for (Algorithm algorithm : Algorithm.all()) {
            SecretKey key = KeyGenerator.getInstance(algorithm.name(), PROVIDER).generateKey();
            assertEquals(algorithm.newKeyBytes(), key.getEncoded().length);
            Mac mac = mac(algorithm.name().toLowerCase(java.util.Locale.ROOT));
            byte[] nonce = new byte[algorithm.maxNonceBytes()];
            mac.init(key, algorithm.needsNonce() ? new IvParameterSpec(nonce) : null);
            byte[] message = message(100);
            byte[] tag = mac.doFinal(message);
            assertEquals((algorithm.maxTagBits() + 7) / 8, mac.getMacLength());
            try (TagmacKey same = new TagmacKey(algorithm.name(), key.getEncoded())) {
                assertArrayEquals(same.tag(nonce, message), tag, algorithm.name());
                same.verify(nonce, message, tag);
            }
        }
        assertEquals("LIGHTMAC-AES128", mac("LIGHTMAC-AES128").getAlgorithm());
        assertThrows(NoSuchAlgorithmException.class, () -> mac("PMAC"));
    }

    @Test
    void hmacIsThatOfTheJdk() throws Exception {
        Mac ours = mac("HMAC-SHA256");
        Mac theirs = Mac.getInstance("HmacSHA256");
        for (int size : new int[] {1, 64, 65, 1000}) {
            SecretKey key = new SecretKeySpec(message(size), "HmacSHA256");
            ours.init(key);
            theirs.init(key);
            for (int length : LENGTHS) {
                assertArrayEquals(theirs.doFinal(message(length)), ours.doFinal(message(length)));
            }
        }
    }

    @Test
    void everyCutGivesTheSameTag() throws Exception {
        Random random = new Random(1);
        for (String name : new String[] {"PMAC-AES128", "UMAC-64", "CMAC-AES128", "POLY1305-AES"}) {
            Algorithm algorithm = Algorithm.find(name).orElseThrow();
            byte[] key = new byte[algorithm.newKeyBytes()];
            byte[] nonce = new byte[algorithm.maxNonceBytes()];
            Mac mac = mac(name);
            try (TagmacKey plain = new TagmacKey(name, key)) {
                for (int length : LENGTHS) {
                    if (algorithm.needsNonce()) {
                        nonce[0]++;
                        mac.init(new SecretKeySpec(key, name), new IvParameterSpec(nonce));
                    } else if (length == 0) {
                        mac.init(new SecretKeySpec(key, name));
                    }
                    byte[] message = message(length);
                    for (int at = 0; at < length; ) {
                        int size = Math.min(length - at, random.nextInt(1 + length));
                        switch (random.nextInt(4)) {
                            case 0 -> mac.update(message, at, size);
                            case 1 -> {
                                mac.update(message[at]);
                                size = 1;
                            }
                            case 2 -> {
                                ByteBuffer direct = ByteBuffer.allocateDirect(size);
                                direct.put(message, at, size).flip();
                                mac.update(direct);
                                assertEquals(0, direct.remaining());
                            }
                            default -> mac.update(ByteBuffer.wrap(message, at, size));
                        }
                        at += size;
                    }
                    byte[] tag = mac.doFinal();
                    assertArrayEquals(plain.tag(nonce, message), tag, name + " " + length);
                    plain.verify(nonce, message, tag);
                }
            }
        }
    }

    @Test
    void resetAndClone() throws Exception {
        Mac mac = mac("PMAC-AES128");
        mac.init(KEY);
        for (int length : LENGTHS) {
            byte[] message = message(length);
            byte[] expected = mac.doFinal(message);
            mac.update(message(3000));
            mac.reset();
            mac.update(message);
            Mac clone = (Mac) mac.clone();
            mac.update((byte) 1);
            assertArrayEquals(expected, clone.doFinal());
            byte[] longer = Arrays.copyOf(message, 1 + length);
            longer[length] = 1;
            assertArrayEquals(mac.doFinal(), clone.doFinal(longer));
        }
    }

    @Test
    void doFinalIntoAnArray() throws Exception {
        Mac mac = mac("PMAC-AES128");
        mac.init(KEY);
        byte[] expected = mac.doFinal(message(10));
        byte[] out = new byte[20];
        mac.update(message(10));
        assertThrows(ShortBufferException.class, () -> mac.doFinal(out, 5));
        mac.doFinal(out, 4);
        assertArrayEquals(expected, Arrays.copyOfRange(out, 4, 20));
    }

    @Test
    void aNonceMakesOneTag() throws Exception {
        Mac mac = mac("UMAC-64");
        assertThrows(InvalidKeyException.class, () -> mac.init(KEY));
        mac.init(KEY, nonce(1));
        mac.update((byte) 5);
        mac.reset();
        byte[] tag = mac.doFinal(message(10));
        assertEquals(8, tag.length);
        assertThrows(IllegalStateException.class, () -> mac.update((byte) 1));
        assertThrows(IllegalStateException.class, mac::doFinal);
        mac.reset();
        assertThrows(IllegalStateException.class, () -> mac.doFinal(message(10)));
        assertThrows(InvalidAlgorithmParameterException.class, () -> mac.init(KEY, nonce(1)));
        assertThrows(IllegalStateException.class, mac::doFinal);
        mac.init(KEY, nonce(2));
        assertFalse(Arrays.equals(tag, mac.doFinal(message(10))));
        // Another key may have the nonce.
        byte[] other = new byte[16];
        other[0] = 1;
        mac.init(new SecretKeySpec(other, "RAW"), nonce(2));
        mac.doFinal();
        // Of clones, one makes a tag.
        mac.init(KEY, nonce(3));
        mac.update(message(2000));
        Mac clone = (Mac) mac.clone();
        mac.doFinal();
        assertThrows(IllegalStateException.class, clone::doFinal);
        assertThrows(InvalidAlgorithmParameterException.class, () -> clone.init(KEY, nonce(3)));
        clone.init(KEY, nonce(4));
        clone.doFinal();
    }

    @Test
    void wrongArguments() throws Exception {
        Mac mac = mac("PMAC-AES128");
        assertThrows(IllegalStateException.class, mac::doFinal);
        assertThrows(InvalidKeyException.class, () -> mac.init(null));
        assertThrows(InvalidKeyException.class, () -> mac.init(new SecretKeySpec(new byte[15], "R")));
        assertThrows(
                InvalidKeyException.class,
                () -> mac.init(KeyPairGenerator.getInstance("EC").generateKeyPair().getPublic()));
        assertThrows(
                InvalidAlgorithmParameterException.class,
                () -> mac.init(KEY, new PBEParameterSpec(new byte[8], 1)));
        assertThrows(InvalidAlgorithmParameterException.class, () -> mac.init(KEY, nonce(1)));
        for (int bits : new int[] {-1, 129, Integer.MAX_VALUE, Integer.MIN_VALUE}) {
            assertThrows(
                    InvalidAlgorithmParameterException.class,
                    () -> mac.init(KEY, new TagmacParameterSpec(new byte[0], bits)));
        }
        mac.init(KEY, new IvParameterSpec(new byte[0]));
        mac.init(KEY, new TagmacParameterSpec(new byte[0], 61));
        assertEquals(8, mac.doFinal().length);
        assertEquals(8, mac.getMacLength());
        assertThrows(IllegalArgumentException.class, () -> mac.update(new byte[4], 2, 3));
        assertThrows(IllegalArgumentException.class, () -> mac.update((ByteBuffer) null));

        KeyGenerator keys = KeyGenerator.getInstance("PMAC-AES128", PROVIDER);
        keys.init(128);
        for (int bits : new int[] {0, 1, 127, 136, -8, Integer.MAX_VALUE}) {
            assertThrows(InvalidParameterException.class, () -> keys.init(bits));
        }

        // A message over the limit has no tag, and the next one has.
        Mac light = mac("LIGHTMAC-AES128-S8");
        light.init(new SecretKeySpec(new byte[32], "RAW"));
        assertThrows(IllegalArgumentException.class, () -> light.doFinal(new byte[256 * 15 + 1]));
        light.doFinal(new byte[256 * 15]);
    }
}
