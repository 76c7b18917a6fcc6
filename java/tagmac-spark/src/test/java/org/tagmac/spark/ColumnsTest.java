package org.tagmac.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.tagmac.spark.Sessions.FOLDER;
import static org.tagmac.spark.Sessions.SPARK;
import static org.tagmac.spark.Sessions.key;

import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Queries of Parquet and ORC: the results by columns equal those by rows. */
class ColumnsTest {
    private static final String ROWS = "spark.sql.parquet.enableVectorizedReader";
    private static final String OFF_HEAP = "spark.sql.columnVector.offheap.enabled";
    private static final String ORC_ROWS = "spark.sql.orc.enableVectorizedReader";
    private static final String ADAPTIVE = "spark.sql.adaptive.enabled";

    private static String ref;
    private static String umac;

    /** Rows with nulls, empty values, values longer than a call takes, and right and wrong tags. */
    @BeforeAll
    static void files() throws Exception {
        ref = "'file:" + key("LIGHTMAC-AES128-S32") + "'";
        umac = "'file:" + key("UMAC-64") + "'";
        String path = FOLDER.resolve("columns.parquet").toString();
        SPARK.range(0, 9000, 1, 2)
                .selectExpr(
                        "id",
                        "case when id % 7 = 0 then null when id % 11 = 0 then ''"
                                + " when id in (500, 501) then repeat('x', 261644 + int(id))"
                                + " when id % 1999 = 1 then repeat('añ', 90000 + int(id))"
                                + " else repeat(sha2(string(id), 256), int(id % 9)) end text",
                        "concat('k', id % 5) word")
                .selectExpr("*", "cast(text as binary) bytes")
                .selectExpr("*", "tagmac_tag(bytes, " + ref + ") made")
                .selectExpr(
                        "*",
                        "case when id % 13 = 0 then null when id % 17 = 0 then substr(made, 1, 8)"
                                + " when id % 19 = 0 then tagmac_tag('x', " + ref + ") else made end tag")
                .write()
                .parquet(path);
        SPARK.read().parquet(path).createOrReplaceTempView("columns");
        String orc = FOLDER.resolve("columns.orc").toString();
        SPARK.read().parquet(path).where("id < 3000").write().partitionBy("word").orc(orc);
        SPARK.read().orc(orc).createOrReplaceTempView("parts");
    }

    @AfterAll
    static void defaults() {
        for (String name : List.of(ROWS, ORC_ROWS, OFF_HEAP, ADAPTIVE)) {
            SPARK.conf().unset(name);
        }
    }

    private static void set(boolean columns, boolean offHeap, boolean adaptive) {
        SPARK.conf().set(ROWS, columns);
        SPARK.conf().set(ORC_ROWS, columns);
        SPARK.conf().set(OFF_HEAP, offHeap);
        SPARK.conf().set(ADAPTIVE, adaptive);
    }

    private static String plan(Dataset<Row> rows) {
        return rows.queryExecution().executedPlan().toString();
    }

    private static List<String> run(Dataset<Row> rows) {
        return rows.collectAsList().stream().map(Row::json).toList();
    }

    /** Runs a query by rows and by columns, and returns its result. */
    private static List<String> same(int columns, String sql) {
        String query = sql.replace("TAG(", "tagmac_tag(").replace("VERIFY(", "tagmac_verify(");
        query = query.replace("REF", ref);
        set(false, false, true);
        Dataset<Row> byRows = SPARK.sql(query);
        List<String> expected = run(byRows);
        assertEquals(0, calls(plan(byRows)), sql);
        for (int i = 0; i < 4; i++) {
            set(true, (i & 1) != 0, (i & 2) != 0);
            Dataset<Row> byColumns = SPARK.sql(query);
            assertEquals(expected, run(byColumns), sql);
            // The plan that was run, which the adaptive plan repeats as the final one.
            String plan = plan(byColumns).split("== Initial Plan ==")[0];
            assertEquals(columns, calls(plan), plan);
        }
        return expected;
    }

