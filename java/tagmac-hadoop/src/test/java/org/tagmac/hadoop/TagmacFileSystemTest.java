package org.tagmac.hadoop;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.EOFException;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.FsPermission;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.tagmac.DamagedFileException;

class TagmacFileSystemTest {
    private static final int LEAF = 65536;

    @TempDir java.nio.file.Path folder;
    private Sealed sealed;

    @BeforeEach
    void setUp() throws IOException {
        sealed = new Sealed(folder);
    }

    @Test
    void filesAreThoseThatWereSealed() throws IOException {
        List<Integer> sizes =
                List.of(0, 1, 4095, LEAF - 1, LEAF, LEAF + 1, 3 * LEAF, 5 * LEAF + 17, 9 << 20);
        List<byte[]> contents = new ArrayList<>();
        for (int size : sizes) {
            contents.add(sealed.write("a/" + size, size));
        }
        sealed.seal();
        try (FileSystem fs = sealed.open()) {
            for (int i = 0; i < sizes.size(); i++) {
                String name = "a/" + sizes.get(i);
                assertArrayEquals(contents.get(i), Sealed.read(fs, name), name);
                assertEquals(sizes.get(i).longValue(), fs.getFileStatus(Sealed.path(name)).getLen());
            }
        }
    }

    @Test
    void readsReturnTheBytesOfTheirRange() throws IOException {
        byte[] bytes = sealed.write("x", 5 * LEAF + 17);
        sealed.seal();
        Random random = new Random(1);
        try (FileSystem fs = sealed.open();
                FSDataInputStream in = fs.open(Sealed.path("x"))) {
            for (int i = 0; i < 300; i++) {
                int start = random.nextInt(bytes.length);
                int size = random.nextInt(Math.min(bytes.length - start, 3 * LEAF) + 1);
                byte[] expected = Arrays.copyOfRange(bytes, start, start + size);
                byte[] found = new byte[size];
                switch (i % 3) {
                    case 0 -> in.readFully(start, found);
                    case 1 -> {
                        in.seek(start);
                        in.readFully(found);
                        assertEquals(start + size, in.getPos());
                    }
                    default -> {
                        in.seek(start);
                        ByteBuffer buffer = ByteBuffer.allocateDirect(size);
                        while (buffer.hasRemaining()) {
                            assertTrue(in.read(buffer) > 0);
                        }
                        buffer.flip().get(found);
                    }
                }
                assertArrayEquals(expected, found);
            }
            in.seek(bytes.length);
            assertEquals(-1, in.read());
            assertEquals(-1, in.read(bytes.length, new byte[1], 0, 1));
            assertThrows(EOFException.class, () -> in.readFully(bytes.length - 1, new byte[2]));
            assertThrows(EOFException.class, () -> in.read(-1, new byte[1], 0, 1));
            assertThrows(EOFException.class, () -> in.seek(-1));
            assertThrows(EOFException.class, () -> in.seek(Long.MAX_VALUE));
            assertEquals(-1, in.read(Long.MAX_VALUE, new byte[1], 0, 1));
            assertThrows(RuntimeException.class, () -> in.read(new byte[3], 2, 2));
            assertThrows(RuntimeException.class, () -> in.read(0, new byte[3], 2, 2));
        }
    }

    @Test
    void aThousandReadsAtTheSameTime() throws Exception {
        byte[] bytes = sealed.write("x", 4 << 20);
        sealed.seal();
        ExecutorService threads = Executors.newFixedThreadPool(16);
        try (FileSystem fs = sealed.open();
                FSDataInputStream in = fs.open(Sealed.path("x"))) {
            List<Callable<Boolean>> reads = new ArrayList<>();
            Random random = new Random(2);
            for (int i = 0; i < 1000; i++) {
                int start = random.nextInt(bytes.length - 100_000);
                int size = random.nextInt(100_000);
                reads.add(
                        () -> {
                            byte[] found = new byte[size];
                            in.readFully(start, found);
                            return Arrays.equals(found, 0, size, bytes, start, start + size);
                        });
            }
            for (Future<Boolean> read : threads.invokeAll(reads)) {
                assertTrue(read.get());
            }
        } finally {
            threads.shutdown();
        }
    }

