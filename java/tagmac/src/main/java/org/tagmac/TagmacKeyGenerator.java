package org.tagmac;

import java.security.InvalidAlgorithmParameterException;
import java.security.InvalidParameterException;
import java.security.SecureRandom;
import java.security.spec.AlgorithmParameterSpec;
import java.util.Arrays;
import javax.crypto.KeyGeneratorSpi;
import javax.crypto.SecretKey;
import javax.crypto.spec.SecretKeySpec;

/** The engine of {@code javax.crypto.KeyGenerator}. */
final class TagmacKeyGenerator extends KeyGeneratorSpi {
    private final Algorithm algorithm;
    private int keyBytes;
    private SecureRandom random;

    TagmacKeyGenerator(Algorithm algorithm) {
        this.algorithm = algorithm;
        keyBytes = algorithm.newKeyBytes();
    }

    @Override
    protected void engineInit(SecureRandom random) {
        this.random = random;
        keyBytes = algorithm.newKeyBytes();
    }

    @Override
    protected void engineInit(AlgorithmParameterSpec params, SecureRandom random)
            throws InvalidAlgorithmParameterException {
        throw new InvalidAlgorithmParameterException("key generators of tagmac have no parameters");
    }

    @Override
    protected void engineInit(int keySize, SecureRandom random) {
        int bytes = keySize / 8;
        // Keys of 64 KiB are longer than any use needs.
        int most = Math.min(algorithm.maxKeyBytes(), 1 << 16);
        if (keySize % 8 != 0 || bytes < Math.max(algorithm.minKeyBytes(), 1) || bytes > most) {
            throw new InvalidParameterException(algorithm + " has no keys of " + keySize + " bits");
        }
        keyBytes = bytes;
        this.random = random;
    }

    @Override
    protected SecretKey engineGenerateKey() {
        if (random == null) {
            random = new SecureRandom();
        }
        byte[] key = new byte[keyBytes];
        try {
            random.nextBytes(key);
            return new SecretKeySpec(key, algorithm.name());
        } finally {
            Arrays.fill(key, (byte) 0);
        }
    }
}
