package org.tagmac;

import java.io.IOException;
import java.io.Serializable;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A reference to a key, for code that runs in another process or on another machine. Send it instead
 * of the key, and call {@link #resolve} where the key is used: then no key ends up in a closure, a
 * plan or a log.
 *
 * <pre>{@code
 * TagmacKey key = KeyRef.parse("file:/etc/tagmac/my.key").resolve();
 * }</pre>
 */
public final class KeyRef implements Serializable {
    private static final long serialVersionUID = 1;
    private static final String CREDENTIALS = "CREDENTIALS_DIRECTORY";
    private static final Path SECRETS = Path.of("/run/secrets");
    private static final List<String> KINDS = List.of("file", "env", "secret", "command");

    /** The keys of this process. Copies of a reference are equal, so they share an entry. */
    private static final ConcurrentHashMap<KeyRef, Resolved> RESOLVED = new ConcurrentHashMap<>();

    private final String kind;
    private final String where;
    private final String id;
    private final String algorithm;
    private final int tagBits;

    /** A key and the stamp of its file; an empty list for other kinds. */
    private record Resolved(List<Object> stamp, TagmacKey key) {}

    private KeyRef(String kind, String where, String id, String algorithm, int tagBits) {
        this.kind = kind;
        this.where = where;
        this.id = id;
        this.algorithm = algorithm;
        this.tagBits = tagBits;
    }

    /**
     * Parses a reference. It is public: never write a key or a password into it.
     *
     * <ul>
     *   <li>{@code file:PATH} is a key file of {@code tagmac keygen};
     *   <li>{@code env:NAME} is an environment variable with the text of a key file;
     *   <li>{@code secret:NAME} is a file in the folder that {@code $CREDENTIALS_DIRECTORY} names, or
     *       in {@code /run/secrets};
     *   <li>{@code command:WORDS} is the output of a command. Spaces separate its words, and no shell
     *       runs it.
     * </ul>
     *
     * @throws IllegalArgumentException if the text is not a reference
     */
    public static KeyRef parse(String text) {
        int colon = text.indexOf(':');
        String kind = colon < 0 ? "" : text.substring(0, colon);
        if (!KINDS.contains(kind)) {
            // The text may be a key that was pasted here, so the message does not repeat it.
            throw new IllegalArgumentException(
                    "key reference: expected file:PATH, env:NAME, secret:NAME or command:WORDS");
        }
        String where = text.substring(colon + 1);
        if (kind.equals("file") && where.startsWith("///")) {
            where = where.substring(2);
        }
        if (where.isBlank() || where.indexOf('\0') >= 0) {
            throw new IllegalArgumentException("key reference: nothing after " + kind + ":");
        }
        boolean isFolder = where.contains("/") || where.equals(".") || where.equals("..");
        if (kind.equals("secret") && isFolder) {
            throw new IllegalArgumentException(
                    "key reference: expected the name of a secret, without a folder, after secret:");
        }
        return new KeyRef(kind, where, null, null, 0);
    }

    /**
     * Returns a reference to the key with this id only.
     *
     * @throws IllegalArgumentException if it is not 16 lower-case hex digits
     */
    public KeyRef withId(String newId) {
        if (!newId.matches("[0-9a-f]{16}")) {
            throw new IllegalArgumentException("id: expected 16 lower-case hex digits");
        }
        return new KeyRef(kind, where, newId, algorithm, tagBits);
    }

    /**
     * Returns a reference to a key for this algorithm only.
     *
     * @throws IllegalArgumentException if the algorithm is unknown
     */
    public KeyRef withAlgorithm(String name) {
        Algorithm found =
                Algorithm.find(name)
                        .orElseThrow(() -> new IllegalArgumentException("alg: unknown algorithm"));
        return new KeyRef(kind, where, id, found.name(), tagBits);
    }

    /** Returns a reference to a key whose tags have {@code bits} bits; 0 is the longest tag. */
    public KeyRef withTagBits(int bits) {
        return new KeyRef(kind, where, id, algorithm, bits);
    }

    /** Returns the kind: file, env, secret or command. */
    public String kind() {
        return kind;
    }

    /** Returns the text after the kind, such as a path. */
    public String where() {
        return where;
    }

    /**
     * Returns the key. Each process reads it once, and again only after its file changed. Do not
     * close it: others use it too.
     *
     * @throws IOException if this process cannot read it, or if it has another id or algorithm
     */
    public TagmacKey resolve() throws IOException {
        try {
            Path path = path();
            List<Object> stamp = stamp(path);
            Resolved found = RESOLVED.get(this);
            if (found == null || !found.stamp.equals(stamp)) {
                // Threads that read it at once get different objects with the same key.
                found = new Resolved(stamp, read(path));
                RESOLVED.put(this, found);
            }
            return found.key;
        } catch (IOException | IllegalArgumentException e) {
            throw new IOException(this + ": " + e.getMessage() + here(), e);
        }
    }

    private TagmacKey read(Path path) throws IOException {
        TagmacKey key;
        if (path != null) {
            key = TagmacKey.fromFile(path, tagBits);
        } else if (kind.equals("env")) {
            key = TagmacKey.fromEnv(where, tagBits);
        } else {
            key = fromCommand();
        }
        String found = key.algorithm().name();
        String wrong = null;
        if (algorithm != null && !algorithm.equals(found)) {
            wrong = "expected a key for " + algorithm + ", found one for " + found;
        } else if (id != null && !id.equals(key.id())) {
            wrong = "expected a key with id " + id + ", found one with id " + key.id();
        }
        if (wrong != null) {
            key.close();
            throw new IOException(wrong);
        }
        return key;
    }

    private TagmacKey fromCommand() throws IOException {
        Process process =
                new ProcessBuilder(where.trim().split(" +"))
                        .redirectInput(ProcessBuilder.Redirect.from(nullDevice()))
                        .redirectError(ProcessBuilder.Redirect.INHERIT)
                        .start();
        byte[] text = new byte[MAX_TEXT + 1];
        try {
            int size = process.getInputStream().readNBytes(text, 0, MAX_TEXT);
            boolean isLonger = size == MAX_TEXT && process.getInputStream().read() >= 0;
            process.getInputStream().close();
            int status = process.waitFor();
            if (isLonger) {
                throw new IOException("the command wrote more than 64 KiB");
            }
            if (status != 0) {
                throw new IOException("the command failed with exit status " + status);
            }
            if (size > 0 && text[size - 1] != '\n') {
                text[size++] = '\n'; // secret stores remove the last one
            }
            byte[] exact = Arrays.copyOf(text, size);
            try {
                return TagmacKey.fromText(exact, tagBits);
            } finally {
                Arrays.fill(exact, (byte) 0);
            }
        } catch (InterruptedException e) {
            process.destroy();
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while the command ran", e);
        } finally {
            Arrays.fill(text, (byte) 0);
        }
    }

    private static final int MAX_TEXT = 64 << 10;

    private static java.io.File nullDevice() {
        return new java.io.File(java.io.File.separatorChar == '/' ? "/dev/null" : "NUL");
    }

    /** Returns the file of the key; null for variables and commands. */
    private Path path() throws IOException {
        if (kind.equals("file")) {
            return Path.of(where);
        }
        if (!kind.equals("secret")) {
            return null;
        }
        String named = System.getenv(CREDENTIALS);
        List<Path> folders = new ArrayList<>();
        if (named != null && !named.isEmpty()) {
            folders.add(Path.of(named));
        }
        folders.add(SECRETS);
        for (Path folder : folders) {
            if (Files.exists(folder.resolve(where), LinkOption.NOFOLLOW_LINKS)) {
                return folder.resolve(where);
            }
        }
        String unset = folders.size() > 1 ? "" : "; $" + CREDENTIALS + " is not set";
        throw new IOException("no file of that name in " + folders + unset);
    }

    /** Returns facts that change with the contents of a file. */
    private static List<Object> stamp(Path path) {
        if (path == null) {
            return List.of();
        }
        try {
            BasicFileAttributes facts = Files.readAttributes(path, BasicFileAttributes.class);
            List<Object> stamp = new ArrayList<>();
            stamp.add(facts.lastModifiedTime());
            stamp.add(facts.size());
            stamp.add(facts.fileKey());
            return stamp;
        } catch (IOException e) {
            // Reading the key reports it. This stamp is equal to no other.
            return List.of(new Object());
        }
    }

    private static String here() {
        String host;
        try {
            host = InetAddress.getLocalHost().getHostName();
        } catch (UnknownHostException e) {
            host = "an unknown host";
        }
        return " (on " + host + ", in process " + ProcessHandle.current().pid() + ")";
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof KeyRef it
                && kind.equals(it.kind)
                && where.equals(it.where)
                && Objects.equals(id, it.id)
                && Objects.equals(algorithm, it.algorithm)
                && tagBits == it.tagBits;
    }

    @Override
    public int hashCode() {
        return Objects.hash(kind, where, id, algorithm, tagBits);
    }

    /** Returns the reference. Of a command only the first word, because others may be secret. */
    @Override
    public String toString() {
        if (!kind.equals("command")) {
            return kind + ":" + where;
        }
        String[] words = where.trim().split(" +");
        return kind + ":" + words[0] + (words.length > 1 ? " ..." : "");
    }
}
