package org.tagmac.spark;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.Locale;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;

/**
 * Measures functions of a column of 100 bytes in Parquet files, in turns: the processor time of the
 * process per row, with the scan and with a sink that drops the rows. It has no test.
 *
 * <p>Arguments: a folder for the files, the path of a key file, the number of million rows and the
 * number of rounds.
 */
final class ColumnsBench {
    private static final int ROWS = 1_000_000;

    private ColumnsBench() {}

    public static void main(String[] arguments) {
        Path files = Path.of(arguments[0], "rows.parquet");
        String ref = "'file:" + arguments[1] + "'";
        int millions = Integer.parseInt(arguments[2]);
        int rounds = Integer.parseInt(arguments[3]);
        SparkSession spark =
                SparkSession.builder()
                        .master("local[1]")
                        .config("spark.ui.enabled", false)
                        .config("spark.sql.extensions", TagmacExtensions.class.getName())
                        .getOrCreate();
        spark.sparkContext().setLogLevel("ERROR");
        if (!Files.exists(files)) {
            spark.range(0, ROWS, 1, 1)
                    .selectExpr("sha2(cast(id as string), 256) a")
                    .selectExpr("unhex(substr(concat(a, reverse(a), a, a), 1, 200)) value")
                    .write()
                    .option("compression", "none")
                    .parquet(files.toString());
        }
        String[] paths = Collections.nCopies(millions, files.toString()).toArray(new String[0]);
        Dataset<Row> rows = spark.read().parquet(paths);
        String[] calls = {
            "length(value)", "xxhash64(value)", "tagmac_tag(value, " + ref + ")", "sha2(value, 256)"
        };
        for (int round = 0; round < rounds; round++) {
            for (String call : calls) {
                long start = cpu();
                rows.selectExpr(call).write().format("noop").mode("overwrite").save();
                double each = (cpu() - start) / (double) ROWS / millions;
                System.out.printf(Locale.ROOT, "%d %-16s %.1f ns%n", round, call.split("\\(")[0], each);
            }
        }
        spark.stop();
    }

    private static long cpu() {
        return ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class).getProcessCpuTime();
    }
}
