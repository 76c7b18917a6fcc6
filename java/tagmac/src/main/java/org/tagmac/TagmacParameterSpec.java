package org.tagmac;

import java.security.spec.AlgorithmParameterSpec;

/**
 * A nonce and the length of the tag, for {@code Mac.init}. If the tag has the longest length, {@link
 * javax.crypto.spec.IvParameterSpec} does too.
 */
public final class TagmacParameterSpec implements AlgorithmParameterSpec {
    private final byte[] nonce;
    private final int tagBits;

    /**
     * Copies the nonce.
     *
     * @param nonce empty if the algorithm needs none
     * @param tagBits the length of the tag in bits; 0 is the longest
     */
    public TagmacParameterSpec(byte[] nonce, int tagBits) {
        this.nonce = nonce.clone();
        this.tagBits = tagBits;
    }

    /** Returns a copy of the nonce. */
    public byte[] getNonce() {
        return nonce.clone();
    }

    /** Returns the length of the tag in bits; 0 is the longest. */
    public int getTagBits() {
        return tagBits;
    }
}
