package org.tagmac.spark;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.tagmac.spark.Sessions.SPARK;
import static org.tagmac.spark.Sessions.key;
import static org.tagmac.spark.Sessions.query;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.HexFormat;
import java.util.List;
import org.apache.spark.sql.AnalysisException;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.junit.jupiter.api.Test;
import org.tagmac.TagmacKey;

class FunctionsTest {
    private static final List<String> WITHOUT_NONCE =
            List.of("CMAC-AES128", "ELIMAC-AES128", "HMAC-SHA256", "LIGHTMAC-AES128-S32", "PMAC-AES128");

    private static byte[] tag(Row row, int column) {
        return (byte[]) row.get(column);
    }

    private static String refused(String sql) {
        return assertThrows(AnalysisException.class, () -> SPARK.sql(sql).collectAsList()).getMessage();
    }

    private static String failed(String sql, boolean generated) {
        Throwable error = assertThrows(Exception.class, () -> query(sql, generated));
        StringBuilder all = new StringBuilder();
        for (Throwable each = error; each != null; each = each.getCause()) {
            all.append(each.getMessage()).append('\n');
        }
        return all.toString();
    }

    private static void values(String... sql) {
        SPARK.sql("select * from values " + String.join(", ", sql) + " as t(id, text)")
                .selectExpr("id", "text", "cast(text as binary) bytes")
                .repartition(2)
                .createOrReplaceTempView("texts");
    }

    /** The file that the lists of vectors/formats are about. */
    private static byte[] listed() {
        byte[] bytes = new byte[200_003];
        for (long i = 0; i < bytes.length; i++) {
            bytes[(int) i] = (byte) (i * 0x9e37_79b9_7f4a_7c15L >> 56);
        }
        return bytes;
    }

    @Test
    void tagsAreThoseOfTheCommand() throws IOException {
        List<Row> rows = List.of(RowFactory.create((Object) listed()));
        StructType type = new StructType().add("bytes", DataTypes.BinaryType);
        SPARK.createDataFrame(rows, type).repartition(1).createOrReplaceTempView("listed");
        for (String algorithm : WITHOUT_NONCE) {
            String list = Files.readString(Path.of("../../../vectors/formats", algorithm, "list"));
            String ref = "'file:" + key(algorithm) + "'";
            List<Row> found = query("select lower(hex(tagmac_tag(bytes, " + ref + "))) from listed");
            assertEquals(list, algorithm + " (f) = " + found.get(0).getString(0) + "\n");
        }
    }

    @Test
    void tagsAreThoseOfTheLibrary() throws IOException {
        String lengths = "0, 1, 15, 16, 17, 31, 32, 33, 100, 1023, 1024, 1025, 5000, 300000";
        SPARK.sql("select repeat('añ', n) text from (select explode(array(" + lengths + ")) n)")
                .selectExpr("text", "cast(text as binary) bytes")
                .repartition(2)
                .createOrReplaceTempView("lengths");
        for (String algorithm : WITHOUT_NONCE) {
            Path path = key(algorithm);
            String ref = "'file:" + path + "'";
            List<Row> rows =
                    query(
                            "select text, tagmac_tag(text, " + ref + "), tagmac_tag(bytes, " + ref + "),"
                                    + " tagmac_verify(text, tagmac_tag(bytes, " + ref + "), " + ref + ")"
                                    + " from lengths");
            assertEquals(14, rows.size());
            try (TagmacKey key = TagmacKey.fromFile(path)) {
                for (Row row : rows) {
                    byte[] text = row.getString(0).getBytes(StandardCharsets.UTF_8);
                    assertArrayEquals(key.tag(text), tag(row, 1), algorithm);
                    assertArrayEquals(key.tag(text), tag(row, 2), algorithm);
                    assertTrue(row.getBoolean(3));
                }
            }
        }
    }

    @Test
    void nullsAreNullAndEmptyValuesHaveTags() throws IOException {
        Path path = key("PMAC-AES128");
        String ref = "'file:" + path + "'";
        values("(1, 'x')", "(2, null)", "(3, '')");
        List<Row> rows =
                query(
                        "select tagmac_tag(text, " + ref + "), tagmac_tag(bytes, " + ref + "),"
                                + " tagmac_verify(text, tagmac_tag(bytes, " + ref + "), " + ref + "),"
                                + " tagmac_verify(bytes, cast(null as binary), " + ref + "),"
                                + " tagmac_tag(null, " + ref + ") from texts order by id");
        assertNull(rows.get(1).get(0));
        assertNull(rows.get(1).get(1));
        assertNull(rows.get(1).get(2));
        try (TagmacKey key = TagmacKey.fromFile(path)) {
            assertArrayEquals(key.tag(new byte[0]), tag(rows.get(2), 0));
        }
        for (Row row : rows) {
            assertNull(row.get(3));
            assertNull(row.get(4));
        }
    }

