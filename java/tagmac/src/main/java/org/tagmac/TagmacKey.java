package org.tagmac;

import java.io.IOException;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.Objects;

/**
 * A key and its algorithm. Threads may share a key; {@link #close} waits for their calls.
 *
 * <pre>{@code
 * try (TagmacKey key = TagmacKey.fromFile(Path.of("my.key"))) {
 *     byte[] tag = key.tag(message);
 *     key.verify(message, tag);
 * }
 * }</pre>
 *
 * <p>The key bytes are in native memory, which is wiped by {@code close}, or after the object became
 * garbage. A closed key throws {@link IllegalStateException}. Another thread may change an array or
 * a buffer during a call; the result is then not the tag of any message.
 */
public final class TagmacKey implements AutoCloseable {
    /** The algorithm of a key without a name. */
    public static final String DEFAULT_ALGORITHM = "PMAC-AES128";

    private static final byte[] NO_NONCE = {};

    private final Handle handle;
    private final Algorithm algorithm;
    private final String id;
    private final int tagBits;

    private TagmacKey(long native_) {
        handle = new Handle(this, native_, Native::keyFree);
        String[] info = new String(Native.keyInfo(native_), StandardCharsets.US_ASCII).split(" ");
        algorithm = Algorithm.find(info[0]).orElseThrow();
        id = info[1];
        tagBits = Integer.parseInt(info[2]);
    }

    /**
     * Makes a key for PMAC-AES128 from 16 bytes, which are copied.
     *
     * @throws IllegalArgumentException if there are not 16
     */
    public TagmacKey(byte[] key) {
        this(DEFAULT_ALGORITHM, key);
    }

    /**
     * Makes a key from bytes, which are copied: wipe your copy.
     *
     * @throws IllegalArgumentException if the algorithm is unknown or has no keys of this length
     */
    public TagmacKey(String algorithm, byte[] key) {
        this(algorithm, key, 0);
    }

    /**
     * Makes a key whose tags have {@code tagBits} bits; 0 is the longest tag.
     *
     * @throws IllegalArgumentException if the algorithm is unknown or does not support the lengths
     */
    public TagmacKey(String algorithm, byte[] key, int tagBits) {
        this(Native.keyNew(algorithm, key, tagBits));
    }

    /**
     * Reads a key file of {@code tagmac keygen}. As the command does, it refuses a file that other
     * users can write.
     *
     * @throws IOException if the file cannot be read, is not a key file, or others can write it
     */
    public static TagmacKey fromFile(Path path) throws IOException {
        return fromFile(path, 0);
    }

    /** As {@link #fromFile(Path)}, with tags of {@code tagBits} bits. */
    public static TagmacKey fromFile(Path path, int tagBits) throws IOException {
        return new TagmacKey(Native.keyFromFile(path.toString(), tagBits));
    }

    /**
     * Reads the text of a key file from an environment variable.
     *
     * @throws IOException if the variable is not set, or is not a key file
     */
    public static TagmacKey fromEnv(String variable) throws IOException {
        return fromEnv(variable, 0);
    }

    /** As {@link #fromEnv(String)}, with tags of {@code tagBits} bits. */
    public static TagmacKey fromEnv(String variable, int tagBits) throws IOException {
        return new TagmacKey(Native.keyFromEnv(variable, tagBits));
    }

    /**
     * Parses the text of a key file.
     *
     * @throws IOException if it is not the text of a key file
     */
    public static TagmacKey fromText(byte[] text) throws IOException {
        return fromText(text, 0);
    }

    /** As {@link #fromText(byte[])}, with tags of {@code tagBits} bits. */
    public static TagmacKey fromText(byte[] text, int tagBits) throws IOException {
        return new TagmacKey(Native.keyFromText(text, tagBits));
    }

    /** Makes a random key, which ends with this object. */
    public static TagmacKey generate(String algorithm) {
        Algorithm found =
                Algorithm.find(algorithm)
                        .orElseThrow(() -> new IllegalArgumentException("unknown algorithm " + algorithm));
        byte[] key = new byte[found.newKeyBytes()];
        try {
            new SecureRandom().nextBytes(key);
            return new TagmacKey(algorithm, key);
        } finally {
            Arrays.fill(key, (byte) 0);
        }
    }

    /** Returns the algorithm. */
    public Algorithm algorithm() {
        return algorithm;
    }

    /** Returns the public id of the key and its algorithm, 16 hex digits. */
    public String id() {
        return id;
    }

