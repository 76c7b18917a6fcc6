package org.tagmac;

import java.lang.ref.Reference;
import java.util.Arrays;
import java.util.Objects;

/**
 * A key with its nonces and its budget, for the sender of many messages, such as packets. Nonces
 * count up. {@link #tag} and {@link #reserve} refuse before a forgery becomes more likely than the
 * given probability.
 *
 * <p><b>Use one session per key</b>: two would use the same nonces. A session that ends with the
 * process need not be saved, and needs a key that nothing else uses. If the session outlives the
 * process, store before you use: {@link #reserve} nonces, {@link #save}, store the result in place
 * of the previous one, and only then tag.
 *
 * <pre>{@code
 * byte[] stored = new Session(key).save();          // once, where the key is made
 * Session session = Session.restore(key, stored);   // at each start
 * session.reserve(1000);
 * stored = session.save();                          // store it before you tag
 * Session.Tagged sent = session.tag(packet);
 * key.verify(sent.nonce(), packet, sent.tag());
 * }</pre>
 *
 * <p>Threads may share a session; their calls run one after the other.
 */
public final class Session implements AutoCloseable {
    /** The default probability of a forgery, 2<sup>-32</sup>. */
    public static final double DEFAULT_PROBABILITY = 0x1p-32;
    /** The default length of a nonce, if the algorithm has nonces of this length. */
    private static final int NONCE_BYTES = 8;
    private static final byte[] NO_NONCE = {};

    private final Handle handle;
    private final int tagBytes;

    /**
     * A nonce and the tag of a message under it.
     *
     * @param nonce the nonce; empty if the algorithm needs none
     * @param tag the tag
     */
    public record Tagged(byte[] nonce, byte[] tag) {}

    private Session(TagmacKey key, long native_) {
        handle = new Handle(this, native_, Native::sessionFree);
        tagBytes = key.tagBytes();
    }

    /** Begins a session whose nonces count from zero, with messages of at most 1 MiB. */
    public Session(TagmacKey key) {
        this(key, zeros(key.algorithm()), 0, DEFAULT_PROBABILITY);
    }

    /**
     * Begins a session.
     *
     * @param nextNonce the first nonce; empty if the algorithm needs none
     * @param maxMessageBytes the length of the longest message; 0 means 1 MiB, or the algorithm's
     *     limit if that is less
     * @param probability the highest probability of a forgery. 0 means no limit, which CMAC and HMAC
     *     need
     * @throws IllegalArgumentException if the algorithm has no such nonces, or there is no budget
     */
    public Session(TagmacKey key, byte[] nextNonce, long maxMessageBytes, double probability) {
        this(key, begin(key, nextNonce, maxMessageBytes, probability));
    }

    /**
     * Restores the session that {@link #save} saved, which has to reserve and save before it tags.
     *
     * @throws IllegalArgumentException if the bytes are damaged or belong to another key
     */
    public static Session restore(TagmacKey key, byte[] saved) {
        return restore(key, saved, 0, DEFAULT_PROBABILITY);
    }

    /** As {@link #restore(TagmacKey, byte[])}, with another budget. */
    public static Session restore(
            TagmacKey key, byte[] saved, long maxMessageBytes, double probability) {
        try {
            return new Session(
                    key, Native.sessionRestore(key.handle(), saved, maxMessageBytes, probability));
        } finally {
            Reference.reachabilityFence(key);
        }
    }

    private static long begin(
            TagmacKey key, byte[] nextNonce, long maxMessageBytes, double probability) {
        try {
            return Native.sessionNew(key.handle(), nextNonce, maxMessageBytes, probability);
        } finally {
            Reference.reachabilityFence(key);
        }
    }

    private static byte[] zeros(Algorithm algorithm) {
        int least = Math.max(NONCE_BYTES, algorithm.minNonceBytes());
        return new byte[Math.min(least, algorithm.maxNonceBytes())];
    }

    /**
     * Returns the next nonce and the tag of a message under it.
     *
     * @throws ReserveUsedUpException if the last save does not cover the message
     * @throws BudgetExhaustedException if the key must not tag another message
     * @throws IllegalArgumentException if the message is too long
     */
    public Tagged tag(byte[] message) {
        return tag(message, 0, message.length);
    }

    /** As {@link #tag(byte[])}, for a range of an array. */
    public Tagged tag(byte[] message, int offset, int length) {
        Objects.checkFromIndexSize(offset, length, message.length);
        try (Scratch scratch = Scratch.with(NO_NONCE, message, offset, length)) {
            if (scratch != null) {
                byte[] nonce = new byte[Native.sessionTagScratch(handle.get(), scratch.index, length)];
                byte[] tag = new byte[tagBytes];
                scratch.get(nonce, tag);
                return new Tagged(nonce, tag);
            }
            byte[] both = Native.sessionTag(handle.get(), message, offset, length);
            int nonceBytes = both.length - tagBytes;
            return new Tagged(
                    Arrays.copyOf(both, nonceBytes),
                    Arrays.copyOfRange(both, nonceBytes, both.length));
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /**
     * Checks the tag of another sender's message in constant time, and counts a failure.
     *
     * @throws InvalidTagException if the tag is wrong
     * @throws BudgetExhaustedException if the budget allows no more failures; nothing is checked
     */
    public void verify(byte[] nonce, byte[] message, byte[] tag) throws InvalidTagException {
        boolean right;
        int size = message.length;
        try (Scratch scratch = Scratch.with(nonce, message, 0, size)) {
            right =
                    scratch != null && scratch.put(tag)
                            ? Native.sessionMatchesScratch(
                                    handle.get(), scratch.index, nonce.length, size, tag.length)
                            : Native.sessionMatches(
                                    handle.get(), nonce, message, 0, size, tag, tag.length);
        } finally {
            Reference.reachabilityFence(this);
        }
        if (!right) {
            throw new InvalidTagException();
        }
    }

    /**
     * Sets aside the nonces and the budget of more messages. Save the session and store the result
     * before you tag.
     *
     * @throws BudgetExhaustedException if the budget or the nonces do not suffice
     */
    public void reserve(long messages) {
        try {
            Native.sessionReserve(handle.get(), messages);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /**
     * Returns the state after all reserved messages. From now on the session tags only those, until
     * the next save.
     */
    public byte[] save() {
        try {
            return Native.sessionSave(handle.get());
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /** Returns the number of messages tagged under the key, including earlier reserves. */
    public long used() {
        return count(0);
    }

    /** Returns the number of messages that the key may still tag, including the reserved ones. */
    public long left() {
        return count(1);
    }

    /** Returns the number of messages that are reserved and not tagged yet. */
    public long reserved() {
        return count(2);
    }

    private long count(int which) {
        try {
            return Native.sessionCount(handle.get(), which);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /** Wipes and frees the session. */
    @Override
    public void close() {
        handle.close();
    }
}
