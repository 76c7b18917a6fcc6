package org.tagmac;

import java.security.NoSuchAlgorithmException;
import java.security.Provider;
import java.util.List;
import java.util.Map;

/**
 * All MACs of the library for {@code javax.crypto.Mac}, and generators of their keys.
 *
 * <pre>{@code
 * Security.addProvider(new TagmacProvider());
 * Mac mac = Mac.getInstance("PMAC-AES128");
 * mac.init(new SecretKeySpec(key, "PMAC-AES128"));
 * byte[] tag = mac.doFinal(message);
 * }</pre>
 *
 * <p>A MAC that needs nonces has them in {@link javax.crypto.spec.IvParameterSpec} or {@link
 * TagmacParameterSpec}. After {@code doFinal} such a Mac throws IllegalStateException until it is
 * initialised with another nonce.
 */
public final class TagmacProvider extends Provider {
    /** The name of the provider. */
    public static final String NAME = "tagmac";

    private static final long serialVersionUID = 1;

    /** Makes the provider; loads the native library. */
    public TagmacProvider() {
        super(NAME, NativeDigests.VERSION, "tagmac: PMAC, LightMAC, EliMAC, Poly1305-AES, UMAC");
        for (Algorithm algorithm : Algorithm.all()) {
            putService(new Engine(this, "Mac", algorithm));
            putService(new Engine(this, "KeyGenerator", algorithm));
        }
    }

    private static List<String> aliases(Algorithm algorithm) {
        return algorithm.alias() == null ? List.of() : List.of(algorithm.alias());
    }

    private static final class Engine extends Service {
        private final Algorithm algorithm;

        Engine(Provider provider, String type, Algorithm algorithm) {
            super(
                    provider,
                    type,
                    algorithm.name(),
                    type.equals("Mac") ? TagmacMac.class.getName() : TagmacKeyGenerator.class.getName(),
                    aliases(algorithm),
                    Map.of("SupportedKeyFormats", "RAW"));
            this.algorithm = algorithm;
        }

        @Override
        public Object newInstance(Object parameter) throws NoSuchAlgorithmException {
            if (parameter != null) {
                throw new NoSuchAlgorithmException("MACs of tagmac have no constructor parameter");
            }
            return getType().equals("Mac") ? new TagmacMac(algorithm) : new TagmacKeyGenerator(algorithm);
        }
    }
}