    private static int calls(String plan) {
        return plan.split("TagColumns ", -1).length - 1;
    }

    @Test
    void projections() {
        List<String> rows = same(1, "select id, TAG(bytes, REF) a, TAG(text, REF) b from columns");
        assertEquals(9000, rows.size());
        same(1, "select made = TAG(bytes, REF) from columns");
        same(1, "select VERIFY(text, tag, REF), id, VERIFY(bytes, tag, REF) from columns");
        same(1, "select TAG(word, REF) from (select word from columns limit 10)");
        // Words are in a dictionary.
        same(1, "select TAG(word, REF) from columns");
    }

    /** The vectors of ORC, and a column that is the name of a folder. */
    @Test
    void otherVectors() {
        same(1, "select id, TAG(text, REF), TAG(bytes, REF), TAG(word, REF) from parts order by id");
        same(1, "select count(*) from parts where VERIFY(bytes, tag, REF)");
    }

    /** A LightMAC with messages of at most 1792 bytes: a guard keeps longer ones from it. */
    @Test
    void errorsAreOfTheRowsThatAreReached() throws Exception {
        String small = "'file:" + Sessions.zeroKey("LIGHTMAC-PRESENT128-S8") + "'";
        String tag = "tagmac_tag(bytes, " + small + ")";
        same(0, "select count(*) from columns where length(bytes) <= 1792 and " + tag + " is null");
        set(true, false, true);
        Dataset<Row> all = SPARK.sql("select " + tag + " from columns");
        String error = assertThrows(Exception.class, all::collectAsList).getMessage();
        assertTrue(error.contains("IllegalArgumentException"), error);
    }

    @Test
    void filters() {
        same(1, "select * from columns where not VERIFY(bytes, tag, REF)");
        same(1, "select count(*) from columns where VERIFY(bytes, tag, REF)");
        same(2, "select id from columns where VERIFY(bytes, tag, REF)"
                + " union all select id from columns where not VERIFY(bytes, tag, REF)");
    }

    @Test
    void aggregates() {
        same(1, "select max(TAG(bytes, REF)), count_if(VERIFY(bytes, tag, REF)) from columns");
        same(1, "select word, bit_xor(xxhash64(TAG(bytes, REF))) from columns group by word order by 1");
        same(1, "select hex(TAG(word, REF)) t, count(*) from columns group by t order by t");
        same(1, "select count(distinct TAG(word, REF)) from columns");
        same(1, "select sort_array(collect_list(VERIFY(bytes, tag, REF))) from columns");
    }

    /** Calls that another condition guards, and those of values that are not columns, run per row. */
    @Test
    void rowsOnly() {
        same(0, "select case when id % 2 = 0 then TAG(bytes, REF) end from columns");
        same(0, "select if(id > 5, VERIFY(bytes, tag, REF), null) from columns");
        same(0, "select id from columns where id < 10 or VERIFY(bytes, tag, REF)");
        same(0, "select id from columns where id > 50 and VERIFY(text, tag, REF)");
        same(0, "select max(TAG(bytes, REF)) filter (where length(bytes) < 9) from columns");
        same(0, "select TAG(concat(text, 'x'), REF) from columns");
        same(0, "select id, hex(TAG(word, REF)) t from columns where id > 100 order by t, id");
        String nonce = "cast(lpad(string(id), 8, '0') as binary)";
        same(0, "select tagmac_tag(bytes, " + umac + ", nonce) from (select bytes, " + nonce
                + " nonce from columns)");
        same(1, "select VERIFY(bytes, TAG(text, REF), REF) from columns");
    }

    /** Equal parts of a query run once, although the ids of their new columns differ. */
    @Test
    void equalPartsRunOnce() {
        set(true, false, false);
        String part = "(select word, max(tagmac_tag(bytes, " + ref + ")) t from columns group by word)";
        Dataset<Row> rows = SPARK.sql("select * from " + part + " a join " + part + " b on a.t = b.t");
        assertEquals(5, run(rows).size());
        assertTrue(plan(rows).contains("ReusedExchange"), plan(rows));
    }
}