    @Test
    void wrongTagsAreFalse() throws IOException {
        String ref = "'file:" + key("PMAC-AES128") + "'";
        values("(1, 'x')", "(2, 'y')");
        for (String wrong :
                List.of(
                        "tagmac_tag(concat(text, 'z'), " + ref + ")",
                        "unhex('')",
                        "unhex('00')",
                        "substr(tagmac_tag(text, " + ref + "), 1, 15)",
                        "concat(tagmac_tag(text, " + ref + "), unhex('00'))")) {
            List<Row> rows = query("select tagmac_verify(text, " + wrong + ", " + ref + ") from texts");
            assertEquals(2, rows.size());
            rows.forEach(row -> assertEquals(false, row.getBoolean(0), wrong));
        }
    }

    @Test
    void noncesAreColumns() throws IOException {
        Path path = key("UMAC-64");
        String ref = "'file:" + path + "'";
        values("(1, 'x')", "(2, null)", "(3, '')");
        String nonce = "unhex(lpad(hex(id), 16, '0'))";
        List<Row> rows =
                query(
                        "select tagmac_tag(text, " + ref + ", " + nonce + "), tagmac_verify(bytes,"
                                + " tagmac_tag(text, " + ref + ", " + nonce + "), " + ref + ", " + nonce
                                + ") from texts order by id");
        try (TagmacKey key = TagmacKey.fromFile(path)) {
            byte[] first = {0, 0, 0, 0, 0, 0, 0, 1};
            assertArrayEquals(key.tag(first, "x".getBytes()), tag(rows.get(0), 0));
        }
        assertTrue(rows.get(0).getBoolean(1));
        assertNull(rows.get(1).get(0));
        assertTrue(rows.get(2).getBoolean(1));

        String call = "select tagmac_tag(text, " + ref;
        assertTrue(refused(call + ") from texts").contains("UMAC-64 needs a nonce for each value"));
        assertTrue(refused(call + ", text) from texts").contains("nonce: expected a binary column"));
        String pmac = "select tagmac_tag(text, 'file:" + key("PMAC-AES128") + "', bytes) from texts";
        assertTrue(refused(pmac).contains("PMAC-AES128 has no nonces"));
        for (boolean generated : List.of(true, false)) {
            String none = call + ", if(id = 1, cast(null as binary), " + nonce + ")) from texts";
            assertTrue(failed(none, generated).contains("a value has no nonce"));
            assertTrue(failed(call + ", bytes) from texts", generated).contains("nonce"));
        }
    }

    @Test
    void optionsPinTheKeyAndSetTheLength() throws IOException {
        Path path = key("PMAC-AES128");
        String call = "select hex(tagmac_tag('x', 'file:" + path + "', map(";
        String whole = query(call + "'alg', 'pmac-aes128', 'id', 'ce66050b8c0f26d9')))").get(0).getString(0);
        try (TagmacKey key = TagmacKey.fromFile(path)) {
            assertEquals(whole, HexFormat.of().withUpperCase().formatHex(key.tag("x".getBytes())));
        }
        assertEquals(whole.substring(0, 16), query(call + "'tag_bits', '64')))").get(0).getString(0));
        assertTrue(refused(call + "'id', '0000000000000000')))").contains("found one with id ce66"));
        assertTrue(refused(call + "'alg', 'UMAC-64')))").contains("expected a key for UMAC-64"));
        assertTrue(refused(call + "'alg', 'x')))").contains("unknown algorithm"));
        assertTrue(refused(call + "'tag_bits', 'x')))").contains("tag_bits: expected a number"));
        assertTrue(refused(call + "'tag_bits', '7777')))").contains("7777"));
        assertTrue(refused(call + "'key', 'x')))").contains("expected id, alg or tag_bits"));
    }