    @Test
    void listingsComeFromTheManifest() throws IOException {
        sealed.write("a/b/x", 10);
        sealed.write("a/c:d %20#?", 20);
        sealed.write("y", 30);
        Files.createDirectory(sealed.root.resolve("empty"));
        Files.createSymbolicLink(sealed.root.resolve("link"), java.nio.file.Path.of("y"));
        sealed.seal("--mtime", "--mode");
        sealed.write("added", 5);
        sealed.write("a/added", 5);
        Files.delete(sealed.root.resolve("y"));
        try (FileSystem fs = sealed.open()) {
            assertEquals(List.of("/a", "/empty", "/link", "/y"), names(fs, ""));
            assertEquals(List.of("/a/b", "/a/c:d %20#?"), names(fs, "a"));
            assertEquals(List.of("/a/b/x"), names(fs, "a/b"));
            assertEquals(List.of("/y"), names(fs, "y"));
            assertEquals(List.of(), names(fs, "empty"));
            assertTrue(fs.getFileStatus(Sealed.path("")).isDirectory());
            assertTrue(fs.getFileStatus(Sealed.path("a")).isDirectory());
            assertTrue(fs.getFileStatus(Sealed.path("link")).isSymlink());
            FileStatus status = fs.getFileStatus(Sealed.path("a/b/x"));
            assertEquals(10, status.getLen());
            assertEquals(
                    Files.getLastModifiedTime(sealed.root.resolve("a/b/x")).toMillis(),
                    status.getModificationTime());
            assertEquals(20, Sealed.read(fs, "a/c:d %20#?").length);
            for (String absent : List.of("added", "a/added", "z", "a/b/x/y", "\ud800")) {
                Path path = Sealed.path(absent);
                assertThrows(FileNotFoundException.class, () -> fs.getFileStatus(path), absent);
                assertThrows(FileNotFoundException.class, () -> fs.listStatus(path), absent);
                assertThrows(FileNotFoundException.class, () -> fs.open(path), absent);
                assertFalse(fs.exists(path));
            }
            assertThrows(FileNotFoundException.class, () -> fs.open(Sealed.path("a")));
            assertThrows(FileNotFoundException.class, () -> fs.open(Sealed.path("")));
            assertThrows(IOException.class, () -> fs.open(Sealed.path("link")));
            // Hidden files are damage and not absence.
            assertThrows(DamagedFileException.class, () -> fs.open(Sealed.path("y")));
        }
    }

    private static List<String> names(FileSystem fs, String name) throws IOException {
        return Stream.of(fs.listStatus(Sealed.path(name)))
                .map(status -> status.getPath().toUri().getPath())
                .sorted()
                .toList();
    }

    @Test
    void damagedBytesAreNeverReturned() throws IOException {
        byte[] bytes = sealed.write("x", 5 * LEAF + 17);
        sealed.seal();
        Sealed.damage(sealed.root.resolve("x"), 2 * LEAF + 5);
        try (FileSystem fs = sealed.open();
                FSDataInputStream in = fs.open(Sealed.path("x"))) {
            // Sequential reads return all bytes before the damaged leaf.
            byte[] before = new byte[2 * LEAF];
            in.readFully(before);
            assertArrayEquals(Arrays.copyOf(bytes, 2 * LEAF), before);
            byte[] found = new byte[LEAF];
            IOException e = assertThrows(DamagedFileException.class, () -> in.read(found));
            assertTrue(e.getMessage().contains("x: bytes 131072 to 196608"), e.getMessage());
            assertArrayEquals(new byte[LEAF], found);
            assertEquals(2 * LEAF, in.getPos());
            assertThrows(
                    DamagedFileException.class, () -> in.readFully(2 * LEAF - 1, new byte[LEAF]));
            in.seek(3 * LEAF);
            byte[] after = new byte[2 * LEAF + 17];
            in.readFully(after);
            assertArrayEquals(Arrays.copyOfRange(bytes, 3 * LEAF, bytes.length), after);
        }
    }

    @Test
    void otherSizes() throws IOException {
        byte[] bytes = sealed.write("x", 3 * LEAF);
        sealed.write("short", 100);
        sealed.seal();
        // Appended bytes were not sealed.
        Files.write(sealed.root.resolve("x"), new byte[100], StandardOpenOption.APPEND);
        Files.write(sealed.root.resolve("short"), new byte[99]);
        try (FileSystem fs = sealed.open()) {
            assertArrayEquals(bytes, Sealed.read(fs, "x"));
            assertThrows(DamagedFileException.class, () -> Sealed.read(fs, "short"));
            Files.write(sealed.root.resolve("x"), Arrays.copyOf(bytes, 2 * LEAF));
            assertThrows(DamagedFileException.class, () -> Sealed.read(fs, "x"));
            try (FSDataInputStream in = fs.open(Sealed.path("x"))) {
                byte[] found = new byte[2 * LEAF];
                in.readFully(found);
                assertArrayEquals(Arrays.copyOf(bytes, 2 * LEAF), found);
            }
        }
    }

    @Test
    void swappedFilesAndLeaves() throws IOException {
        byte[] x = sealed.write("x", 2 * LEAF);
        byte[] y = sealed.write("y", 2 * LEAF + 1);
        sealed.seal();
        byte[] swapped = new byte[2 * LEAF];
        System.arraycopy(x, LEAF, swapped, 0, LEAF);
        System.arraycopy(x, 0, swapped, LEAF, LEAF);
        Files.write(sealed.root.resolve("x"), swapped);
        Files.write(sealed.root.resolve("y"), Arrays.copyOf(x, y.length));
        try (FileSystem fs = sealed.open()) {
            assertThrows(DamagedFileException.class, () -> Sealed.read(fs, "x"));
            assertThrows(DamagedFileException.class, () -> Sealed.read(fs, "y"));
        }
    }

