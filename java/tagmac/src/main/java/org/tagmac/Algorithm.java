package org.tagmac;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * An algorithm of the library and the lengths that it accepts. Lengths of keys and nonces are in
 * bytes, those of tags in bits.
 */
public final class Algorithm {
    private static final List<Algorithm> ALL = parse();

    private final int index;
    private final String name;
    private final String alias;
    private final int[] numbers;
    private final long maxMessage;

    private Algorithm(int index, String line) {
        String[] fields = line.split(" ");
        this.index = index;
        name = fields[0];
        alias = fields[1].equals("-") ? null : fields[1];
        numbers = new int[8];
        for (int i = 0; i < numbers.length; i++) {
            numbers[i] = (int) Long.min(Integer.MAX_VALUE, Long.parseUnsignedLong(fields[2 + i]));
        }
        maxMessage = Long.parseLong(fields[10]);
    }

    private static List<Algorithm> parse() {
        String table = new String(Native.algorithms(), StandardCharsets.US_ASCII);
        List<Algorithm> all = new ArrayList<>();
        for (String line : table.split("\n")) {
            all.add(new Algorithm(all.size(), line));
        }
        return List.copyOf(all);
    }

    /** Returns all algorithms. */
    public static List<Algorithm> all() {
        return ALL;
    }

    /** Returns the algorithm with a name, in upper or lower case. */
    public static Optional<Algorithm> find(String name) {
        String upper = name.toUpperCase(Locale.ROOT);
        return ALL.stream().filter(a -> a.name.equals(upper) || upper.equals(a.alias)).findFirst();
    }

    int index() {
        return index;
    }

    /** Returns the name, such as {@code PMAC-AES128}. */
    public String name() {
        return name;
    }

    /** Returns LightMAC's name without its usual counter; null for other algorithms. */
    String alias() {
        return alias;
    }

    /** Returns the length of the shortest key. */
    public int minKeyBytes() {
        return numbers[0];
    }

    /** Returns the length of the longest key. */
    public int maxKeyBytes() {
        return numbers[1];
    }

    /** Returns the length of a new key. */
    public int newKeyBytes() {
        return numbers[2];
    }

    /** Returns whether each message needs a nonce. */
    public boolean needsNonce() {
        return numbers[4] > 0;
    }

    /** Returns the length of the shortest nonce; 0 if the algorithm needs none. */
    public int minNonceBytes() {
        return numbers[3];
    }

    /** Returns the length of the longest nonce; 0 if the algorithm needs none. */
    public int maxNonceBytes() {
        return numbers[4];
    }

    /** Returns the length of the shortest tag. */
    public int minTagBits() {
        return numbers[5];
    }

    /** Returns the length of the longest tag, which is the default. */
    public int maxTagBits() {
        return numbers[6];
    }

    /** Returns the step between lengths of tags. */
    public int tagBitsStep() {
        return numbers[7];
    }

    /** Returns the length of the longest message; -1 if no message can reach the limit. */
    public long maxMessageBytes() {
        return maxMessage;
    }

    @Override
    public String toString() {
        return name;
    }
}
