package org.tagmac;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.ReadOnlyBufferException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class KeyTest {
    private static final byte[] NONE = {};
    /** A key file of 'tagmac keygen', from docs/formats. */
    private static final Path KEY_FILE = Path.of("../../vectors/formats/PMAC-AES128/k");

    private static ByteBuffer buffer(int size) {
        return ByteBuffer.allocateDirect(size).order(ByteOrder.LITTLE_ENDIAN);
    }

    /** Messages of 0 to 99 bytes. */
    private record Batch(int count, ByteBuffer data, ByteBuffer offsets, byte[][] messages) {
        static Batch of(int count, int width) {
            Random random = new Random(count);
            byte[][] messages = new byte[count][];
            ByteBuffer data = buffer(count * 100 + 5);
            ByteBuffer offsets = buffer((count + 1) * width + 7);
            data.position(5);
            offsets.position(7);
            int at = 0;
            for (int i = 0; i <= count; i++) {
                if (width == 4) {
                    offsets.putInt(at);
                } else {
                    offsets.putLong(at);
                }
                if (i < count) {
                    messages[i] = new byte[random.nextInt(100)];
                    random.nextBytes(messages[i]);
                    data.put(messages[i]);
                    at += messages[i].length;
                }
            }
            return new Batch(count, data.flip().position(5), offsets.flip().position(7), messages);
        }
    }

    @Test
    void manyTagsAreThoseOfEach() {
        for (int count : new int[] {0, 1, 3, 255, 256, 257, 1000}) {
            for (int width : new int[] {4, 8}) {
                Batch batch = Batch.of(count, width);
                for (String name : new String[] {"PMAC-AES128", "UMAC-64", "HMAC-SHA256"}) {
                    try (TagmacKey key = TagmacKey.generate(name)) {
                        checkMany(key, batch, width);
                    }
                }
            }
        }
    }

    private static void checkMany(TagmacKey key, Batch batch, int width) {
        int count = batch.count;
        int size = key.tagBytes();
        ByteBuffer nonces = null;
        if (key.algorithm().needsNonce()) {
            nonces = buffer(8 * count).order(ByteOrder.BIG_ENDIAN);
            for (int i = 0; i < count; i++) {
                nonces.putLong(i % 2 == 0 ? i : -i);
            }
            nonces.flip();
        }
        ByteBuffer tags = buffer(count * size + 1).position(1);
        key.tagMany(count, batch.data, batch.offsets, width, nonces, tags);
        assertEquals(1, tags.position());
        for (int i = 0; i < count; i++) {
            byte[] tag = new byte[size];
            tags.get(1 + i * size, tag);
            byte[] nonce = new byte[nonces == null ? 0 : 8];
            if (nonces != null) {
                nonces.get(8 * i, nonce);
            }
            assertArrayEquals(key.tag(nonce, batch.messages[i]), tag);
        }
        ByteBuffer verdicts = buffer(count);
        assertEquals(0, key.verifyMany(count, batch.data, batch.offsets, width, nonces, tags, verdicts));
        if (count > 2) {
            tags.put(1 + 2 * size, (byte) (tags.get(1 + 2 * size) ^ 1));
            assertEquals(
                    1, key.verifyMany(count, batch.data, batch.offsets, width, nonces, tags, verdicts));
            for (int i = 0; i < count; i++) {
                assertEquals(i == 2 ? 0 : 1, verdicts.get(i));
            }
        }
    }

    @Test
    void wrongBatches() {
        try (TagmacKey key = new TagmacKey(new byte[16])) {
            ByteBuffer data = buffer(100);
            ByteBuffer tags = buffer(64);
            for (int[] wrong : new int[][] {{0, 101}, {5, 4}, {-1, 4}, {0, -1}, {Integer.MIN_VALUE, 0}}) {
                ByteBuffer offsets = buffer(8).putInt(wrong[0]).putInt(wrong[1]).flip();
                assertThrows(
                        IndexOutOfBoundsException.class, () -> key.tagMany(1, data, offsets, tags));
            }
            ByteBuffer offsets = buffer(12).putInt(0).putInt(10).putInt(20).flip();
            key.tagMany(2, data, offsets, tags);
            assertThrows(IndexOutOfBoundsException.class, () -> key.tagMany(3, data, offsets, tags));
            assertThrows(IndexOutOfBoundsException.class, () -> key.tagMany(-1, data, offsets, tags));
            assertThrows(
                    IndexOutOfBoundsException.class,
                    () -> key.tagMany(Integer.MAX_VALUE, data, offsets, tags));
            assertThrows(
                    IndexOutOfBoundsException.class,
                    () -> key.tagMany(2, data, offsets, tags.duplicate().limit(31)));
            assertThrows(
                    ReadOnlyBufferException.class,
                    () -> key.tagMany(2, data, offsets, tags.asReadOnlyBuffer()));
            assertThrows(
                    IllegalArgumentException.class,
                    () -> key.tagMany(2, ByteBuffer.allocate(100), offsets, tags));
            assertThrows(
                    IllegalArgumentException.class, () -> key.tagMany(2, data, offsets, data.duplicate()));
            assertThrows(
                    IllegalArgumentException.class,
                    () -> key.tagMany(1, data, offsets, 5, null, tags));
            assertThrows(
                    IllegalArgumentException.class,
                    () -> key.tagMany(2, data, offsets, 4, buffer(16), tags));
            assertThrows(NullPointerException.class, () -> key.tagMany(2, null, offsets, tags));
        }
        try (TagmacKey key = new TagmacKey("UMAC-64", new byte[16])) {
            ByteBuffer offsets = buffer(12).putInt(0).putInt(10).putInt(20).flip();
            assertThrows(
                    IllegalArgumentException.class,
                    () -> key.tagMany(2, buffer(20), offsets, buffer(16)));
            String line =
                    assertThrows(
                                    IllegalArgumentException.class,
                                    () -> key.tagMany(2, buffer(20), offsets, 4, buffer(16), buffer(16)))
                            .getMessage();
            assertEquals("two messages have one nonce; use each nonce once", line);
        }
    }

    @Test
    void keyFiles(@TempDir Path folder) throws Exception {
        try (TagmacKey key = TagmacKey.fromText(Files.readAllBytes(KEY_FILE))) {
            Path copy = folder.resolve("ü.key");
            Files.copy(KEY_FILE, copy);
            try (TagmacKey same = TagmacKey.fromFile(copy)) {
                assertEquals(key.id(), same.id());
                assertArrayEquals(key.tag(new byte[3]), same.tag(new byte[3]));
            }
        }
        IOException missing =
                assertThrows(IOException.class, () -> TagmacKey.fromFile(folder.resolve("none")));
        assertTrue(missing.getMessage().contains("none"), missing.getMessage());
        assertThrows(IOException.class, () -> TagmacKey.fromFile(folder));
        assertThrows(IOException.class, () -> TagmacKey.fromEnv("TAGMAC_NOT_SET"));
        assertThrows(IOException.class, () -> TagmacKey.fromText("no key".getBytes(StandardCharsets.UTF_8)));
        assertThrows(IllegalArgumentException.class, () -> TagmacKey.fromText(new byte[1 << 17]));
    }

    @Test
    void sessions() throws Exception {
        byte[] packet = {1, 2, 3};
        try (TagmacKey key = new TagmacKey("UMAC-64", new byte[16])) {
            byte[] stored;
            try (Session session = new Session(key)) {
                assertArrayEquals(new byte[8], session.tag(packet).nonce());
                Session.Tagged sent = session.tag(packet);
                assertArrayEquals(new byte[] {0, 0, 0, 0, 0, 0, 0, 1}, sent.nonce());
                key.verify(sent.nonce(), packet, sent.tag());
                session.verify(sent.nonce(), packet, sent.tag());
                sent.tag()[0]++;
                assertThrows(
                        InvalidTagException.class,
                        () -> session.verify(sent.nonce(), packet, sent.tag()));
                session.reserve(2);
                stored = session.save();
                assertEquals(2, session.used());
                assertEquals(2, session.reserved());
                session.tag(packet);
                session.tag(packet);
                assertThrows(ReserveUsedUpException.class, () -> session.tag(packet));
                assertThrows(IllegalArgumentException.class, () -> session.reserve(-1));
            }
            try (Session session = Session.restore(key, stored)) {
                assertThrows(ReserveUsedUpException.class, () -> session.tag(packet));
                session.reserve(1);
                session.save();
                assertEquals(4, session.tag(packet).nonce()[7]);
            }
            byte[] last = new byte[8];
            Arrays.fill(last, (byte) 0xff);
            try (Session session = new Session(key, last, 0, 0)) {
                assertEquals(1, session.left());
                assertThrows(BudgetExhaustedException.class, () -> session.reserve(1));
                session.tag(packet);
                assertThrows(BudgetExhaustedException.class, () -> session.tag(packet));
            }
            stored[20]++;
            byte[] damaged = stored;
            assertThrows(IllegalArgumentException.class, () -> Session.restore(key, damaged));
            assertThrows(IllegalArgumentException.class, () -> new Session(key, NONE, 0, 0));
            assertThrows(IllegalArgumentException.class, () -> new Session(key, null, 0, 0));
            assertThrows(IllegalArgumentException.class, () -> new Session(key, new byte[8], -1, 0));
            assertThrows(
                    IllegalArgumentException.class, () -> new Session(key, new byte[8], 0, Double.NaN));
            Session closed = new Session(key);
            closed.close();
            assertThrows(IllegalStateException.class, () -> closed.tag(packet));
        }
        // A deterministic MAC has no nonces, and a large message is within a longer limit.
        try (TagmacKey key = new TagmacKey(new byte[16]);
                Session session = new Session(key, NONE, 1 << 21, Session.DEFAULT_PROBABILITY)) {
            byte[] large = new byte[1 << 21];
            assertArrayEquals(key.tag(large), session.tag(large).tag());
            assertThrows(
                    IllegalArgumentException.class, () -> session.tag(Arrays.copyOf(large, 1 + (1 << 21))));
        }
    }

    @Test
    void closedKeysAndNulls() {
        TagmacKey key = new TagmacKey(new byte[16]);
        byte[] tag = key.tag(NONE);
        assertTrue(key.matches(NONE, NONE, tag));
        assertFalse(key.matches(NONE, NONE, new byte[0]));
        assertFalse(key.matches(NONE, NONE, new byte[1 << 20]));
        assertFalse(key.matches(NONE, NONE, Arrays.copyOf(tag, 15)));
        assertThrows(InvalidTagException.class, () -> key.verify(new byte[1], tag));
        assertThrows(IllegalArgumentException.class, () -> key.tag(new byte[1], NONE));
        assertThrows(IllegalArgumentException.class, () -> key.matches(new byte[17], NONE, tag));
        for (int[] range : new int[][] {{-1, 1}, {0, 5}, {5, 0}, {4, 1}, {1, Integer.MAX_VALUE}, {0, -1}}) {
            assertThrows(
                    IndexOutOfBoundsException.class,
                    () -> key.tag(NONE, new byte[4], range[0], range[1]));
        }
        assertThrows(NullPointerException.class, () -> key.tag((byte[]) null));
        assertThrows(NullPointerException.class, () -> key.verify(NONE, (byte[]) null));
        assertThrows(NullPointerException.class, () -> key.matches(NONE, NONE, null));
        assertThrows(NullPointerException.class, () -> new TagmacKey((byte[]) null));
        assertThrows(NullPointerException.class, () -> new TagmacKey(null, new byte[16]));
        assertThrows(IllegalArgumentException.class, () -> new TagmacKey("PMAC-AES128\0", new byte[16]));
        assertThrows(IllegalArgumentException.class, () -> new TagmacKey("x".repeat(1 << 20), NONE));
        assertThrows(IllegalArgumentException.class, () -> new TagmacKey("\ud800", NONE));
        assertThrows(IllegalArgumentException.class, () -> new TagmacKey("UMAC-64", new byte[16], -1));
        assertThrows(IllegalArgumentException.class, () -> TagmacKey.generate("none"));
        key.close();
        key.close();
        assertThrows(IllegalStateException.class, () -> key.tag(NONE));
        assertThrows(IllegalStateException.class, () -> new Session(key));
        assertFalse(key.toString().contains("00000000"), key.toString());
    }

    /** Handles that no object has, as reflection could pass them. */
    @Test
    void forgedHandles() {
        byte[] out = new byte[16];
        for (long handle : new long[] {0, 1, -1, Long.MIN_VALUE, Long.MAX_VALUE, 4L << 32, 1L << 62}) {
            assertThrows(IllegalStateException.class, () -> Native.keyTag(handle, NONE, NONE, 0, 0, out));
            assertThrows(IllegalStateException.class, () -> Native.contextFinish(handle, out));
            assertThrows(IllegalStateException.class, () -> Native.contextFork(handle));
            assertThrows(IllegalStateException.class, () -> Native.sessionSave(handle));
            Native.keyFree(handle);
            Native.contextFree(handle);
            Native.sessionFree(handle);
        }
        long context = Native.contextNew();
        assertThrows(IllegalStateException.class, () -> Native.contextUpdate(context, NONE, out, 0, 1));
        assertThrows(IllegalArgumentException.class, () -> Native.contextInit(context, 9999, out, 128));
        assertThrows(IllegalArgumentException.class, () -> Native.contextInit(context, -1, out, 128));
        Native.contextInit(context, 0, out, 128);
        assertThrows(IllegalStateException.class, () -> Native.contextFinish(context, out));
        assertThrows(
                IndexOutOfBoundsException.class,
                () -> Native.contextTag(context, NONE, NONE, 0, 0, new byte[15]));
        assertThrows(IllegalStateException.class, () -> Native.keyTag(context, NONE, NONE, 0, 0, out));
        Native.contextFree(context);
        // The JVM checks the ranges of short arrays. No call before this one did.
        long key = Native.keyNew("PMAC-AES128", out, 128);
        for (int[] range : new int[][] {{2, 3}, {-1, 2}, {5, 0}, {Integer.MAX_VALUE, 4}}) {
            assertThrows(
                    IndexOutOfBoundsException.class,
                    () -> Native.keyTag(key, null, new byte[4], range[0], range[1], new byte[16]));
        }
        byte[] tag = new byte[16];
        Native.keyTag(key, null, NONE, 0, 0, tag);
        assertTrue(Native.keyMatches(key, null, NONE, 0, 0, tag, 16));
        for (int size : new int[] {-1, 0, 15, 17, Integer.MAX_VALUE}) {
            assertFalse(Native.keyMatches(key, null, NONE, 0, 0, tag, size));
        }
        assertThrows(
                IndexOutOfBoundsException.class,
                () -> Native.keyMatches(key, null, NONE, 0, 0, new byte[15], 16));
        assertThrows(
                NullPointerException.class, () -> Native.keyMatches(key, null, NONE, 0, 0, null, 16));
        assertThrows(
                NullPointerException.class, () -> Native.keyTag(key, null, null, 0, 0, tag));
        Native.keyFree(key);
        assertThrows(
                IndexOutOfBoundsException.class,
                () -> Native.keyTagBuffer(keyHandle(), NONE, buffer(4), 1, 4, out));
    }

    /** Numbers and sizes that reflection could pass. */
    @Test
    void forgedScratches() {
        for (int number : new int[] {-1, 64, Integer.MIN_VALUE, Integer.MAX_VALUE}) {
            assertThrows(IndexOutOfBoundsException.class, () -> Native.scratch(number));
            assertThrows(
                    IndexOutOfBoundsException.class,
                    () -> Native.keyTagScratch(keyHandle(), number, 0, 0));
        }
        for (int size : new int[] {-1, Integer.MIN_VALUE, Integer.MAX_VALUE, 1025}) {
            assertThrows(
                    IndexOutOfBoundsException.class, () -> Native.keyTagScratch(keyHandle(), 1, 0, size));
            assertThrows(
                    IndexOutOfBoundsException.class, () -> Native.keyTagScratch(keyHandle(), 1, size, 0));
            assertThrows(
                    IndexOutOfBoundsException.class,
                    () -> Native.keyMatchesScratch(keyHandle(), 1, 0, 0, size));
        }
        assertThrows(IllegalArgumentException.class, () -> Native.keyTagScratch(keyHandle(), 1, 16, 0));
        assertThrows(IllegalStateException.class, () -> Native.keyTagScratch(-1, 1, 0, 0));
        assertThrows(IllegalStateException.class, () -> Native.contextTagScratch(keyHandle(), 1, 0, 0));
        assertFalse(Native.keyMatchesScratch(keyHandle(), 1, 0, 0, 15));
        assertThrows(IllegalStateException.class, () -> Native.sessionTagScratch(keyHandle(), 1, 0));
        assertThrows(
                IllegalStateException.class,
                () -> Native.sessionMatchesScratch(keyHandle(), 1, 0, 0, 16));
    }

    /** A session that uses scratch memory, and one that passes arrays because its thread's is in use. */
    @Test
    void sessionsWithAndWithoutScratch() throws Exception {
        byte[] message = "message".getBytes(StandardCharsets.UTF_8);
        for (String algorithm : new String[] {"PMAC-AES128", "UMAC-128", "POLY1305-AES"}) {
            byte[] bytes = new byte[Algorithm.find(algorithm).orElseThrow().newKeyBytes()];
            try (TagmacKey key = new TagmacKey(algorithm, bytes);
                    Session first = new Session(key);
                    Session second = new Session(key)) {
                for (int size : new int[] {0, 1, Scratch.MAX_MESSAGE, Scratch.MAX_MESSAGE + 1}) {
                    byte[] data = Arrays.copyOf(message, size);
                    Session.Tagged one = first.tag(data);
                    first.verify(one.nonce(), data, one.tag());
                    byte[] wrong = one.tag().clone();
                    wrong[wrong.length - 1] ^= 1;
                    assertThrows(InvalidTagException.class, () -> first.verify(one.nonce(), data, wrong));
                    try (Scratch scratch = Scratch.with(NONE, NONE, 0, 0)) {
                        assertNotNull(scratch);
                        Session.Tagged two = second.tag(data);
                        assertArrayEquals(one.nonce(), two.nonce());
                        assertArrayEquals(one.tag(), two.tag());
                        second.verify(two.nonce(), data, two.tag());
                        assertThrows(
                                InvalidTagException.class, () -> second.verify(one.nonce(), data, wrong));
                    }
                }
            }
        }
    }

    /** An error returns the scratch. */
    @Test
    void scratchAfterErrors() {
        try (TagmacKey key = new TagmacKey(new byte[16])) {
            assertThrows(IllegalArgumentException.class, () -> key.tag(new byte[1], NONE));
            assertThrows(NullPointerException.class, () -> key.matches(NONE, NONE, null));
            byte[] tag = key.tag(NONE, new byte[Scratch.MAX_MESSAGE]);
            try (Scratch scratch = Scratch.with(NONE, NONE, 0, 0)) {
                assertNotNull(scratch);
                assertNull(Scratch.with(NONE, NONE, 0, 0));
                assertArrayEquals(tag, key.tag(NONE, new byte[Scratch.MAX_MESSAGE]));
                assertTrue(key.matches(NONE, new byte[Scratch.MAX_MESSAGE], tag));
            }
        }
    }

    private static long keyHandle() {
        return Native.keyNew("PMAC-AES128", new byte[16], 0);
    }
}
