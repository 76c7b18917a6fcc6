package org.tagmac;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * The manifest of a directory or of a bucket, whose seal was verified. It lists what was sealed, and
 * its {@link Content}s verify bytes from any place.
 *
 * <pre>{@code
 * try (TagmacKey key = TagmacKey.fromFile(Path.of("my.key"));
 *         Manifest manifest = Manifest.open(Path.of("photos.manifest"), key);
 *         Content content = manifest.content("2026/x.parquet")) {
 *     content.verify(0, leaf);
 * }
 * }</pre>
 *
 * <p>Threads may share it. A closed one throws {@link IllegalStateException}; its contents stay valid.
 * Paths are relative to the sealed directory or prefix, with slashes between names.
 */
public final class Manifest implements AutoCloseable {
    private final Handle handle;
    private final Path path;
    private final long sequence;
    private final LocalDate day;

    /** The kind of an entry. */
    public enum Kind {
        FILE,
        DIR,
        LINK,
        PIPE,
        SOCKET,
        CHARDEV,
        BLOCKDEV
    }

    /**
     * An entry of a manifest.
     *
     * @param path the path relative to the sealed directory
     * @param kind the kind
     * @param size the size of a file in bytes; -1 for other entries
     * @param mode the permissions; -1 if they were not sealed
     * @param mtime the modification time, if it was sealed
     * @param target the target of a link
     */
    public record Entry(
            String path,
            Kind kind,
            long size,
            int mode,
            Optional<Instant> mtime,
            Optional<String> target) {}

    private Manifest(long native_, Path path) {
        handle = new Handle(this, native_, Native::manifestFree);
        this.path = path;
        String[] info = new String(Native.manifestInfo(native_), StandardCharsets.US_ASCII).split(" ");
        sequence = Long.parseLong(info[0]);
        day = info[1].equals("-") ? null : LocalDate.parse(info[1]);
    }

    /**
     * Opens a manifest and verifies its seal. The manifest of a bucket is a folder. The files must
     * stay as long as the manifest and its contents are used. Needs Linux or macOS.
     *
     * @throws DamagedFileException if the manifest was changed
     * @throws IOException if it cannot be read, or belongs to another key
     * @throws IllegalArgumentException if the key cannot seal manifests
     */
    public static Manifest open(Path path, TagmacKey key) throws IOException {
        try {
            return new Manifest(Native.manifestOpen(key.handle(), path.toString()), path);
        } finally {
            Reference.reachabilityFence(key);
        }
    }

    /** Returns the number in the chain of manifests; 0 for a version without chains. */
    public long sequence() {
        return sequence;
    }

    /** Returns the day on which the manifest was sealed, if it is known. */
    public Optional<LocalDate> day() {
        return Optional.ofNullable(day);
    }

    /**
     * Returns the entry of a path. In a bucket, a path with objects below it is a directory.
     *
     * @throws FileNotFoundException if the manifest has no such entry
     */
    public Entry entry(String name) throws IOException {
        try {
            return entries(Native.manifestEntry(handle.get(), bytes(name))).get(0);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /**
     * Returns the entries in a directory, in the order of the manifest, without those in its
     * directories. The empty path is the sealed directory itself.
     *
     * @throws FileNotFoundException if the manifest has no such entry
     * @throws IOException if a name is not valid UTF-8
     */
    public List<Entry> list(String directory) throws IOException {
        try {
            return entries(Native.manifestList(handle.get(), bytes(directory)));
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /**
     * Returns the sealed content of a file.
     *
     * @throws FileNotFoundException if the manifest has no such entry
     * @throws IOException if its leaf tags cannot be read
     * @throws IllegalArgumentException if it is not a file, or is longer than 64 MiB and was sealed
     *     without leaf tags
     */
    public Content content(String name) throws IOException {
        try {
            return new Content(Native.contentOpen(handle.get(), bytes(name)), name);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /** Closes the manifest, after calls of other threads have returned. */
    @Override
    public void close() {
        handle.close();
    }

    /** Returns the path of the manifest. */
    @Override
    public String toString() {
        return "Manifest[" + path + "]";
    }

    /** No entry has a name that is not valid Unicode. */
    private static byte[] bytes(String name) throws FileNotFoundException {
        try {
            ByteBuffer text = StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(name));
            byte[] bytes = new byte[text.remaining()];
            text.get(bytes);
            return bytes;
        } catch (CharacterCodingException e) {
            throw new FileNotFoundException(name + ": not valid Unicode");
        }
    }

    private static List<Entry> entries(byte[] text) throws IOException {
        List<Entry> entries = new ArrayList<>();
        ByteBuffer in = ByteBuffer.wrap(text);
        while (in.hasRemaining()) {
            String name = text(in);
            Kind kind = Kind.valueOf(text(in).toUpperCase(Locale.ROOT));
            String target = text(in);
            long size = in.getLong();
            int mode = in.getInt();
            long seconds = in.getLong();
            int nanoseconds = in.getInt();
            entries.add(
                    new Entry(
                            name,
                            kind,
                            size,
                            mode,
                            nanoseconds < 0
                                    ? Optional.empty()
                                    : Optional.of(Instant.ofEpochSecond(seconds, nanoseconds)),
                            kind == Kind.LINK ? Optional.of(target) : Optional.empty()));
        }
        return entries;
    }

    private static String text(ByteBuffer in) throws IOException {
        byte[] bytes = new byte[in.getInt()];
        in.get(bytes);
        try {
            return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
        } catch (CharacterCodingException e) {
            String shown = new String(bytes, StandardCharsets.UTF_8);
            throw new IOException(shown + ": this name in the manifest is not valid UTF-8", e);
        }
    }
}
