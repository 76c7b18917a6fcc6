package org.tagmac.bench;

import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import java.security.Provider;
import java.util.concurrent.TimeUnit;
import javax.crypto.Mac;
import javax.crypto.spec.IvParameterSpec;
import javax.crypto.spec.SecretKeySpec;
import org.bouncycastle.jce.provider.BouncyCastleProvider;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.tagmac.TagmacKey;
import org.tagmac.TagmacProvider;

/** Tags of one message, and of many in one call. `bench java` reads the results. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class Macs {
    /** A message. */
    @State(Scope.Thread)
    public static class Message {
        @Param({"16", "64", "1024", "16384"})
        public int bytes;

        byte[] message;

        @Setup
        public void make() {
            message = new byte[bytes];
            for (int i = 0; i < bytes; i++) {
                message[i] = (byte) i;
            }
        }
    }

    /** A MAC of a provider. */
    @State(Scope.Thread)
    public static class Jca {
        @Param({
            "tagmac/PMAC-AES128", "tagmac/LIGHTMAC-AES128", "SunJCE/HmacSHA256",
            "Bouncy Castle/AESCMAC", "Bouncy Castle/SIPHASH128-2-4",
        })
        public String name;

        Mac mac;

        @Setup
        public void make() throws GeneralSecurityException {
            mac = Macs.mac(name);
            int keyBytes = name.contains("LIGHTMAC") ? 32 : 16;
            mac.init(new SecretKeySpec(new byte[keyBytes], "RAW"));
        }
    }

    /** A MAC of a provider that needs a nonce for each message, under one key. */
    @State(Scope.Thread)
    public static class JcaWithNonce {
        @Param({"tagmac/POLY1305-AES", "tagmac/UMAC-128", "Bouncy Castle/POLY1305-AES"})
        public String name;

        Mac mac;
        SecretKeySpec key;
        byte[] nonce;

        @Setup
        public void make() throws GeneralSecurityException {
            mac = Macs.mac(name);
            key = new SecretKeySpec(new byte[name.contains("UMAC") ? 16 : 32], "RAW");
            nonce = new byte[16];
        }

        IvParameterSpec next() {
            for (int i = 0; ++nonce[i] == 0; ) {
                i++;
            }
            return new IvParameterSpec(nonce);
        }
    }

    /** A key of this library. */
    @State(Scope.Thread)
    public static class Key {
        @Param({"PMAC-AES128", "LIGHTMAC-AES128"})
        public String name;

        TagmacKey key;

        @Setup
        public void make() {
            key = new TagmacKey(name, new byte[name.contains("LIGHTMAC") ? 32 : 16]);
        }
    }

    /** Many messages in direct buffers, in the layout of Arrow. */
    @State(Scope.Thread)
    public static class Many {
        static final int MESSAGES = 1024;

        ByteBuffer data;
        ByteBuffer offsets;
        ByteBuffer tags;

        @Setup
        public void make() {
            int bytes = 64;
            data = ByteBuffer.allocateDirect(MESSAGES * bytes);
            offsets = ByteBuffer.allocateDirect(4 * (MESSAGES + 1));
            offsets.order(java.nio.ByteOrder.LITTLE_ENDIAN);
            for (int i = 0; i <= MESSAGES; i++) {
                offsets.putInt(4 * i, i * bytes);
            }
            tags = ByteBuffer.allocateDirect(16 * MESSAGES);
        }
    }

    private static Mac mac(String name) throws GeneralSecurityException {
        String[] parts = name.split("/");
        if (parts[0].equals("SunJCE")) {
            return Mac.getInstance(parts[1], parts[0]);
        }
        Provider provider =
                parts[0].equals("tagmac") ? new TagmacProvider() : new BouncyCastleProvider();
        return Mac.getInstance(parts[1], provider);
    }

    @Benchmark
    public byte[] jca(Message message, Jca jca) {
        return jca.mac.doFinal(message.message);
    }

    @Benchmark
    public byte[] jcaWithNonce(Message message, JcaWithNonce jca) throws GeneralSecurityException {
        jca.mac.init(jca.key, jca.next());
        return jca.mac.doFinal(message.message);
    }

    @Benchmark
    public byte[] key(Message message, Key key) {
        return key.key.tag(message.message);
    }

    @Benchmark
    public ByteBuffer tagMany(Many many, Key key) {
        key.key.tagMany(Many.MESSAGES, many.data, many.offsets, many.tags);
        return many.tags;
    }
}
