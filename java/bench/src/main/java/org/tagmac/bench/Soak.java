package org.tagmac.bench;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import javax.crypto.Mac;
import javax.crypto.spec.IvParameterSpec;
import javax.crypto.spec.SecretKeySpec;
import org.tagmac.Algorithm;
import org.tagmac.Session;
import org.tagmac.TagmacKey;
import org.tagmac.TagmacProvider;

/**
 * Uses everything for a long time, from four threads. Half of the keys and most sessions are closed;
 * the garbage collector frees the others and all Macs. Every tag is checked. It prints the rounds so far
 * and the memory of the process in KiB at the end of each interval.
 *
 * <p>Arguments: the number of intervals, and the seconds of each.
 */
final class Soak {
    private static final int THREADS = 4;
    private static final int LONGEST = 1 << 16;
    private static final TagmacProvider PROVIDER = new TagmacProvider();
    private static final List<Algorithm> ALGORITHMS = List.copyOf(Algorithm.all());

    private final Random random;
    private final byte[] bytes = new byte[LONGEST];
    private final ByteBuffer direct = ByteBuffer.allocateDirect(LONGEST);
    private final ByteBuffer offsets =
            ByteBuffer.allocateDirect(101 * Integer.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    private final ByteBuffer tags = ByteBuffer.allocateDirect(100 * 64);

    private Soak(int seed) {
        random = new Random(seed);
        random.nextBytes(bytes);
        direct.put(bytes).clear();
        for (int i = 0; i <= 100; i++) {
            offsets.putInt(i * 64);
        }
        offsets.clear();
    }

    public static void main(String[] arguments) throws Exception {
        int intervals = Integer.parseInt(arguments[0]);
        int seconds = Integer.parseInt(arguments[1]);
        LongAdder rounds = new LongAdder();
        ExecutorService threads = Executors.newFixedThreadPool(THREADS);
        List<Future<?>> running = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            Soak soak = new Soak(i);
            running.add(
                    threads.submit(
                            () -> {
                                while (!Thread.interrupted()) {
                                    soak.round();
                                    rounds.increment();
                                }
                                return null;
                            }));
        }
        try {
            for (int i = 0; i < intervals; i++) {
                TimeUnit.SECONDS.sleep(seconds);
                for (Future<?> one : running) {
                    if (one.isDone()) {
                        one.get();
                    }
                }
                System.out.println(rounds.sum() + " " + resident());
            }
        } finally {
            threads.shutdownNow();
        }
        for (Future<?> one : running) {
            one.get();
        }
    }

    /** The resident memory of this process in KiB. */
    private static long resident() throws IOException {
        for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
            if (line.startsWith("VmRSS:")) {
                return Long.parseLong(line.replaceAll("[^0-9]", ""));
            }
        }
        throw new IOException("/proc/self/status: VmRSS is missing");
    }

    private void round() throws Exception {
        Algorithm algorithm = ALGORITHMS.get(random.nextInt(ALGORITHMS.size()));
        byte[] raw = new byte[algorithm.newKeyBytes()];
        random.nextBytes(raw);
        byte[] nonce = new byte[algorithm.maxNonceBytes()];
        random.nextBytes(nonce);
        long limit = algorithm.maxMessageBytes();
        int longest = limit < 0 ? LONGEST : (int) Math.min(LONGEST, limit);
        int size = 1 + random.nextInt(random.nextInt(longest) + 1);
        byte[] message = Arrays.copyOf(bytes, size);

        TagmacKey key = new TagmacKey(algorithm.name(), raw);
        byte[] tag = key.tag(nonce, message);
        key.verify(nonce, direct.limit(size), tag);
        direct.clear();
        tag[0] ^= 1;
        check(!key.matches(nonce, message, tag), "a wrong tag was accepted");
        tag[0] ^= 1;

        byte[] other = mac(algorithm, raw, nonce, message);
        check(Arrays.equals(tag, other), algorithm + ": the provider made another tag");
        session(key, algorithm);
        if (!algorithm.needsNonce()) {
            key.tagMany(100, direct, offsets, tags.limit(100 * key.tagBytes()));
            tags.clear();
        }
        if (random.nextBoolean()) {
            key.close();
            refused(() -> key.tag(nonce, message));
        }
    }

    private byte[] mac(Algorithm algorithm, byte[] raw, byte[] nonce, byte[] message)
            throws GeneralSecurityException {
        Mac mac = Mac.getInstance(algorithm.name(), PROVIDER);
        SecretKeySpec key = new SecretKeySpec(raw, algorithm.name());
        mac.init(key, algorithm.needsNonce() ? new IvParameterSpec(nonce) : null);
        int half = message.length / 2;
        mac.update(message, 0, half);
        try {
            mac = random.nextBoolean() ? (Mac) mac.clone() : mac;
        } catch (CloneNotSupportedException e) {
            throw new GeneralSecurityException(e);
        }
        mac.update(direct.limit(message.length).position(half));
        direct.clear();
        return mac.doFinal();
    }

    private void session(TagmacKey key, Algorithm algorithm) throws Exception {
        byte[] nonce = new byte[algorithm.maxNonceBytes()];
        try (Session first = new Session(key, nonce, 1000, 0)) {
            first.reserve(2);
            Session second = Session.restore(key, first.save(), 1000, 0);
            second.reserve(3);
            byte[] saved = second.save();
            check(saved.length > 0, "a session is empty");
            Session.Tagged sent = second.tag(bytes, 0, 100);
            key.verify(sent.nonce(), Arrays.copyOf(bytes, 100), sent.tag());
            if (random.nextBoolean()) {
                second.close();
                refused(() -> second.tag(bytes));
            }
        }
    }

    private static void refused(Runnable call) {
        try {
            call.run();
        } catch (IllegalStateException e) {
            return;
        }
        throw new AssertionError("a closed object was used");
    }

    private static void check(boolean right, String line) {
        if (!right) {
            throw new AssertionError(line);
        }
    }
}
