package org.tagmac.spark;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.tagmac.Algorithm;
import org.tagmac.TagmacKey;

/** The local Spark of the tests, whose event logs are in a folder, and the keys of vectors/. */
final class Sessions {
    static final Path FOLDER = folder();
    static final Path EVENTS = FOLDER.resolve("events");
    static final SparkSession SPARK = spark();

    private Sessions() {}

    private static Path folder() {
        try {
            Path folder = Files.createTempDirectory("tagmac-spark-");
            Files.createDirectory(folder.resolve("events"));
            return folder;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static SparkSession spark() {
        SparkSession spark =
                SparkSession.builder()
                        .master("local[2]")
                        .config("spark.ui.enabled", false)
                        .config("spark.sql.extensions", TagmacExtensions.class.getName())
                        .config("spark.sql.shuffle.partitions", 2)
                        .config("spark.sql.warehouse.dir", FOLDER.resolve("warehouse").toString())
                        .config("spark.eventLog.enabled", true)
                        .config("spark.eventLog.compress", false)
                        .config("spark.eventLog.dir", EVENTS.toUri().toString())
                        .config("spark.executorEnv.TAGMAC_SHOWN", "1")
                        .getOrCreate();
        spark.sparkContext().setLogLevel("ERROR");
        return spark;
    }

    /** Copies the key of vectors/formats for an algorithm, to a file that only this user can read. */
    static Path key(String algorithm) throws IOException {
        Path path = Files.createTempFile(FOLDER, algorithm, ".key");
        Files.write(path, Files.readAllBytes(Path.of("../../../vectors/formats", algorithm, "k")));
        Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rw-------"));
        return path;
    }

    /** Makes a key file for an algorithm whose key is zeros. */
    static Path zeroKey(String algorithm) throws Exception {
        byte[] key = new byte[Algorithm.find(algorithm).orElseThrow().newKeyBytes()];
        HexFormat hex = HexFormat.of();
        try (TagmacKey made = new TagmacKey(algorithm, key)) {
            String text =
                    String.format(
                            "tagmac-key-2\nalgorithm: %s\nid: %s\ncreated: 2026-01-01T00:00:00Z\nkey: %s\n",
                            algorithm, made.id(), hex.formatHex(key));
            byte[] sum = MessageDigest.getInstance("SHA-256").digest(text.getBytes(UTF_8));
            Path path = Files.createTempFile(FOLDER, algorithm, ".key");
            Files.writeString(path, text + "checksum: " + hex.formatHex(sum, 0, 8) + "\n");
            return path;
        }
    }

    /** Runs a query on a view, with generated code and without it, and returns the equal results. */
    static List<Row> query(String sql) {
        List<Row> generated = query(sql, true);
        List<Row> interpreted = query(sql, false);
        if (!texts(generated).equals(texts(interpreted))) {
            throw new AssertionError(texts(generated) + " != " + texts(interpreted));
        }
        return generated;
    }

    static List<Row> query(String sql, boolean generated) {
        SPARK.conf().set("spark.sql.codegen.wholeStage", generated);
        SPARK.conf().set("spark.sql.codegen.factoryMode", generated ? "CODEGEN_ONLY" : "NO_CODEGEN");
        try {
            return SPARK.sql(sql).collectAsList();
        } finally {
            SPARK.conf().unset("spark.sql.codegen.wholeStage");
            SPARK.conf().unset("spark.sql.codegen.factoryMode");
        }
    }

    private static List<String> texts(List<Row> rows) {
        return rows.stream().map(Row::json).toList();
    }
}
