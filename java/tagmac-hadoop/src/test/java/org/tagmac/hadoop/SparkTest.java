package org.tagmac.hadoop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;
import org.apache.spark.SparkException;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.functions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.tagmac.DamagedFileException;

class SparkTest {
    @TempDir Path folder;

    @Test
    void parquetIsEqualToPlainAndDamageIsAnError() throws IOException {
        Sealed sealed = new Sealed(folder);
        Path log = Files.createDirectory(folder.resolve("log"));
        SparkSession.Builder builder =
                SparkSession.builder()
                        .master("local[2]")
                        .config("spark.ui.enabled", "false")
                        .config("spark.sql.shuffle.partitions", "2")
                        .config("spark.driver.bindAddress", "127.0.0.1")
                        .config("spark.driver.host", "127.0.0.1")
                        .config("spark.local.dir", folder.resolve("spark").toString())
                        .config("spark.sql.warehouse.dir", folder.resolve("tables").toString())
                        .config("spark.eventLog.enabled", "true")
                        .config("spark.eventLog.dir", log.toUri().toString());
        sealed.configuration()
                .getPropsWithPrefix("fs.tagmac.")
                .forEach((name, value) -> builder.config("spark.hadoop.fs.tagmac." + name, value));
        try (SparkSession spark = builder.getOrCreate()) {
            String plain = sealed.root.resolve("table").toUri().toString();
            spark.range(0, 100_000, 1, 4)
                    .withColumn("hash", functions.sha2(functions.col("id").cast("string"), 256))
                    .withColumn("part", functions.col("id").mod(2))
                    .write()
                    .partitionBy("part")
                    .parquet(plain);
            sealed.seal();
            Dataset<Row> expected = spark.read().parquet(plain);
            Dataset<Row> found = spark.read().parquet("tagmac://photos/table");
            assertEquals(100_000, found.count());
            assertEquals(expected.schema(), found.schema());
            assertEquals(0, found.exceptAll(expected).count());
            assertEquals(50_000, found.filter("part = 1").count());

            List<Path> files = parquet(sealed.root);
            // A file that was not sealed is not read.
            Path added = files.get(0).resolveSibling("part-added.parquet");
            Files.copy(files.get(0), added);
            assertEquals(100_000, read(spark));

            Sealed.damage(files.get(0), Files.size(files.get(0)) / 2);
            SparkException e = assertThrows(SparkException.class, () -> read(spark));
            assertTrue(isDamage(e), e.getMessage());
            Sealed.damage(files.get(0), Files.size(files.get(0)) / 2);
            assertEquals(100_000, read(spark));

            Files.delete(files.get(1));
            assertTrue(isDamage(assertThrows(Exception.class, () -> read(spark))));
        }
        assertNoKey(sealed.key, log);
    }

    private static long read(SparkSession spark) {
        Dataset<Row> rows = spark.read().parquet("tagmac://photos/table");
        return rows.agg(functions.count(functions.col("hash")), functions.max("id")).first().getLong(0);
    }

    private static List<Path> parquet(Path root) throws IOException {
        try (Stream<Path> files = Files.walk(root)) {
            return files.filter(file -> file.toString().endsWith(".parquet")).sorted().toList();
        }
    }

    private static boolean isDamage(Throwable e) {
        while (e != null && !(e instanceof DamagedFileException)) {
            e = e.getCause();
        }
        return e != null;
    }

    private static void assertNoKey(Path key, Path log) throws IOException {
        String text = Files.readString(key);
        String hex = text.lines().filter(line -> line.startsWith("key: ")).findAny().orElseThrow();
        hex = hex.substring("key: ".length());
        byte[] bytes = HexFormat.of().parseHex(hex);
        String base64 = Base64.getEncoder().withoutPadding().encodeToString(bytes);
        String raw = new String(bytes, StandardCharsets.ISO_8859_1);
        try (Stream<Path> logs = Files.walk(log)) {
            List<Path> files = logs.filter(Files::isRegularFile).toList();
            boolean hasReference = false;
            for (Path file : files) {
                String events = Files.readString(file, StandardCharsets.ISO_8859_1);
                hasReference |= events.contains("fs.tagmac.photos.key");
                for (String secret : List.of(hex, base64, raw)) {
                    assertFalse(events.contains(secret), "the key is in " + file);
                }
            }
            assertTrue(hasReference, "the log has the configuration");
        }
    }
}
