package org.tagmac.examples;

import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.Provider;
import java.util.Arrays;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import javax.crypto.spec.IvParameterSpec;
import javax.crypto.spec.SecretKeySpec;
import org.apache.sshd.client.SshClient;
import org.apache.sshd.client.channel.ChannelExec;
import org.apache.sshd.client.channel.ClientChannelEvent;
import org.apache.sshd.client.session.ClientSession;
import org.apache.sshd.common.NamedFactory;
import org.apache.sshd.common.cipher.BuiltinCiphers;
import org.apache.sshd.common.config.keys.PublicKeyEntry;
import org.apache.sshd.common.kex.KexProposalOption;
import org.apache.sshd.common.mac.Mac;
import org.apache.sshd.common.mac.MacFactory;
import org.tagmac.TagmacProvider;

/**
 * Connects Apache MINA SSHD to a real sshd with OpenSSH's UMACs, which MINA does not have.
 *
 * <p>It starts a separate sshd on loopback with new keys, connects with each of the four, sends data
 * through {@code cat} and compares what comes back.
 * It changes nothing outside a temporary directory, except that root creates /run/sshd.
 */
public final class MinaSshd {
    private static final Provider PROVIDER = new TagmacProvider();
    private static final List<Umac> MACS =
            List.of(
                    new Umac("umac-64@openssh.com", "UMAC-64", 8, false),
                    new Umac("umac-128@openssh.com", "UMAC-128", 16, false),
                    new Umac("umac-64-etm@openssh.com", "UMAC-64", 8, true),
                    new Umac("umac-128-etm@openssh.com", "UMAC-128", 16, true));

    private MinaSshd() {}

    /** The factory of one UMAC. */
    private record Umac(String name, String algorithm, int tagBytes, boolean etm)
            implements MacFactory {
        @Override
        public String getName() {
            return name;
        }

        @Override
        public String getAlgorithm() {
            return algorithm;
        }

        @Override
        public int getBlockSize() {
            return tagBytes;
        }

        @Override
        public int getDefaultBlockSize() {
            return 16;
        }

        @Override
        public boolean isEncryptThenMac() {
            return etm;
        }

        @Override
        public boolean isSupported() {
            return true;
        }

        @Override
        public Mac create() {
            return new PacketMac(this);
        }
    }

    /** Tags packets. MINA passes the sequence number first, which is the nonce. */
    private static final class PacketMac implements Mac {
        private final Umac umac;
        private javax.crypto.Mac mac;
        private SecretKeySpec key;

        PacketMac(Umac umac) {
            this.umac = umac;
        }

        @Override
        public void init(byte[] bytes) throws GeneralSecurityException {
            key = new SecretKeySpec(bytes, 0, 16, umac.algorithm);
            mac = javax.crypto.Mac.getInstance(umac.algorithm, PROVIDER);
        }

        @Override
        public void updateUInt(long sequence) {
            byte[] nonce = ByteBuffer.allocate(8).putLong(sequence & 0xffff_ffffL).array();
            try {
                mac.init(key, new IvParameterSpec(nonce));
            } catch (GeneralSecurityException e) {
                throw new IllegalStateException(e);
            }
        }

        @Override
        public void update(byte[] buffer, int start, int length) {
            mac.update(buffer, start, length);
        }

        @Override
        public void doFinal(byte[] buffer, int offset) throws Exception {
            mac.doFinal(buffer, offset);
        }

        @Override
        public String getAlgorithm() {
            return umac.algorithm;
        }

        @Override
        public int getBlockSize() {
            return umac.tagBytes;
        }

        @Override
        public int getDefaultBlockSize() {
            return umac.getDefaultBlockSize();
        }

        @Override
        public boolean isEncryptThenMac() {
            return umac.etm;
        }
    }