    /** Returns the length of a tag in bits. */
    public int tagBits() {
        return tagBits;
    }

    /** Returns the length of a tag in bytes. */
    public int tagBytes() {
        return (tagBits + 7) / 8;
    }

    /** Returns the tag of a message. */
    public byte[] tag(byte[] message) {
        return tag(NO_NONCE, message);
    }

    /**
     * Returns the tag of a message under a nonce. Never use a nonce for two messages under one key.
     *
     * @throws IllegalArgumentException if the algorithm has no nonces of this length, or the message
     *     is too long for it
     */
    public byte[] tag(byte[] nonce, byte[] message) {
        return tag(nonce, message, 0, message.length);
    }

    /** As {@link #tag(byte[], byte[])}, for a range of an array. */
    public byte[] tag(byte[] nonce, byte[] message, int offset, int length) {
        Objects.checkFromIndexSize(offset, length, message.length);
        byte[] tag = new byte[tagBytes()];
        try {
            if (!Foreign.keyTag(handle.get(), nonce, message, offset, length, tag)) {
                tagByJni(nonce, message, offset, length, tag);
            }
        } finally {
            Reference.reachabilityFence(this);
        }
        return tag;
    }

    private void tagByJni(byte[] nonce, byte[] message, int offset, int length, byte[] tag) {
        try (Scratch scratch = Scratch.with(nonce, message, offset, length)) {
            if (scratch != null) {
                Native.keyTagScratch(handle.get(), scratch.index, nonce.length, length);
                scratch.get(tag);
            } else {
                Native.keyTag(handle.get(), Bytes.nullIfEmpty(nonce), message, offset, length, tag);
            }
        }
    }

    /** Returns the tag of the remaining bytes of a buffer, and leaves its position as it was. */
    public byte[] tag(ByteBuffer message) {
        return tag(NO_NONCE, message);
    }

    /** As {@link #tag(byte[], byte[])}, for the remaining bytes of a buffer. */
    public byte[] tag(byte[] nonce, ByteBuffer message) {
        Bytes bytes = Bytes.of(message);
        if (bytes.array() != null) {
            return tag(nonce, bytes.array(), bytes.at(), bytes.size());
        }
        byte[] tag = new byte[tagBytes()];
        try {
            Native.keyTagBuffer(
                    handle.get(),
                    Bytes.nullIfEmpty(nonce),
                    bytes.direct(),
                    bytes.at(),
                    bytes.size(),
                    tag);
        } finally {
            Reference.reachabilityFence(this);
        }
        return tag;
    }

    /**
     * Checks the tag of a message in constant time.
     *
     * @throws InvalidTagException if the tag is wrong
     */
    public void verify(byte[] message, byte[] tag) throws InvalidTagException {
        verify(NO_NONCE, message, tag);
    }

    /**
     * Checks the tag of a message under a nonce in constant time.
     *
     * @throws InvalidTagException if the tag is wrong
     * @throws IllegalArgumentException if the algorithm has no nonces of this length
     */
    public void verify(byte[] nonce, byte[] message, byte[] tag) throws InvalidTagException {
        check(matches(nonce, message, tag));
    }

    /** As {@link #verify(byte[], byte[], byte[])}, for the remaining bytes of a buffer. */
    public void verify(byte[] nonce, ByteBuffer message, byte[] tag) throws InvalidTagException {
        check(matches(nonce, message, tag));
    }

    private static void check(boolean right) throws InvalidTagException {
        if (!right) {
            throw new InvalidTagException();
        }
    }

    /** Returns whether the tag of a message under a nonce is right, in constant time. */
    public boolean matches(byte[] nonce, byte[] message, byte[] tag) {
        return matches(nonce, message, 0, message.length, tag);
    }

