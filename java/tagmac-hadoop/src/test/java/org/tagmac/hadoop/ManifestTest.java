package org.tagmac.hadoop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.tagmac.Content;
import org.tagmac.DamagedFileException;
import org.tagmac.Manifest;
import org.tagmac.TagmacKey;

class ManifestTest {
    private static final int LEAF = 65536;

    @TempDir Path folder;
    private Sealed sealed;
    private byte[] bytes;
    private TagmacKey key;
    private Manifest manifest;

    @BeforeEach
    void setUp() throws IOException {
        sealed = new Sealed(folder);
        bytes = sealed.write("a/x", 3 * LEAF + 100);
        sealed.write("a/empty", 0);
        Files.createSymbolicLink(sealed.root.resolve("link"), Path.of("a/x"));
        sealed.seal("--mode");
        key = TagmacKey.fromFile(sealed.key);
        manifest = Manifest.open(sealed.manifest, key);
    }

    @AfterEach
    void tearDown() {
        manifest.close();
        key.close();
    }

    @Test
    void entries() throws IOException {
        assertEquals(1, manifest.sequence());
        assertTrue(manifest.day().isPresent());
        Manifest.Entry x = manifest.entry("a/x");
        assertEquals("a/x", x.path());
        assertEquals(Manifest.Kind.FILE, x.kind());
        assertEquals(bytes.length, x.size());
        assertTrue(x.mode() > 0 && x.mtime().isEmpty() && x.target().isEmpty());
        Manifest.Entry link = manifest.entry("link");
        assertEquals(Manifest.Kind.LINK, link.kind());
        assertEquals("a/x", link.target().orElseThrow());
        assertEquals(-1, link.size());
        assertEquals(List.of("a", "link"), paths(""));
        assertEquals(List.of("a/empty", "a/x"), paths("a"));
        assertThrows(FileNotFoundException.class, () -> manifest.entry("b"));
        assertThrows(FileNotFoundException.class, () -> manifest.list("b"));
        assertThrows(FileNotFoundException.class, () -> manifest.content("b"));
        assertThrows(FileNotFoundException.class, () -> manifest.entry("\ud800"));
        assertThrows(IllegalArgumentException.class, () -> manifest.content("a"));
        assertThrows(IllegalArgumentException.class, () -> manifest.content("link"));
        assertThrows(IllegalArgumentException.class, () -> manifest.entry("x".repeat(70_000)));
        assertThrows(NullPointerException.class, () -> manifest.entry(null));
    }

    private List<String> paths(String directory) throws IOException {
        return manifest.list(directory).stream().map(Manifest.Entry::path).sorted().toList();
    }

    @Test
    void leavesAreVerified() throws IOException {
        try (Content content = manifest.content("a/x")) {
            assertEquals(bytes.length, content.size());
            assertEquals(LEAF, content.leafSize());
            content.verify(0, bytes);
            content.verify(LEAF, bytes, LEAF, 2 * LEAF);
            content.verify(3 * LEAF, Arrays.copyOfRange(bytes, 3 * LEAF, bytes.length));
            ByteBuffer direct = ByteBuffer.allocateDirect(bytes.length).put(bytes).flip();
            content.verify(0, direct);
            content.verify(LEAF, direct.slice(LEAF, LEAF));
            content.verify(LEAF, ByteBuffer.wrap(bytes, LEAF, LEAF).asReadOnlyBuffer());
            direct.put(LEAF, (byte) ~bytes[LEAF]);
            assertThrows(DamagedFileException.class, () -> content.verify(0, direct));
            for (int at : new int[] {0, LEAF - 1, LEAF, 3 * LEAF, bytes.length - 1}) {
                bytes[at] ^= 1;
                IOException e =
                        assertThrows(DamagedFileException.class, () -> content.verify(0, bytes));
                String start = "a/x: bytes " + at / LEAF * LEAF + " to ";
                assertTrue(e.getMessage().startsWith(start), e.getMessage());
                bytes[at] ^= 1;
            }
            // Not whole leaves, too long, or elsewhere.
            for (int size : new int[] {0, 1, LEAF - 1, LEAF + 1}) {
                assertThrows(
                        DamagedFileException.class, () -> content.verify(0, bytes, 0, size));
            }
            byte[] longer = Arrays.copyOf(bytes, bytes.length + 1);
            assertThrows(DamagedFileException.class, () -> content.verify(0, longer));
            assertThrows(
                    DamagedFileException.class, () -> content.verify(LEAF, bytes, 0, LEAF));
        }
        try (Content empty = manifest.content("a/empty")) {
            empty.verify(0, new byte[0]);
            assertThrows(DamagedFileException.class, () -> empty.verify(0, new byte[1]));
        }
    }