    @Test
    void keysComeFromFilesVariablesSecretsAndCommands() throws IOException {
        Path path = key("PMAC-AES128");
        String expected = query("select hex(tagmac_tag('x', 'file://" + path + "'))").get(0).getString(0);
        for (String ref : List.of("env:TAGMAC_TEST_KEY", "secret:k", "command:cat " + path)) {
            List<Row> rows = query("select hex(tagmac_tag('x', '" + ref + "'))");
            assertEquals(expected, rows.get(0).getString(0), ref);
        }
    }

    @Test
    void badCallsAreRefusedBeforeTheQueryRuns() throws IOException {
        String ref = "'file:" + key("PMAC-AES128") + "'";
        values("(1, 'x')");
        String[][] cases = {
            {"tagmac_tag(id, " + ref + ")", "expected a binary or string column, found int"},
            {"tagmac_verify(text, text, " + ref + ")", "tag: expected a binary column, found string"},
            {"tagmac_tag(text)", "found 1 arguments"},
            {"tagmac_verify(text, bytes)", "found 2 arguments"},
            {"tagmac_tag(text, " + ref + ", bytes, map(), 1)", "found 5 arguments"},
            {"tagmac_tag(text, text)", "expected a constant string"},
            {"tagmac_tag(text, cast(null as string))", "expected a constant string"},
            {"tagmac_tag(text, '3f0a50693307b36b1eb4cfa4523559e1')", "expected file:PATH"},
            {"tagmac_tag(text, 'file:')", "nothing after file:"},
            {"tagmac_tag(text, 'secret:a/b')", "without a folder"},
            {"tagmac_tag(text, 'secret:none')", "no file of that name in "},
            {"tagmac_tag(text, 'file:/none')", "key file /none: No such file"},
            {"tagmac_tag(text, 'env:TAGMAC_NONE')", "the variable is not set"},
            {"tagmac_tag(text, 'env:TAGMAC_SHOWN')", "spark.executorEnv.TAGMAC_SHOWN: "},
            {"tagmac_tag(text, 'command:false')", "exit status 1"},
            {"tagmac_tag(text, 'command:/none/such')", "/none/such"},
        };
        for (String[] each : cases) {
            String message = refused("select " + each[0] + " from texts");
            assertTrue(message.contains(each[1]), message);
            assertTrue(!message.contains("from texts, 3f0a"), message);
        }
    }

    @Test
    void aTaskFailsIfTheKeyIsGoneOrAnother() throws IOException {
        Path path = key("PMAC-AES128");
        var frame = SPARK.range(10).selectExpr("tagmac_tag(cast(id as string), 'file:" + path + "')");
        assertEquals(10, frame.collectAsList().size());
        Files.delete(path);
        assertTrue(message(frame).contains("No such file"), message(frame));
        Files.copy(key("CMAC-AES128"), path, StandardCopyOption.REPLACE_EXISTING);
        assertTrue(message(frame).contains("expected a key for PMAC-AES128"), message(frame));
        // A new query uses the new key.
        var fresh = SPARK.range(10).selectExpr("tagmac_tag(cast(id as string), 'file:" + path + "')");
        assertEquals(10, fresh.collectAsList().size());
    }

    private static String message(org.apache.spark.sql.Dataset<Row> frame) {
        return assertThrows(Exception.class, frame::collectAsList).getMessage();
    }

    @Test
    void functionsForFramesAreThoseOfSql() throws IOException {
        String ref = "file:" + key("PMAC-AES128");
        var frame = SPARK.range(3).selectExpr("cast(id as string) text");
        var tagged = frame.withColumn("tag", TagmacFunctions.tag(frame.col("text"), ref));
        var checked = TagmacFunctions.verify(tagged.col("text"), tagged.col("tag"), ref);
        assertEquals(3, tagged.where(checked).count());
    }

    @Test
    void manyRows() throws IOException {
        String ref = "'file:" + key("PMAC-AES128") + "'";
        long rows = Long.getLong("tagmac.rows", 1_000_000);
        SPARK.range(0, rows, 1, 4)
                .selectExpr("cast(id as string) text")
                .createOrReplaceTempView("many");
        String tag = "tagmac_tag(text, " + ref + ")";
        List<Row> found =
                query(
                        "select count(distinct " + tag + "), count_if(tagmac_verify(text, " + tag + ", "
                                + ref + ")) from many",
                        true);
        assertEquals(rows, found.get(0).getLong(0));
        assertEquals(rows, found.get(0).getLong(1));
    }
}