    /** As {@link #matches(byte[], byte[], byte[])}, for a range of an array. */
    public boolean matches(byte[] nonce, byte[] message, int offset, int length, byte[] tag) {
        Objects.checkFromIndexSize(offset, length, message.length);
        try {
            int right = Foreign.keyMatches(handle.get(), nonce, message, offset, length, tag);
            return right < 0 ? matchesByJni(nonce, message, offset, length, tag) : right == 1;
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    private boolean matchesByJni(byte[] nonce, byte[] message, int offset, int length, byte[] tag) {
        try (Scratch scratch = Scratch.with(nonce, message, offset, length)) {
            if (scratch != null && scratch.put(tag)) {
                return Native.keyMatchesScratch(
                        handle.get(), scratch.index, nonce.length, length, tag.length);
            }
            return Native.keyMatches(
                    handle.get(), Bytes.nullIfEmpty(nonce), message, offset, length, tag, tag.length);
        }
    }

    /** As {@link #matches(byte[], byte[], byte[])}, for the remaining bytes of a buffer. */
    public boolean matches(byte[] nonce, ByteBuffer message, byte[] tag) {
        Bytes bytes = Bytes.of(message);
        if (bytes.array() != null) {
            return matches(nonce, bytes.array(), bytes.at(), bytes.size(), tag);
        }
        try {
            return Native.keyMatchesBuffer(
                    handle.get(),
                    Bytes.nullIfEmpty(nonce),
                    bytes.direct(),
                    bytes.at(),
                    bytes.size(),
                    tag,
                    tag.length);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /**
     * Writes the tags of many messages, which lie one after the other as in an Arrow array of binary
     * values: message {@code i} has the bytes {@code offsets[i]} to {@code offsets[i + 1]} of {@code
     * data}. All buffers are direct. Their positions are the starts, and stay as they were.
     *
     * @param count the number of messages
     * @param data the bytes of all messages
     * @param offsets {@code count + 1} numbers of 4 bytes, little-endian
     * @param tags room for {@code count} tags; it must not overlap the inputs
     * @throws IllegalArgumentException if the algorithm needs nonces, or a message is too long
     * @throws IndexOutOfBoundsException if an offset is outside of the data or less than the one
     *     before it
     */
    public void tagMany(int count, ByteBuffer data, ByteBuffer offsets, ByteBuffer tags) {
        tagMany(count, data, offsets, Integer.BYTES, null, tags);
    }

    /**
     * As {@link #tagMany(int, ByteBuffer, ByteBuffer, ByteBuffer)}.
     *
     * @param offsetBytes the size of an offset, 4 or 8 bytes
     * @param nonces a nonce for each message, one after the other, all of one length and different;
     *     null if the algorithm needs none
     */
    public void tagMany(
            int count,
            ByteBuffer data,
            ByteBuffer offsets,
            int offsetBytes,
            ByteBuffer nonces,
            ByteBuffer tags) {
        Bytes.checkWritable(tags);
        Bytes.checkRoom(tags, count, tagBytes());
        Bytes.checkRoom(offsets, count + 1L, offsetBytes);
        Bytes.touch(data, offsets, nonces, tags);
        try {
            Native.tagMany(
                    handle.get(),
                    count,
                    offsetBytes,
                    data,
                    data.position(),
                    data.remaining(),
                    offsets,
                    offsets.position(),
                    nonces,
                    nonces == null ? 0 : nonces.position(),
                    nonces == null ? 0 : nonces.remaining(),
                    tags,
                    tags.position());
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /**
     * Checks the tags of many messages, each in constant time.
     *
     * @param tags {@code count} tags, one after the other
     * @param verdicts room for {@code count} bytes: 1 for a right tag, 0 for a wrong one
     * @return the number of wrong tags
     */
    public int verifyMany(
            int count,
            ByteBuffer data,
            ByteBuffer offsets,
            int offsetBytes,
            ByteBuffer nonces,
            ByteBuffer tags,
            ByteBuffer verdicts) {
        Bytes.checkWritable(verdicts);
        Bytes.checkRoom(tags, count, tagBytes());
        Bytes.checkRoom(verdicts, count, 1);
        Bytes.checkRoom(offsets, count + 1L, offsetBytes);
        Bytes.touch(data, offsets, nonces, tags, verdicts);
        try {
            return Native.verifyMany(
                    handle.get(),
                    count,
                    offsetBytes,
                    data,
                    data.position(),
                    data.remaining(),
                    offsets,
                    offsets.position(),
                    nonces,
                    nonces == null ? 0 : nonces.position(),
                    nonces == null ? 0 : nonces.remaining(),
                    tags,
                    tags.position(),
                    verdicts,
                    verdicts.position());
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    long handle() {
        return handle.get();
    }

    /** Wipes and frees the key, after calls of other threads have returned. Sessions stay valid. */
    @Override
    public void close() {
        handle.close();
    }

    /** Returns the algorithm and the id. */
    @Override
    public String toString() {
        return "TagmacKey[" + algorithm + " id=" + id + "]";
    }
}
