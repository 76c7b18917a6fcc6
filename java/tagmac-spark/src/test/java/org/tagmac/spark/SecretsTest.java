package org.tagmac.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.tagmac.spark.Sessions.EVENTS;
import static org.tagmac.spark.Sessions.SPARK;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectOutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.junit.jupiter.api.Test;

/** No key is in a plan, an event log or a closure. */
class SecretsTest {
    private static final byte[] PLANTED = "a planted secret".getBytes(StandardCharsets.US_ASCII);

    /** The forms in which a key may appear, as text of one byte per character. */
    private static Map<String, String> forms(byte[] secret) {
        Map<String, String> forms = new LinkedHashMap<>();
        forms.put("raw", new String(secret, StandardCharsets.ISO_8859_1));
        forms.put("hex", HexFormat.of().formatHex(secret));
        forms.put("HEX", HexFormat.of().withUpperCase().formatHex(secret));
        forms.put("list", Arrays.toString(secret).replaceAll("[\\[\\]]", ""));
        for (int start = 0; start < 3; start++) {
            byte[] longer = new byte[start + secret.length];
            System.arraycopy(secret, 0, longer, start, secret.length);
            String text = Base64.getEncoder().encodeToString(longer);
            int whole = longer.length / 3 * 4;
            forms.put("base64+" + start, text.substring(start == 0 ? 0 : start + 1, whole));
        }
        return forms;
    }

    private static List<String> found(byte[] where, byte[] secret) {
        String text = new String(where, StandardCharsets.ISO_8859_1);
        return forms(secret).entrySet().stream()
                .filter(form -> text.contains(form.getValue()))
                .map(Map.Entry::getKey)
                .toList();
    }

    private static byte[] closure(Object object) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
            out.writeObject(object);
        }
        return bytes.toByteArray();
    }

    /** Returns all texts and closures of a query, after it ran. */
    private static List<byte[]> traces(Dataset<Row> frame) throws IOException {
        frame.collectAsList();
        var execution = frame.queryExecution();
        List<byte[]> traces = new ArrayList<>();
        for (String text :
                List.of(
                        execution.toString(),
                        execution.logical().toString(),
                        execution.analyzed().toString(),
                        execution.optimizedPlan().toString(),
                        execution.executedPlan().toString(),
                        execution.optimizedPlan().toJSON(),
                        execution.explainString(
                                org.apache.spark.sql.execution.ExplainMode.fromString("codegen")),
                        frame.schema().json())) {
            traces.add(text.getBytes(StandardCharsets.UTF_8));
        }
        traces.add(closure(execution.executedPlan()));
        traces.add(closure(execution.toRdd()));
        return traces;
    }

    private static List<byte[]> events() throws IOException, TimeoutException {
        List<byte[]> events = new ArrayList<>();
        SPARK.sparkContext().listenerBus().waitUntilEmpty(1_200_000);
        try (Stream<Path> paths = Files.walk(EVENTS)) {
            for (Path path : paths.filter(Files::isRegularFile).toList()) {
                events.add(Files.readAllBytes(path));
            }
        }
        return events;
    }

    @Test
    void noKeyIsAnywhere() throws IOException, TimeoutException {
        Path path = Sessions.key("PMAC-AES128");
        String line = Files.readAllLines(path).stream().filter(it -> it.startsWith("key: ")).findAny().get();
        byte[] key = HexFormat.of().parseHex(line.substring("key: ".length()));
        for (String ref : List.of("file:" + path, "env:TAGMAC_TEST_KEY", "secret:k", "command:cat " + path)) {
            Dataset<Row> frame =
                    SPARK.range(100)
                            .selectExpr("cast(id as string) text")
                            .selectExpr("text", "tagmac_tag(text, '" + ref + "') tag")
                            .repartition(2)
                            .selectExpr("tagmac_verify(text, tag, '" + ref + "') right");
            for (byte[] trace : traces(frame)) {
                assertEquals(List.of(), found(trace, key), ref);
            }
        }

        // The control: a planted secret must be found in plans, closures and event logs.
        String planted = HexFormat.of().formatHex(PLANTED);
        SPARK.sparkContext().setJobDescription(Base64.getEncoder().encodeToString(PLANTED));
        Dataset<Row> leak = SPARK.range(1).selectExpr("concat('" + planted + "', id) leak");
        long traced = 0;
        for (byte[] trace : traces(leak)) {
            traced += found(trace, PLANTED).isEmpty() ? 0 : 1;
        }
        SPARK.sparkContext().setJobDescription(null);
        assertTrue(traced >= 7, traced + " traces");
        List<String> logged = new ArrayList<>();
        for (byte[] log : events()) {
            logged.addAll(found(log, PLANTED));
            assertEquals(List.of(), found(log, key));
        }
        assertTrue(logged.containsAll(List.of("hex", "base64+0")), logged.toString());
    }

    @Test
    void plansHideTheWordsOfCommands() throws IOException {
        Path path = Sessions.key("PMAC-AES128");
        Dataset<Row> frame = SPARK.range(1).selectExpr("tagmac_tag('x', 'command:cat " + path + "')");
        String plan = frame.queryExecution().optimizedPlan().toString();
        assertTrue(plan.contains("command:cat ..."), plan);
        assertTrue(!plan.contains(path.toString()), plan);
    }
}
