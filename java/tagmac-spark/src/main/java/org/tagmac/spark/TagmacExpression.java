package org.tagmac.spark;

import java.io.Serializable;
import java.util.ArrayList;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.analysis.TypeCheckResult;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.BoundReference;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.codegen.CodeBlock;
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext;
import org.apache.spark.sql.catalyst.expressions.codegen.ExprCode;
import org.apache.spark.sql.catalyst.expressions.codegen.JavaCode;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.NullType;
import org.apache.spark.sql.types.StringType;
import scala.collection.Iterator;
import scala.collection.immutable.List;

/**
 * A call of {@code tagmac_tag} or {@code tagmac_verify}. Its children are the value, the tag of a
 * verification, and the nonce if there is one.
 *
 * <p>One source serves Scala 2.12 and 2.13: a {@code List} is a sequence in both, and methods with
 * sequences as parameters have an overload for each.
 */
public final class TagmacExpression extends Expression implements Serializable {
    private static final long serialVersionUID = 1;

    private final List<Expression> children;
    private final Call call;
    private transient Worker worker;

    TagmacExpression(List<Expression> children, Call call) {
        this.children = children;
        this.call = call;
    }

    private boolean verifies() {
        return call.function().equals(TagmacExtensions.VERIFY);
    }

    /** The number of children that make the result null. */
    private int inputs() {
        return verifies() ? 2 : 1;
    }

    /**
     * Whether the arguments are columns. Calls with nonces run per row, because each row has its own
     * error.
     */
    boolean isOfColumns(java.util.List<Attribute> columns) {
        if (call.hasNonce()) {
            return false;
        }
        for (Expression child : Lists.toJava(children)) {
            if (!(child instanceof Attribute column) || ordinal(column, columns) < 0) {
                return false;
            }
        }
        return true;
    }

    private static int ordinal(Expression child, java.util.List<Attribute> columns) {
        Attribute column = (Attribute) child;
        for (int i = 0; i < columns.size(); i++) {
            if (columns.get(i).exprId().equals(column.exprId())) {
                return i;
            }
        }
        return -1;
    }

    /** The same call with ordinals of the columns as arguments. */
    TagmacExpression bound(java.util.List<Attribute> columns) {
        java.util.List<Expression> bound = new ArrayList<>();
        for (Expression child : Lists.toJava(children)) {
            int ordinal = ordinal(child, columns);
            bound.add(new BoundReference(ordinal, child.dataType(), child.nullable()));
        }
        return new TagmacExpression(Lists.of(bound), call);
    }

    /** Returns what an executor needs to process the call on columns. */
    TagColumns.Task task(java.util.List<Attribute> columns) {
        Expression value = children.apply(0);
        boolean isText = value.dataType() instanceof StringType;
        int tag = verifies() ? ordinal(children.apply(1), columns) : -1;
        return new TagColumns.Task(call.ref(), isText, ordinal(value, columns), tag);
    }

    @Override
    public List<Expression> children() {
        return children;
    }

    /** For Scala 2.12. */
    public Expression withNewChildrenInternal(scala.collection.IndexedSeq<Expression> changed) {
        return new TagmacExpression(changed.toList(), call);
    }

    /** For Scala 2.13. */
    public Expression withNewChildrenInternal(
            scala.collection.immutable.IndexedSeq<Expression> changed) {
        return new TagmacExpression(changed.toList(), call);
    }

    @Override
    public TypeCheckResult checkInputDataTypes() {
        return call.failure() == null
                ? TypeCheckResult.TypeCheckSuccess$.MODULE$
                : new TypeCheckResult.TypeCheckFailure(call.failure());
    }

    @Override
    public DataType dataType() {
        return verifies() ? DataTypes.BooleanType : DataTypes.BinaryType;
    }

    @Override
    public boolean nullable() {
        for (int i = 0; i < inputs(); i++) {
            if (children.apply(i).nullable()) {
                return true;
            }
        }
        return false;
    }

