import com.google.crypto.tink.KeysetHandle;
import com.google.crypto.tink.RegistryConfiguration;
import com.google.crypto.tink.StreamingAead;
import com.google.crypto.tink.streamingaead.PredefinedStreamingAeadParameters;
import com.google.crypto.tink.streamingaead.StreamingAeadConfig;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * Reads of 4 KiB at random places of a file that Google Tink encrypted with AES256_GCM_HKDF_4KB.
 * `bench reads` starts it if TINK_CLASSPATH has Tink's class path:
 *
 * <pre>
 * mvn -q -f bench/tink dependency:build-classpath -Dmdep.outputFile=/tmp/tink
 * TINK_CLASSPATH=$(cat /tmp/tink) cargo run --release -p bench reads
 * </pre>
 *
 * Arguments: the file, a new file for its ciphertext, and the reads of a round. It prints `ready`. Then
 * each line of input is the seed of a round, and it prints the round's nanoseconds of processor time.
 */
class Reads {
  static final int BYTES = 4 << 10;
  /** Enough for the compiler of the virtual machine. */
  static final int WARM_ROUNDS = 20;

  public static void main(String[] words) throws Exception {
    StreamingAeadConfig.register();
    KeysetHandle keys =
        KeysetHandle.generateNew(PredefinedStreamingAeadParameters.AES256_GCM_HKDF_4KB);
    StreamingAead aead = keys.getPrimitive(RegistryConfiguration.get(), StreamingAead.class);
    int reads = Integer.parseInt(words[2]);
    Path sealed = Path.of(words[1]);
    try (FileChannel plain = FileChannel.open(Path.of(words[0]))) {
      try (var out = FileChannel.open(sealed, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
          var encrypting = aead.newEncryptingChannel(out, new byte[0])) {
        ByteBuffer buffer = ByteBuffer.allocate(1 << 20);
        while (plain.read(buffer.clear()) > 0) {
          buffer.flip();
          while (buffer.hasRemaining()) {
            encrypting.write(buffer);
          }
        }
      }
      try (FileChannel file = FileChannel.open(sealed);
          SeekableByteChannel open = aead.newSeekableDecryptingChannel(file, new byte[0])) {
        for (int seed = 1; seed <= WARM_ROUNDS; seed++) {
          round(open, plain.size(), seed, reads, plain);
        }
        System.out.println("ready");
        var input = new BufferedReader(new InputStreamReader(System.in));
        var clock = ManagementFactory.getThreadMXBean();
        for (String seed = input.readLine(); seed != null; seed = input.readLine()) {
          long start = clock.getCurrentThreadCpuTime();
          round(open, plain.size(), Long.parseLong(seed), reads, null);
          System.out.println(clock.getCurrentThreadCpuTime() - start);
        }
      }
    }
  }

  /** Makes the reads of a round, and compares them with the plain file unless it is null. */
  static void round(SeekableByteChannel open, long size, long seed, int reads, FileChannel plain)
      throws Exception {
    ByteBuffer buffer = ByteBuffer.allocate(BYTES);
    for (int n = 0; n < reads; n++) {
      // The same offsets as in reads.rs.
      seed = seed * 6364136223846793005L + 1442695040888963407L;
      long at = (seed >>> 33) % (size / BYTES) * BYTES;
      open.position(at);
      buffer.clear();
      while (buffer.hasRemaining() && open.read(buffer) >= 0) {}
      if (plain != null) {
        ByteBuffer expected = ByteBuffer.allocate(BYTES);
        while (expected.hasRemaining()) {
          plain.read(expected, at + expected.position());
        }
        if (!buffer.flip().equals(expected.flip())) {
          throw new IllegalStateException("wrong bytes at " + at);
        }
      }
    }
  }
}
