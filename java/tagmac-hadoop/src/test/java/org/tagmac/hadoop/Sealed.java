package org.tagmac.hadoop;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileSystem;

/** A directory that the command seals. */
final class Sealed {
    static final String NAME = "photos";

    final Path folder;
    final Path root;
    final Path key;
    final Path manifest;

    Sealed(Path folder) throws IOException {
        this.folder = folder;
        root = folder.resolve("root");
        key = folder.resolve("my.key");
        manifest = folder.resolve("photos.manifest");
        Files.createDirectories(root);
        run("keygen", "-o", key.toString());
    }

    /** Writes random bytes to a file and returns them. */
    byte[] write(String name, int size) throws IOException {
        byte[] bytes = new byte[size];
        new Random(size).nextBytes(bytes);
        Files.createDirectories(root.resolve(name).getParent());
        Files.write(root.resolve(name), bytes);
        return bytes;
    }

    void seal(String... options) throws IOException {
        List<String> arguments = new ArrayList<>(List.of("seal", "-k", key.toString()));
        arguments.addAll(List.of(options));
        arguments.addAll(List.of("--leaves", root.toString(), "-o", manifest.toString()));
        run(arguments.toArray(String[]::new));
    }

    static void run(String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of(System.getProperty("tagmac.command")));
        command.addAll(List.of(arguments));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        try {
            String output = new String(process.getInputStream().readAllBytes());
            if (!process.waitFor(5, TimeUnit.MINUTES) || process.exitValue() != 0) {
                throw new IOException(command + ": " + output);
            }
        } catch (InterruptedException e) {
            throw new IOException(e);
        }
    }

    /** Changes one byte of a file. */
    static void damage(Path file, long offset) throws IOException {
        byte[] bytes = Files.readAllBytes(file);
        bytes[(int) offset] ^= 1;
        Files.write(file, bytes);
    }

    Configuration configuration() {
        Configuration conf = new Configuration(false);
        conf.set("fs.defaultFS", "file:///");
        conf.set("fs.tagmac.photos.root", root.toUri().toString());
        conf.set("fs.tagmac.photos.manifest", manifest.toString());
        conf.set("fs.tagmac.photos.key", "file:" + key);
        return conf;
    }

    FileSystem open() throws IOException {
        return open(configuration());
    }

    static FileSystem open(Configuration conf) throws IOException {
        return FileSystem.newInstance(URI.create("tagmac://photos/"), conf);
    }

    static org.apache.hadoop.fs.Path path(String name) {
        return new org.apache.hadoop.fs.Path("tagmac", NAME, "/" + name);
    }

    static byte[] read(FileSystem fs, String name) throws IOException {
        try (FSDataInputStream in = fs.open(path(name))) {
            return in.readAllBytes();
        }
    }
}
