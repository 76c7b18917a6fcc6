package org.tagmac;

import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.security.InvalidAlgorithmParameterException;
import java.security.InvalidKeyException;
import java.security.Key;
import java.security.spec.AlgorithmParameterSpec;
import java.util.Arrays;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.crypto.MacSpi;
import javax.crypto.SecretKey;
import javax.crypto.spec.IvParameterSpec;

/**
 * The engine of {@code javax.crypto.Mac}. Messages up to {@link #BUFFER} bytes are collected here
 * and tagged in one native call.
 *
 * <p>The methods are synchronized: a Mac is for one thread, and two of them must not mix up the
 * buffer of one message with the nonce of another.
 */
final class TagmacMac extends MacSpi implements Cloneable {
    private static final int BUFFER = 1024;
    private static final byte[] NO_NONCE = {};

    private final Algorithm algorithm;
    private Handle handle;
    private byte[] buffer;
    private int buffered;
    /** Whether the message was longer than the buffer, so that the native context has its start. */
    private boolean streaming;
    private boolean initialised;
    private int tagBits;
    private byte[] nonce = NO_NONCE;
    /** Whether a tag was made under the nonce, by this object or a clone. */
    private AtomicBoolean nonceUsed = new AtomicBoolean();

    TagmacMac(Algorithm algorithm) {
        this.algorithm = algorithm;
        tagBits = algorithm.maxTagBits();
    }

    @Override
    protected synchronized int engineGetMacLength() {
        return (tagBits + 7) / 8;
    }

    @Override
    protected synchronized void engineInit(Key key, AlgorithmParameterSpec spec)
            throws InvalidKeyException, InvalidAlgorithmParameterException {
        byte[] newNonce = NO_NONCE;
        int bits = 0;
        if (spec instanceof IvParameterSpec iv) {
            newNonce = iv.getIV();
        } else if (spec instanceof TagmacParameterSpec own) {
            newNonce = own.getNonce();
            bits = own.getTagBits();
        } else if (spec != null) {
            throw new InvalidAlgorithmParameterException(
                    "expected IvParameterSpec or TagmacParameterSpec, found "
                            + spec.getClass().getName());
        }
        if (bits == 0) {
            bits = algorithm.maxTagBits();
        }
        checkParameters(newNonce, bits);
        if (!(key instanceof SecretKey)) {
            throw new InvalidKeyException("expected a SecretKey");
        }
        byte[] bytes = key.getEncoded();
        if (bytes == null) {
            throw new InvalidKeyException("the key has no encoded form");
        }
        boolean sameKey;
        try {
            checkKey(bytes.length);
            boolean before = initialised;
            // If the call fails, nothing is initialised.
            initialised = false;
            buffered = 0;
            streaming = false;
            if (handle == null) {
                handle = new Handle(this, Native.contextNew(), Native::contextFree);
            }
            sameKey = Native.contextInit(handle.get(), algorithm.index(), bytes, bits) && before;
        } catch (IllegalArgumentException e) {
            throw new InvalidKeyException(e.getMessage(), e);
        } finally {
            Arrays.fill(bytes, (byte) 0);
            Reference.reachabilityFence(this);
        }
        if (sameKey && bits == tagBits && algorithm.needsNonce() && Arrays.equals(nonce, newNonce)
                && nonceUsed.get()) {
            // The key stays prepared, for init with another nonce.
            initialised = true;
            throw new InvalidAlgorithmParameterException(
                    "the nonce was used for the last message; use each nonce once");
        }
        initialised = true;
        tagBits = bits;
        nonce = newNonce;
        nonceUsed = new AtomicBoolean();
    }

    private void checkParameters(byte[] newNonce, int bits)
            throws InvalidAlgorithmParameterException {
        int least = algorithm.minNonceBytes();
        int most = algorithm.maxNonceBytes();
        if (newNonce.length < least || newNonce.length > most) {
            throw new InvalidAlgorithmParameterException(
                    most == 0
                            ? algorithm + " needs no nonce, found one of " + newNonce.length + " bytes"
                            : "expected a nonce of " + least + " to " + most + " bytes, found "
                                    + newNonce.length);
        }
        if (bits < algorithm.minTagBits() || bits > algorithm.maxTagBits()
                || bits % algorithm.tagBitsStep() != 0) {
            throw new InvalidAlgorithmParameterException(
                    "expected tags of " + algorithm.minTagBits() + " to " + algorithm.maxTagBits()
                            + " bits in steps of " + algorithm.tagBitsStep() + ", found " + bits);
        }
    }

