package org.tagmac.spark;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.SparkSessionExtensions;
import org.apache.spark.sql.catalyst.expressions.And;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.ConditionalExpression;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.expressions.Or;
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.execution.ColumnarRule;
import org.apache.spark.sql.execution.FileSourceScanExec;
import org.apache.spark.sql.execution.FilterExec;
import org.apache.spark.sql.execution.ProjectExec;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.aggregate.BaseAggregateExec;
import org.apache.spark.sql.execution.datasources.v2.BatchScanExec;
import org.apache.spark.sql.types.Metadata;
import scala.collection.immutable.List$;
import scala.runtime.AbstractFunction1;

/**
 * Moves calls whose arguments are columns of a columnar scan, such as one of Parquet, into a {@link
 * TagColumnsExec}. Scans of plug-ins with other vectors are left alone.
 *
 * <pre>
 * Project [tagmac_tag(value)]        Project [column]
 *   Scan [value]               =>      TagColumns [tagmac_tag(value)]
 *                                        Scan [value]
 * </pre>
 */
final class TagColumnsRule extends Rule<SparkPlan> {
    static void inject(SparkSessionExtensions extensions) {
        extensions.injectColumnar(
                new AbstractFunction1<SparkSession, ColumnarRule>() {
                    @Override
                    public ColumnarRule apply(SparkSession session) {
                        return new ColumnarRule() {
                            @Override
                            public Rule<SparkPlan> preColumnarTransitions() {
                                return new TagColumnsRule();
                            }
                        };
                    }
                });
    }

    @Override
    public SparkPlan apply(SparkPlan plan) {
        SparkPlan changed = plan.mapChildren(function(this::apply));
        boolean reads =
                changed instanceof ProjectExec
                        || changed instanceof FilterExec
                        || changed instanceof BaseAggregateExec;
        return reads ? withColumns(changed) : changed;
    }

    private static SparkPlan withColumns(SparkPlan plan) {
        SparkPlan child = plan.children().head();
        boolean scans = child instanceof FileSourceScanExec || child instanceof BatchScanExec;
        if (!scans || !child.supportsColumnar()) {
            return plan;
        }
        Map<TagmacExpression, Attribute> calls = new LinkedHashMap<>();
        java.util.List<Attribute> inputs = Lists.toJava(child.output());
        SparkPlan changed = plan.mapExpressions(function(each -> replaced(each, inputs, calls)));
        if (calls.isEmpty()) {
            return plan;
        }
        SparkPlan columns =
                new TagColumnsExec(
                        child,
                        Lists.of(new ArrayList<>(calls.keySet())),
                        Lists.of(new ArrayList<>(calls.values())));
        changed = changed.withNewChildren(Lists.of(java.util.List.of(columns)));
        if (changed instanceof FilterExec) {
            // The output of a filter is its child's.
            java.util.List<Attribute> output = Lists.toJava(plan.output());
            return new ProjectExec(Lists.of(new ArrayList<NamedExpression>(output)), changed);
        }
        return changed;
    }

    /** Leaves calls that another condition guards as they are: they run per row that reaches them. */
    private static Expression replaced(
            Expression expression,
            java.util.List<Attribute> inputs,
            Map<TagmacExpression, Attribute> calls) {
        if (expression instanceof TagmacExpression call && call.isOfColumns(inputs)) {
            return calls.computeIfAbsent(call, TagColumnsRule::column);
        }
        boolean guards =
                expression instanceof ConditionalExpression
                        || expression instanceof Or
                        || expression instanceof AggregateExpression aggregate
                                && aggregate.filter().isDefined();
        if (guards) {
            return expression;
        }
        if (expression instanceof And both) {
            return new And(replaced(both.left(), inputs, calls), both.right());
        }
        return expression.mapChildren(function(each -> replaced(each, inputs, calls)));
    }

    private static Attribute column(TagmacExpression call) {
        return new AttributeReference(
                call.prettyName(),
                call.dataType(),
                call.nullable(),
                Metadata.empty(),
                NamedExpression.newExprId(),
                List$.MODULE$.empty());
    }

    private static <A, B> AbstractFunction1<A, B> function(java.util.function.Function<A, B> function) {
        return new AbstractFunction1<>() {
            @Override
            public B apply(A argument) {
                return function.apply(argument);
            }
        };
    }
}
