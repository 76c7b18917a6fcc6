package org.tagmac;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.lang.reflect.InvocationTargetException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

final class NativeLibraryTest {
    private static final URL CLASSES =
            TagmacKey.class.getProtectionDomain().getCodeSource().getLocation();

    /** Loads the classes again. Resources that end in {@code changed} have another byte at the end. */
    private static final class Loader extends URLClassLoader {
        private final String changed;

        Loader(String changed) {
            super(new URL[] {CLASSES}, ClassLoader.getPlatformClassLoader());
            this.changed = changed;
        }

        @Override
        public InputStream getResourceAsStream(String name) {
            try (InputStream in = super.getResourceAsStream(name)) {
                byte[] bytes = in.readAllBytes();
                if (name.endsWith(changed)) {
                    bytes[bytes.length - 1] ^= 1;
                }
                return new ByteArrayInputStream(bytes);
            } catch (java.io.IOException e) {
                throw new java.io.UncheckedIOException(e);
            }
        }

        int algorithms() throws Throwable {
            try {
                Object all = loadClass("org.tagmac.Algorithm").getMethod("all").invoke(null);
                return ((List<?>) all).size();
            } catch (InvocationTargetException e) {
                throw e.getCause();
            }
        }
    }

    @Test
    void eachClassLoaderHasItsLibraryAndNoFileIsLeft() throws Throwable {
        for (int i = 0; i < 2; i++) {
            try (Loader loader = new Loader("none")) {
                assertEquals(Algorithm.all().size(), loader.algorithms());
            }
        }
        try (Stream<Path> left = Files.list(Path.of(System.getProperty("java.io.tmpdir")))) {
            List<Path> found = left.filter(path -> path.getFileName().toString().startsWith("tagmac-")).toList();
            assertEquals(List.of(), found);
        }
    }

    @Test
    void aChangedLibraryIsNotLoaded() throws Throwable {
        try (Loader loader = new Loader(System.mapLibraryName("tagmac_java"))) {
            Throwable error = assertThrows(Throwable.class, loader::algorithms);
            assertInstanceOf(UnsatisfiedLinkError.class, error);
            assertTrue(error.getMessage().contains("is not the one that was built"), error.getMessage());
        }
    }

    @Test
    void aNamedLibraryIsLoaded() throws Throwable {
        System.setProperty(NativeLibrary.PATH, "/nonexistent/library");
        try (Loader loader = new Loader("none")) {
            Throwable error = assertThrows(Throwable.class, loader::algorithms);
            assertTrue(error.getMessage().contains("/nonexistent/library"), error.getMessage());
        } finally {
            System.clearProperty(NativeLibrary.PATH);
        }
    }
}