    private static void run(Path directory) throws Exception {
        KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
        generator.initialize(256);
        KeyPair user = generator.generateKeyPair();
        Path hostKey = directory.resolve("host_key");
        Process keygen =
                new ProcessBuilder(
                                "ssh-keygen", "-q", "-t", "ecdsa", "-N", "", "-f", hostKey.toString())
                        .inheritIO()
                        .start();
        if (keygen.waitFor() != 0) {
            throw new IOException("ssh-keygen failed");
        }
        Files.writeString(
                directory.resolve("authorized_keys"), PublicKeyEntry.toString(user.getPublic()) + "\n");
        String names = String.join(",", MACS.stream().map(Umac::name).toList());
        Files.writeString(
                directory.resolve("config"),
                """
                HostKey %s
                AuthorizedKeysFile %s/authorized_keys
                PidFile none
                UsePAM no
                StrictModes no
                PasswordAuthentication no
                PermitRootLogin prohibit-password
                Ciphers aes256-ctr
                MACs %s
                """
                        .formatted(hostKey, directory, names));
        if (System.getProperty("user.name").equals("root")) {
            // The directory that sshd, as root, uses to confine its unprivileged process.
            Files.createDirectories(
                    Path.of("/run/sshd"),
                    PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwxr-xr-x")));
        }
        String host = Files.readString(directory.resolve("host_key.pub")).split(" ")[1];
        int tries = 0;
        // If sshd ends, another process may have taken the port.
        while (!connectAll(directory, user, host)) {
            if (++tries == 10) {
                throw new IOException("sshd ended");
            }
        }
    }

    /** Connects with each MAC to a new sshd. Returns false if sshd ended before it listened. */
    private static boolean connectAll(Path directory, KeyPair user, String host) throws Exception {
        int port;
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = free.getLocalPort();
        }
        Process sshd =
                new ProcessBuilder(
                                "/usr/sbin/sshd", "-D", "-e", "-f", directory + "/config",
                                "-o", "ListenAddress=127.0.0.1:" + port)
                        .redirectErrorStream(true)
                        .start();
        try {
            BufferedReader log = sshd.inputReader();
            for (String line = log.readLine(); ; line = log.readLine()) {
                if (line == null) {
                    return false;
                }
                if (line.contains("Server listening")) {
                    break;
                }
            }
            Thread rest = new Thread(() -> readRest(log));
            rest.setDaemon(true);
            rest.start();
            for (Umac umac : MACS) {
                connect(umac, port, user, host);
            }
            return true;
        } finally {
            sshd.destroy();
            sshd.waitFor();
        }
    }

    /** Reads the log until sshd ends, so that its pipe never fills. */
    private static void readRest(BufferedReader log) {
        try {
            while (log.readLine() != null) {}
        } catch (IOException e) {
            // The pipe is closed with sshd.
        }
    }

    private static void connect(Umac umac, int port, KeyPair user, String host) throws Exception {
        byte[] data = new byte[1 << 20];
        new Random().nextBytes(data);
        try (SshClient client = SshClient.setUpDefaultClient()) {
            client.setMacFactories(List.<NamedFactory<Mac>>of(umac));
            client.setCipherFactories(List.of(BuiltinCiphers.aes256ctr));
            client.setServerKeyVerifier(
                    (session, address, key) -> PublicKeyEntry.toString(key).contains(host));
            client.start();
            try (ClientSession session =
                    client.connect(System.getProperty("user.name"), "127.0.0.1", port)
                            .verify(20, TimeUnit.MINUTES)
                            .getSession()) {
                session.addPublicKeyIdentity(user);
                session.auth().verify(20, TimeUnit.MINUTES);
                ByteArrayOutputStream out = new ByteArrayOutputStream();
                try (ChannelExec channel = session.createExecChannel("cat")) {
                    channel.setIn(new ByteArrayInputStream(data));
                    channel.setOut(out);
                    channel.open().verify(20, TimeUnit.MINUTES);
                    channel.waitFor(EnumSet.of(ClientChannelEvent.CLOSED), TimeUnit.MINUTES.toMillis(20));
                }
                String used = session.getNegotiatedKexParameter(KexProposalOption.C2SMAC);
                if (!used.equals(umac.name) || !Arrays.equals(data, out.toByteArray())) {
                    throw new IOException(used + ": " + out.size() + " bytes came back");
                }
                System.out.println(used + ": 1 MiB there and back");
            }
        }
    }

    /** Runs the example. */
    public static void main(String[] args) throws Exception {
        Path directory = Files.createTempDirectory("mina-sshd-");
        try {
            run(directory);
        } finally {
            try (Stream<Path> files = Files.walk(directory)) {
                for (Path path : files.sorted(Comparator.reverseOrder()).toList()) {
                    Files.delete(path);
                }
            }
        }
    }
}
