package org.tagmac.spark;

import java.util.ArrayList;
import java.util.Collections;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.SortOrder;
import org.apache.spark.sql.catalyst.plans.physical.Partitioning;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.vectorized.OnHeapColumnVector;
import org.apache.spark.sql.vectorized.ColumnarBatch;
import scala.Option;
import scala.collection.Iterable;
import scala.collection.Iterator;
import scala.collection.immutable.List;
import scala.collection.immutable.List$;

/**
 * Adds columns of tags, or of the results of verifications, to the batches of its child. A batch
 * takes one call of the library instead of one per row.
 */
final class TagColumnsExec extends SparkPlan {
    private static final long serialVersionUID = 1;

    private final SparkPlan child;
    /** The arguments of a call are columns of the child. */
    private final List<TagmacExpression> calls;
    /** A new column for each call. The canonical form has none, as their ids differ in equal plans. */
    private final List<Attribute> columns;

    TagColumnsExec(SparkPlan child, List<TagmacExpression> calls, List<Attribute> columns) {
        this.child = child;
        this.calls = calls;
        this.columns = columns;
    }

    @Override
    public List<SparkPlan> children() {
        return Lists.of(java.util.List.of(child));
    }

    /** For Scala 2.12. */
    public SparkPlan withNewChildrenInternal(scala.collection.IndexedSeq<SparkPlan> changed) {
        return new TagColumnsExec(changed.apply(0), calls, columns);
    }

    /** For Scala 2.13. */
    public SparkPlan withNewChildrenInternal(scala.collection.immutable.IndexedSeq<SparkPlan> changed) {
        return new TagColumnsExec(changed.apply(0), calls, columns);
    }

    @Override
    public List<Attribute> output() {
        java.util.List<Attribute> all = new ArrayList<>(Lists.toJava(child.output()));
        all.addAll(Lists.toJava(columns));
        return Lists.of(all);
    }

    @Override
    public Partitioning outputPartitioning() {
        return child.outputPartitioning();
    }

    @Override
    public List<SortOrder> outputOrdering() {
        return child.outputOrdering().toList();
    }

    @Override
    public boolean supportsColumnar() {
        return true;
    }

    @Override
    public RDD<InternalRow> doExecute() {
        throw new UnsupportedOperationException("TagColumns has columns, not rows");
    }

    @Override
    public RDD<ColumnarBatch> doExecuteColumnar() {
        java.util.List<Attribute> inputs = Lists.toJava(child.output());
        ArrayList<TagColumns.Task> tasks = new ArrayList<>();
        for (TagmacExpression call : Lists.toJava(calls)) {
            tasks.add(call.task(inputs));
        }
        TagColumns function = new TagColumns(tasks, inputs.size());
        return child.executeColumnar().toJavaRDD().mapPartitions(function, true).rdd();
    }

    /** With these types, generated code calls the methods of vectors directly. */
    @Override
    @SuppressWarnings({"rawtypes", "unchecked"})
    public Option vectorTypes() {
        Option types = child.vectorTypes();
        if (types.isEmpty()) {
            return types;
        }
        java.util.List<String> all = new ArrayList<>(Lists.toJava((Iterable<String>) types.get()));
        all.addAll(Collections.nCopies(columns.size(), OnHeapColumnVector.class.getName()));
        return Option.apply(Lists.of(all));
    }

    @Override
    public SparkPlan doCanonicalize() {
        if (columns.isEmpty()) {
            return this;
        }
        java.util.List<Attribute> inputs = Lists.toJava(child.output());
        java.util.List<TagmacExpression> bound = new ArrayList<>();
        for (TagmacExpression call : Lists.toJava(calls)) {
            bound.add(call.bound(inputs));
        }
        return new TagColumnsExec(child.canonicalized(), Lists.of(bound), List$.MODULE$.empty());
    }

    @Override
    public Iterator<Object> stringArgs() {
        return Lists.of(new ArrayList<Object>(Lists.toJava(calls))).iterator();
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
    public boolean canEqual(Object other) {
        return other instanceof TagColumnsExec;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof TagColumnsExec it
                && child.equals(it.child)
                && calls.equals(it.calls)
                && columns.equals(it.columns);
    }

    @Override
    public int hashCode() {
        return 31 * child.hashCode() + calls.hashCode();
    }
}