    private void checkKey(int length) throws InvalidKeyException {
        if (length < algorithm.minKeyBytes() || length > algorithm.maxKeyBytes()) {
            throw new InvalidKeyException(
                    "expected a key of " + algorithm.minKeyBytes() + " to "
                            + algorithm.maxKeyBytes() + " bytes, found " + length);
        }
    }

    private void checkReady() {
        if (!initialised) {
            throw new IllegalStateException("the Mac is not initialised");
        }
        if (nonceUsed.get()) {
            throw new IllegalStateException(
                    "the nonce was used for the last message; call init with another one");
        }
    }

    @Override
    protected synchronized void engineUpdate(byte input) {
        checkReady();
        if (streaming || buffered == BUFFER) {
            byte[] one = {input};
            append(one, 0, 1);
        } else {
            buffer()[buffered++] = input;
        }
    }

    @Override
    protected synchronized void engineUpdate(byte[] input, int offset, int length) {
        checkReady();
        append(input, offset, length);
    }

    @Override
    protected synchronized void engineUpdate(ByteBuffer input) {
        checkReady();
        if (input.isDirect() && (streaming || input.remaining() > BUFFER - buffered)) {
            Bytes.touch(input);
            try {
                begin();
                Native.contextUpdateBuffer(
                        handle.get(),
                        Bytes.nullIfEmpty(nonce),
                        input,
                        input.position(),
                        input.remaining());
            } finally {
                Reference.reachabilityFence(this);
            }
            input.position(input.limit());
        } else if (input.isDirect()) {
            int size = input.remaining();
            input.get(buffer(), buffered, size);
            buffered += size;
        } else {
            Bytes bytes = Bytes.of(input);
            append(bytes.array(), bytes.at(), bytes.size());
            input.position(input.limit());
        }
    }

    private byte[] buffer() {
        if (buffer == null) {
            buffer = new byte[BUFFER];
        }
        return buffer;
    }

    private void append(byte[] input, int offset, int length) {
        if (!streaming && length <= BUFFER - buffered) {
            System.arraycopy(input, offset, buffer(), buffered, length);
            buffered += length;
            return;
        }
        // A buffer may have changed since its range was read.
        Objects.checkFromIndexSize(offset, length, input.length);
        try {
            begin();
            Native.contextUpdate(handle.get(), Bytes.nullIfEmpty(nonce), input, offset, length);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /** Passes on what is buffered. */
    private void begin() {
        if (!streaming) {
            streaming = true;
            if (buffered > 0) {
                Native.contextUpdate(handle.get(), Bytes.nullIfEmpty(nonce), buffer, 0, buffered);
                buffered = 0;
            }
        }
    }

    @Override
    protected synchronized byte[] engineDoFinal() {
        checkReady();
        // Before the tag: of two clones in two threads, one makes a tag.
        if (algorithm.needsNonce() && nonceUsed.getAndSet(true)) {
            checkReady();
        }
        byte[] tag = new byte[(tagBits + 7) / 8];
        try {
            if (streaming) {
                Native.contextFinish(handle.get(), tag);
            } else if (!Foreign.contextTag(handle.get(), nonce, buffer(), 0, buffered, tag)) {
                tagByJni(tag);
            }
        } finally {
            buffered = 0;
            streaming = false;
            Reference.reachabilityFence(this);
        }
        return tag;
    }

    private void tagByJni(byte[] tag) {
        try (Scratch scratch = Scratch.with(nonce, buffer, 0, buffered)) {
            if (scratch != null) {
                Native.contextTagScratch(handle.get(), scratch.index, nonce.length, buffered);
                scratch.get(tag);
            } else {
                Native.contextTag(handle.get(), Bytes.nullIfEmpty(nonce), buffer, 0, buffered, tag);
            }
        }
    }

    /** {@code Mac.doFinal} calls this after each message, and then it needs no lock. */
    @Override
    protected void engineReset() {
        if (buffered > 0 || streaming) {
            dropMessage();
        }
    }

    private synchronized void dropMessage() {
        if (streaming) {
            try {
                Native.contextReset(handle.get());
            } finally {
                Reference.reachabilityFence(this);
            }
        }
        buffered = 0;
        streaming = false;
    }

    /** A clone of a Mac with a nonce shares it: only one of them makes a tag. */
    @Override
    public synchronized Object clone() throws CloneNotSupportedException {
        TagmacMac clone = (TagmacMac) super.clone();
        clone.buffer = buffer == null ? null : buffer.clone();
        if (handle != null) {
            try {
                long fork = Native.contextFork(handle.get());
                clone.handle = new Handle(clone, fork, Native::contextFree);
            } finally {
                Reference.reachabilityFence(this);
            }
        }
        return clone;
    }
}