    @Test
    void wrongArguments() throws IOException {
        try (Content content = manifest.content("a/x")) {
            for (long start : new long[] {-1, 1, LEAF - 1, 4 * LEAF, Long.MIN_VALUE, -LEAF}) {
                assertThrows(
                        IllegalArgumentException.class, () -> content.verify(start, bytes));
            }
            for (int[] range : new int[][] {{-1, 5}, {0, -1}, {1, bytes.length}, {5, 1 << 31}}) {
                assertThrows(
                        IndexOutOfBoundsException.class,
                        () -> content.verify(0, bytes, range[0], range[1]));
            }
            assertThrows(NullPointerException.class, () -> content.verify(0, (byte[]) null));
        }
        try (TagmacKey other = TagmacKey.generate("PMAC-AES128")) {
            IOException e =
                    assertThrows(IOException.class, () -> Manifest.open(sealed.manifest, other));
            assertFalse(e instanceof DamagedFileException, e.getMessage());
        }
        assertThrows(IOException.class, () -> Manifest.open(folder.resolve("none"), key));
        Path text = Files.writeString(folder.resolve("text"), "no manifest");
        assertThrows(IOException.class, () -> Manifest.open(text, key));
    }

    @Test
    void closedOnes() throws IOException {
        Content content = manifest.content("a/x");
        manifest.close();
        key.close();
        content.verify(0, bytes);
        content.close();
        content.close();
        assertThrows(IllegalStateException.class, () -> content.verify(0, bytes));
        assertThrows(IllegalStateException.class, () -> manifest.entry("a/x"));
        assertThrows(IllegalStateException.class, () -> manifest.list(""));
        assertThrows(IllegalStateException.class, () -> manifest.content("a/x"));
        assertThrows(IllegalStateException.class, () -> Manifest.open(sealed.manifest, key));
    }

    @Test
    void forgedHandles() throws Exception {
        Class<?> natives = Class.forName("org.tagmac.Native");
        int methods = 0;
        for (Method method : natives.getDeclaredMethods()) {
            if (!method.getName().matches("(manifest|content)(Info|Entry|List|Open|.*Size|Verify.*)")
                    || method.getName().equals("manifestOpen")) {
                continue;
            }
            methods++;
            method.setAccessible(true);
            Class<?>[] types = method.getParameterTypes();
            for (long forged : new long[] {0, -1, 1L << 32, 5L << 32, 6L << 32, Long.MAX_VALUE}) {
                Object[] arguments = new Object[types.length];
                for (int i = 0; i < types.length; i++) {
                    arguments[i] =
                            types[i] == long.class
                                    ? (Object) (i == 0 ? forged : 0L)
                                    : types[i] == int.class
                                            ? (Object) 0
                                            : types[i] == byte[].class
                                                    ? new byte[0]
                                                    : ByteBuffer.allocateDirect(1);
                }
                Throwable e =
                        assertThrows(
                                InvocationTargetException.class,
                                () -> method.invoke(null, arguments),
                                method.getName());
                assertInstanceOf(IllegalStateException.class, e.getCause());
            }
        }
        assertEquals(8, methods);
    }

    @Test
    void threadsCloseWhileOthersVerify() throws Exception {
        for (int round = 0; round < 20; round++) {
            Content content = manifest.content("a/x");
            Thread[] threads = new Thread[4];
            Throwable[] failures = new Throwable[threads.length];
            for (int i = 0; i < threads.length; i++) {
                int number = i;
                threads[i] =
                        new Thread(
                                () -> {
                                    try {
                                        while (true) {
                                            content.verify(0, bytes);
                                        }
                                    } catch (Throwable e) {
                                        failures[number] = e;
                                    }
                                });
                threads[i].start();
            }
            content.close();
            for (int i = 0; i < threads.length; i++) {
                threads[i].join();
                assertInstanceOf(IllegalStateException.class, failures[i]);
            }
        }
    }
}
