package org.tagmac.spark;

import org.apache.spark.sql.Column;
import org.apache.spark.sql.functions;

/**
 * The functions of {@link TagmacExtensions} for DataFrames.
 *
 * <pre>{@code
 * Column tag = TagmacFunctions.tag(col("text"), "file:/etc/tagmac/my.key");
 * }</pre>
 *
 * <p>A key reference is the text that {@link org.tagmac.KeyRef#parse} reads.
 */
public final class TagmacFunctions {
    private TagmacFunctions() {}

    /** Returns the tags of a binary or string column; null for null. */
    public static Column tag(Column value, String keyRef) {
        return functions.call_udf(TagmacExtensions.TAG, value, functions.lit(keyRef));
    }

    /** As {@link #tag(Column, String)}, with a column of nonces. */
    public static Column tag(Column value, String keyRef, Column nonce) {
        return functions.call_udf(TagmacExtensions.TAG, value, functions.lit(keyRef), nonce);
    }

    /** Returns whether the tags of a binary or string column are right; null if one is null. */
    public static Column verify(Column value, Column tag, String keyRef) {
        return functions.call_udf(TagmacExtensions.VERIFY, value, tag, functions.lit(keyRef));
    }

    /** As {@link #verify(Column, Column, String)}, with a column of nonces. */
    public static Column verify(Column value, Column tag, String keyRef, Column nonce) {
        return functions.call_udf(TagmacExtensions.VERIFY, value, tag, functions.lit(keyRef), nonce);
    }
}