    @Test
    void damagedManifestsAndLeafTags() throws IOException {
        sealed.write("x", 2 * LEAF);
        sealed.seal();
        byte[] text = Files.readAllBytes(sealed.manifest);
        for (int at = 0; at < text.length; at += 7) {
            Sealed.damage(sealed.manifest, at);
            assertThrows(IOException.class, () -> sealed.open().close(), "byte " + at);
            Files.write(sealed.manifest, text);
        }
        java.nio.file.Path tags = sealed.folder.resolve("photos.manifest.1.leaves");
        Sealed.damage(tags, 20);
        try (FileSystem fs = sealed.open()) {
            assertThrows(DamagedFileException.class, () -> Sealed.read(fs, "x"));
        }
        Files.delete(tags);
        try (FileSystem fs = sealed.open()) {
            IOException e = assertThrows(IOException.class, () -> fs.open(Sealed.path("x")));
            assertFalse(e instanceof FileNotFoundException);
        }
        Files.delete(sealed.key);
        Sealed.run("keygen", "-o", sealed.key.toString());
        IOException e = assertThrows(IOException.class, () -> sealed.open().close());
        assertFalse(e instanceof DamagedFileException);
    }

    @Test
    void theManifestMayBeElsewhere() throws IOException {
        byte[] bytes = sealed.write("a/x", 3 * LEAF);
        sealed.seal();
        Configuration conf = sealed.configuration();
        conf.set("fs.far.impl", FarFileSystem.class.getName());
        conf.set("fs.tagmac.photos.manifest", "far://store" + sealed.manifest);
        conf.set("fs.tagmac.photos.root", "far://store" + sealed.root);
        FileSystem fs = Sealed.open(conf);
        FSDataInputStream in = fs.open(Sealed.path("a/x"));
        fs.close();
        assertArrayEquals(bytes, in.readAllBytes());
        in.close();
        IOException e = assertThrows(IOException.class, () -> fs.open(Sealed.path("a/x")));
        assertTrue(e.getMessage().contains("closed"), e.getMessage());
    }

    @Test
    void nothingIsWritten() throws IOException {
        sealed.write("x", 10);
        sealed.seal();
        try (FileSystem fs = sealed.open()) {
            Path x = Sealed.path("x");
            Path z = Sealed.path("z");
            FsPermission all = new FsPermission((short) 0777);
            assertThrows(IOException.class, () -> fs.create(z));
            assertThrows(IOException.class, () -> fs.append(x));
            assertThrows(IOException.class, () -> fs.rename(x, z));
            assertThrows(IOException.class, () -> fs.delete(x, true));
            assertThrows(IOException.class, () -> fs.mkdirs(z));
            assertThrows(IOException.class, () -> fs.setPermission(x, all));
            assertThrows(IOException.class, () -> fs.setOwner(x, "a", "b"));
            assertThrows(IOException.class, () -> fs.setTimes(x, 0, 0));
            assertThrows(IOException.class, () -> fs.setReplication(x, (short) 2));
            assertThrows(Exception.class, () -> fs.truncate(x, 0));
            assertThrows(Exception.class, () -> fs.createSymlink(x, z, false));
            assertEquals(10, Sealed.read(fs, "x").length);
        }
    }

    @Test
    void wrongConfigurations() throws IOException {
        sealed.write("x", 10);
        sealed.seal();
        for (String option : List.of("root", "manifest", "key")) {
            Configuration conf = sealed.configuration();
            conf.unset("fs.tagmac.photos." + option);
            IOException e = assertThrows(IOException.class, () -> Sealed.open(conf));
            assertTrue(e.getMessage().contains("fs.tagmac.photos." + option), e.getMessage());
        }
        Configuration conf = sealed.configuration();
        String secret = "00112233445566778899aabbccddeeff";
        conf.set("fs.tagmac.photos.key", secret);
        IOException e = assertThrows(IOException.class, () -> Sealed.open(conf));
        assertFalse(e.getMessage().contains(secret), e.getMessage());
        for (String uri : List.of("tagmac:///x", "tagmac://Photos/x", "tagmac://a@b/x")) {
            assertThrows(
                    IOException.class,
                    () -> FileSystem.newInstance(URI.create(uri), sealed.configuration()),
                    uri);
        }
        try (FileSystem fs = sealed.open()) {
            Path other = new Path("tagmac://other/x");
            assertThrows(IllegalArgumentException.class, () -> fs.open(other));
        }
    }

    @Test
    void closedStreams() throws IOException {
        sealed.write("x", 10);
        sealed.seal();
        try (FileSystem fs = sealed.open()) {
            FSDataInputStream in = fs.open(Sealed.path("x"));
            in.close();
            in.close();
            assertThrows(IOException.class, () -> in.read());
            assertThrows(IOException.class, () -> in.read(0, new byte[1], 0, 1));
            assertThrows(IOException.class, () -> in.seek(0));
        }
    }
}