    @Override
    public Object eval(InternalRow row) {
        Object[] values = new Object[3];
        for (int i = 0; i < children.size(); i++) {
            values[i] = children.apply(i).eval(row);
            if (values[i] == null && i < inputs()) {
                return null;
            }
        }
        if (worker == null) {
            worker = new Worker(call.ref());
        }
        byte[] nonce = call.hasNonce() ? Worker.given((byte[]) values[inputs()]) : Worker.NO_NONCE;
        if (verifies()) {
            return worker.verify(values[0], (byte[]) values[1], nonce);
        }
        return worker.tag(values[0], nonce);
    }

    @Override
    public ExprCode doGenCode(CodegenContext context, ExprCode result) {
        Source source = new Source();
        java.util.List<ExprCode> inputs = new ArrayList<>();
        for (int i = 0; i < children.size(); i++) {
            inputs.add(children.apply(i).genCode(context));
            source.add(inputs.get(i).code()).add("\n");
        }
        for (int i = 0; i < inputs(); i++) {
            if (children.apply(i).dataType() instanceof NullType) {
                return ExprCode.forNullValue(dataType());
            }
        }
        String ref = context.addReferenceObj("keyRef", call.ref(), "org.tagmac.KeyRef");
        String type = Worker.class.getName();
        // One for each instance of the generated class, which one thread uses.
        String worker =
                context.addMutableState(
                        type, "worker", name -> name + " = new " + type + "(" + ref + ");", false, true);
        source.add("boolean ").add(result.isNull()).add(" = ").add(inputs.get(0).isNull());
        if (verifies()) {
            source.add(" || ").add(inputs.get(1).isNull());
        }
        source.add(verifies() ? ";\nboolean " : ";\nbyte[] ").add(result.value());
        source.add(verifies() ? " = false" : " = null").add(";\nif (!").add(result.isNull());
        source.add(") {\n  ").add(result.value()).add(" = " + worker);
        source.add(verifies() ? ".verify(" : ".tag(").add(inputs.get(0).value());
        if (verifies()) {
            source.add(", ").add(inputs.get(1).value());
        }
        if (call.hasNonce()) {
            ExprCode nonce = inputs.get(inputs());
            source.add(", " + type + ".given(").add(nonce.isNull()).add(" ? null : ");
            source.add(nonce.value()).add("));\n}\n");
        } else {
            source.add(", " + type + ".NO_NONCE);\n}\n");
        }
        return result.copy(source.block(), result.isNull(), result.value());
    }

    /** Source text with code and variables of Catalyst, which may rename them. */
    private static final class Source {
        private final java.util.List<String> parts = new ArrayList<>();
        private final java.util.List<JavaCode> inputs = new ArrayList<>();
        private final StringBuilder text = new StringBuilder();

        Source add(String more) {
            text.append(more);
            return this;
        }

        Source add(JavaCode input) {
            parts.add(text.toString());
            text.setLength(0);
            inputs.add(input);
            return this;
        }

        CodeBlock block() {
            parts.add(text.toString());
            return new CodeBlock(Lists.of(parts), Lists.of(inputs));
        }
    }

    @Override
    public String prettyName() {
        return call.function();
    }

    @Override
    public String sql() {
        StringBuilder sql = new StringBuilder(call.function()).append('(');
        for (int i = 0; i < inputs() && i < children.size(); i++) {
            sql.append(children.apply(i).sql()).append(", ");
        }
        sql.append('\'').append(call).append('\'');
        for (int i = inputs(); i < children.size(); i++) {
            sql.append(", ").append(children.apply(i).sql());
        }
        return sql.append(')').toString();
    }

    /** Returns the items that plans show between the parentheses. */
    @Override
    public Iterator<Object> stringArgs() {
        java.util.List<Object> shown = new ArrayList<>(Lists.toJava(children));
        shown.add(Math.min(inputs(), shown.size()), call);
        return Lists.of(shown).iterator();
    }

    /** None: Spark would look for constructors and names of fields as in Scala. */
    @Override
    public int productArity() {
        return 0;
    }

    @Override
    public Object productElement(int n) {
        throw new IndexOutOfBoundsException(n);
    }

    @Override
    public Expression clone() {
        return new TagmacExpression(children, call);
    }

    @Override
    public boolean canEqual(Object other) {
        return other instanceof TagmacExpression;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof TagmacExpression it
                && children.equals(it.children)
                && call.equals(it.call);
    }

    @Override
    public int hashCode() {
        return 31 * children.hashCode() + call.hashCode();
    }
}
