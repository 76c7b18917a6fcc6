package org.tagmac.spark;

import java.io.IOException;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.ExprUtils;
import org.apache.spark.sql.types.BinaryType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.NullType;
import org.apache.spark.sql.types.StringType;
import org.tagmac.Algorithm;
import org.tagmac.KeyRef;
import org.tagmac.TagmacKey;
import scala.collection.Seq;

/**
 * The constant part of a call: the function and the key's reference. The driver resolves the
 * reference and pins it to that key. The plan contains the reference, and never the key.
 *
 * @param failure the reason why the call is not valid; null if it is valid
 */
record Call(String function, KeyRef ref, boolean hasNonce, String failure) implements Serializable {
    /** Spark's properties for environment variables. The UI and event logs show all of them. */
    private static final List<String> SHOWN =
            List.of(
                    "spark.executorEnv.",
                    "spark.driverEnv.",
                    "spark.yarn.appMasterEnv.",
                    "spark.kubernetes.driverEnv.");

    /** Makes the expression of a call from its arguments. */
    static TagmacExpression parse(String function, Seq<Expression> arguments) {
        List<Expression> given = Lists.toJava(arguments);
        int inputs = function.equals(TagmacExtensions.VERIFY) ? 2 : 1;
        List<Expression> used = new ArrayList<>(given.subList(0, Math.min(inputs, given.size())));
        Call call;
        try {
            call = parse(function, inputs, given, used);
        } catch (IOException | IllegalArgumentException e) {
            call = new Call(function, null, false, e.getMessage());
        }
        return new TagmacExpression(Lists.of(used), call);
    }

    private static Call parse(
            String function, int inputs, List<Expression> given, List<Expression> used)
            throws IOException {
        int extra = given.size() - inputs - 1;
        if (extra < 0 || extra > 2) {
            String values = inputs == 2 ? "value, tag" : "value";
            throw new IllegalArgumentException(
                    "expected " + function + "(" + values + ", key_ref[, nonce][, options]), found "
                            + given.size() + " arguments");
        }
        checkValue(used.get(0).dataType());
        if (inputs == 2) {
            checkBinary("tag", used.get(1).dataType());
        }
        KeyRef ref = KeyRef.parse(constant(given.get(inputs)));
        boolean hasOptions = extra > 0 && last(given).dataType() instanceof MapType;
        if (hasOptions) {
            ref = withOptions(ref, last(given));
        }
        Expression nonce = extra > (hasOptions ? 1 : 0) ? given.get(inputs + 1) : null;
        if (nonce != null) {
            checkBinary("nonce", nonce.dataType());
            used.add(nonce);
        }
        return pinned(function, ref, nonce != null);
    }

    private static Call pinned(String function, KeyRef ref, boolean hasNonce) throws IOException {
        if (ref.kind().equals("env")) {
            checkNotShown(ref.where());
        }
        TagmacKey key = ref.resolve();
        Algorithm algorithm = key.algorithm();
        if (algorithm.needsNonce() && !hasNonce) {
            throw new IllegalArgumentException(
                    algorithm + " needs a nonce for each value; pass a column of nonces after the key");
        }
        if (hasNonce && !algorithm.needsNonce()) {
            throw new IllegalArgumentException(algorithm + " has no nonces; remove the argument");
        }
        KeyRef pinned = ref.withId(key.id()).withAlgorithm(algorithm.name());
        return new Call(function, pinned, hasNonce, null);
    }

    private static void checkValue(DataType type) {
        if (!(type instanceof BinaryType || type instanceof StringType || type instanceof NullType)) {
            throw new IllegalArgumentException(
                    "expected a binary or string column, found " + type.simpleString()
                            + "; cast it, so that its bytes are certain");
        }
    }

    private static void checkBinary(String what, DataType type) {
        if (!(type instanceof BinaryType || type instanceof NullType)) {
            throw new IllegalArgumentException(
                    what + ": expected a binary column, found " + type.simpleString());
        }
    }

    private static String constant(Expression ref) {
        Object text = ref.foldable() && ref.dataType() instanceof StringType ? ref.eval(null) : null;
        if (text == null) {
            throw new IllegalArgumentException(
                    "key reference: expected a constant string, such as 'file:/etc/tagmac/my.key'");
        }
        return text.toString();
    }

    private static Expression last(List<Expression> all) {
        return all.get(all.size() - 1);
    }

    private static KeyRef withOptions(KeyRef ref, Expression map) {
        for (var option : Lists.toJava(ExprUtils.convertToMapData(map))) {
            String value = option._2();
            ref =
                    switch (option._1()) {
                        case "id" -> ref.withId(value);
                        case "alg" -> ref.withAlgorithm(value);
                        case "tag_bits" -> ref.withTagBits(number(value));
                        default ->
                                throw new IllegalArgumentException(
                                        "options: expected id, alg or tag_bits, found " + option._1());
                    };
        }
        return ref;
    }

    private static int number(String text) {
        try {
            return Integer.parseInt(text);
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException("tag_bits: expected a number, found " + text);
        }
    }

    /** Rejects a variable that a property of Spark sets, because properties are public. */
    private static void checkNotShown(String variable) {
        SparkSession spark = SparkSession.getActiveSession().getOrElse(() -> null);
        if (spark == null) {
            return;
        }
        for (String start : SHOWN) {
            if (spark.sparkContext().getConf().contains(start + variable)) {
                throw new IllegalArgumentException(
                        start + variable + ": Spark's event logs and UI show this property, so its key is"
                                + " not secret; use file: or secret:, or set it where the executors start");
            }
        }
    }

    /** Returns the reference, for plans. */
    @Override
    public String toString() {
        return ref == null ? "?" : ref.toString();
    }
}
