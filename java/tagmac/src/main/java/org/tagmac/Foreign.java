package org.tagmac;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Array;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * Calls of the native library with short messages by the Foreign Function & Memory API of Java 22
 * and later. They pass arrays by address, and take about half the time of JNI.
 *
 * <p>The JVM cannot stop a thread during such a call. So the library refuses a call instead of
 * waiting or throwing, and the caller uses JNI.
 *
 * <p>The JVM needs a tenth of a second or more to prepare the API. So that happens in the
 * background, after a million calls of JNI. The classes are compiled for Java 17 and find the API by
 * reflection.
 */
final class Foreign {
    /** The longest message in bytes. */
    static final int MAX_MESSAGE = 1024;

    private static final int REFUSED = -1;

    /** The number of calls before the API is prepared; 0 after that. Threads may lose a count. */
    static int left = Runtime.version().feature() < 22 ? 0 : 1 << 20;
    /** Whether {@link Calls} can be used. */
    static boolean ready;

    private Foreign() {}

    /** Constants, so that the JVM compiles the calls. */
    private static final class Calls {
        static final MethodHandle KEY_TAG = find("tagmac_java_key_tag");
        static final MethodHandle KEY_MATCHES = find("tagmac_java_key_matches");
        static final MethodHandle CONTEXT_TAG = find("tagmac_java_context_tag");
    }

    /** Makes later calls use the API, if this JVM has and allows it. */
    static void prepare() {
        ready = Calls.KEY_TAG != null && Calls.KEY_MATCHES != null && Calls.CONTEXT_TAG != null;
    }

    /** Returns the handle of a function in crates/java/src/foreign.rs; null if it cannot be used. */
    private static MethodHandle find(String function) {
        try {
            // Loads the library. From Java 24 on, that enables native access or fails. Without it, the
            // API would print a warning.
            Native.version();
            Object module = Foreign.class.getModule();
            if (!(boolean) Module.class.getMethod("isNativeAccessEnabled").invoke(module)) {
                return null;
            }
            Class<?> lookup = type("SymbolLookup");
            Class<?> segment = type("MemorySegment");
            Class<?> descriptor = type("FunctionDescriptor");
            Class<?> linker = type("Linker");
            Class<?> option = type("Linker$Option");

            Object library = lookup.getMethod("loaderLookup").invoke(null);
            Object found = lookup.getMethod("find", String.class).invoke(library, function);
            Object number = layout("JAVA_INT");
            Object array = layout("ADDRESS");
            Object[] parameters = {
                layout("JAVA_LONG"), array, number, array, number, number, array, number
            };
            Object[] typed = (Object[]) Array.newInstance(type("MemoryLayout"), parameters.length);
            System.arraycopy(parameters, 0, typed, 0, parameters.length);
            Object signature =
                    descriptor
                            .getMethod("of", type("MemoryLayout"), typed.getClass())
                            .invoke(null, number, typed);
            Object[] options = (Object[]) Array.newInstance(option, 1);
            options[0] = option.getMethod("critical", boolean.class).invoke(null, true);
            Object call =
                    linker.getMethod("downcallHandle", segment, descriptor, options.getClass())
                            .invoke(
                                    linker.getMethod("nativeLinker").invoke(null),
                                    ((Optional<?>) found).orElseThrow(),
                                    signature,
                                    options);
            MethodHandle address =
                    MethodHandles.publicLookup()
                            .findStatic(
                                    segment, "ofArray", MethodType.methodType(segment, byte[].class));
            return MethodHandles.filterArguments(
                    (MethodHandle) call, 1, address, null, address, null, null, address);
        } catch (ReflectiveOperationException | RuntimeException e) {
            return null;
        }
    }

    private static Class<?> type(String name) throws ClassNotFoundException {
        return Class.forName("java.lang.foreign." + name);
    }

    private static Object layout(String name) throws ReflectiveOperationException {
        return type("ValueLayout").getField(name).get(null);
    }

    private static boolean accepts(byte[] nonce, byte[] message, int at, int size) {
        if (!ready) {
            if (left > 0 && --left == 0) {
                CompletableFuture.runAsync(Foreign::prepare);
            }
            return false;
        }
        // The library cannot check the range.
        return nonce != null
                && size <= MAX_MESSAGE
                && Objects.checkFromIndexSize(at, size, message.length) == at;
    }

    /** Writes the tag of a message under a key. Returns false if JNI must do it. */
    static boolean keyTag(long key, byte[] nonce, byte[] message, int at, int size, byte[] tag) {
        if (!accepts(nonce, message, at, size)) {
            return false;
        }
        try {
            return 1 == (int) Calls.KEY_TAG.invokeExact(
                    key, nonce, nonce.length, message, at, size, tag, tag.length);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    /** Checks the tag of a message under a key: 1 if it is right, 0 if not, -1 if JNI must do it. */
    static int keyMatches(
            long key, byte[] nonce, byte[] message, int at, int size, byte[] tag) {
        if (tag == null || !accepts(nonce, message, at, size)) {
            return REFUSED;
        }
        try {
            return (int) Calls.KEY_MATCHES.invokeExact(
                    key, nonce, nonce.length, message, at, size, tag, tag.length);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    /** Writes the tag of a message under a context's key. Returns false if JNI must do it. */
    static boolean contextTag(
            long context, byte[] nonce, byte[] message, int at, int size, byte[] tag) {
        if (!accepts(nonce, message, at, size)) {
            return false;
        }
        try {
            return 1 == (int) Calls.CONTEXT_TAG.invokeExact(
                    context, nonce, nonce.length, message, at, size, tag, tag.length);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    /** The functions throw nothing. The JVM may, as when the stack is full. */
    private static Error unexpected(Throwable thrown) {
        return thrown instanceof Error error ? error : new AssertionError(thrown);
    }
}
