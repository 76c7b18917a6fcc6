package org.tagmac.spark;

import org.apache.spark.sql.SparkSessionExtensions;
import org.apache.spark.sql.catalyst.FunctionIdentifier;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.ExpressionInfo;
import scala.Function1;
import scala.Tuple3;
import scala.collection.Seq;
import scala.runtime.AbstractFunction1;
import scala.runtime.BoxedUnit;

/**
 * Adds {@code tagmac_tag} and {@code tagmac_verify} to Spark SQL. Spark creates it if {@code
 * spark.sql.extensions} names it.
 */
public final class TagmacExtensions extends AbstractFunction1<SparkSessionExtensions, BoxedUnit> {
    static final String TAG = "tagmac_tag";
    static final String VERIFY = "tagmac_verify";

    /** Called by Spark. */
    public TagmacExtensions() {}

    @Override
    public BoxedUnit apply(SparkSessionExtensions extensions) {
        inject(
                extensions,
                TAG,
                "_FUNC_(value, key_ref[, nonce][, options]) - Returns the tag of a binary value, or of the"
                        + " UTF-8 encoding of a string; null for null.");
        inject(
                extensions,
                VERIFY,
                "_FUNC_(value, tag, key_ref[, nonce][, options]) - Returns true if the tag of the value"
                        + " is right; null if one of them is null.");
        TagColumnsRule.inject(extensions);
        return BoxedUnit.UNIT;
    }

    /** The type of sequences differs between Scala 2.12 and 2.13, so the builder has no type here. */
    @SuppressWarnings({"unchecked", "rawtypes"})
    private static void inject(SparkSessionExtensions extensions, String name, String usage) {
        Function1 builder = arguments -> Call.parse(name, (Seq<Expression>) arguments);
        ExpressionInfo info =
                new ExpressionInfo(
                        TagmacExpression.class.getName(), null, name, usage, "", "", "", "misc_funcs",
                        "0.1.0", "", "scala_udf");
        extensions.injectFunction(new Tuple3(new FunctionIdentifier(name), info, builder));
    }
}
