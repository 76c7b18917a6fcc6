package org.tagmac;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Locale;

/**
 * Loads the native library.
 *
 * <p>The jar has it for each system. It is copied to a new directory that only this user may enter,
 * after its SHA-256 was compared with the one in the class {@code NativeDigests}, and removed once
 * it is loaded.
 */
final class NativeLibrary {
    /** The property for the path of a library that replaces the jar's. */
    static final String PATH = "org.tagmac.library";

    private NativeLibrary() {}

    static void load() {
        String path = System.getProperty(PATH);
        if (path != null) {
            System.load(Path.of(path).toAbsolutePath().toString());
        } else {
            unpack(system());
        }
        String version = new String(Native.version(), StandardCharsets.US_ASCII);
        if (!version.equals(NativeDigests.VERSION)) {
            throw new UnsatisfiedLinkError(
                    "tagmac: the native library has version " + version + ", the classes have "
                            + NativeDigests.VERSION);
        }
    }

    /** Returns the folder of this system, such as linux-x86_64. */
    static String system() {
        String name = System.getProperty("os.name").toLowerCase(Locale.ROOT);
        String arch = System.getProperty("os.arch").toLowerCase(Locale.ROOT);
        String os;
        if (name.startsWith("linux")) {
            os = isMusl() ? "linux-musl" : "linux";
        } else if (name.startsWith("mac")) {
            os = "macos";
        } else if (name.startsWith("windows")) {
            os = "windows";
        } else {
            os = name.replaceAll("[^a-z0-9]", "");
        }
        return switch (arch) {
            case "amd64", "x86_64", "x64" -> os + "-x86_64";
            case "aarch64", "arm64" -> os + "-aarch64";
            default -> os + "-" + arch.replaceAll("[^a-z0-9_]", "");
        };
    }

    /** Returns whether this process runs with musl: its loader is among the mapped files. */
    private static boolean isMusl() {
        try {
            return Files.readString(Path.of("/proc/self/maps"), StandardCharsets.ISO_8859_1)
                    .contains("/ld-musl-");
        } catch (IOException e) {
            return false;
        }
    }

    private static void unpack(String system) {
        String file = System.mapLibraryName("tagmac_java");
        String resource = "native/" + system + "/" + file;
        String digest = NativeDigests.DIGESTS.get(system);
        if (digest == null) {
            throw new UnsatisfiedLinkError(
                    "tagmac: this jar has no native library for " + system + "; build one and set -D"
                            + PATH + " to its path");
        }
        try (InputStream in = NativeLibrary.class.getResourceAsStream(resource)) {
            if (in == null) {
                throw new UnsatisfiedLinkError("tagmac: " + resource + " is missing in the jar");
            }
            byte[] library = in.readAllBytes();
            byte[] found = MessageDigest.getInstance("SHA-256").digest(library);
            if (!MessageDigest.isEqual(found, HexFormat.of().parseHex(digest))) {
                throw new UnsatisfiedLinkError("tagmac: " + resource + " is not the one that was built");
            }
            load(library, file);
        } catch (IOException e) {
            UnsatisfiedLinkError error =
                    new UnsatisfiedLinkError(
                            "tagmac: cannot unpack the native library to "
                                    + System.getProperty("java.io.tmpdir") + "; set -D" + PATH
                                    + " to its path");
            error.initCause(e);
            throw error;
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError(e);
        }
    }

    private static void load(byte[] library, String file) throws IOException {
        // Mode 0700 from the start, and a random name that did not exist.
        Path directory = Files.createTempDirectory("tagmac-");
        Path path = directory.resolve(file);
        try {
            Files.write(path, library, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
            System.load(path.toString());
        } finally {
            delete(path);
            delete(directory);
        }
    }

    /** Deletes now, or at exit: Windows keeps files that are loaded. */
    private static void delete(Path path) {
        try {
            Files.deleteIfExists(path);
        } catch (IOException e) {
            path.toFile().deleteOnExit();
        }
    }
}
