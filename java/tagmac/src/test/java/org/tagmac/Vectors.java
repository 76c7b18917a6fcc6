package org.tagmac;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/** The test vectors of the repository. */
final class Vectors {
    /** Ciphers, MACs without a name, and the one-time Poly1305, which is not in the registry. */
    private static final Set<String> OTHERS =
            Set.of("aes.json", "present.json", "rc6.json", "parameters.json", "poly1305.json");

    private static final Path FOLDER = Path.of("../../vectors");

    /** A vector. {@code refuse} is empty if it is valid. */
    record Row(
            String algorithm,
            byte[] key,
            byte[] nonce,
            byte[] message,
            byte[] tag,
            int tagBits,
            String refuse,
            String source) {}

    private Vectors() {}

    private static byte[] hex(JsonElement text) {
        return text == null ? new byte[0] : HexFormat.of().parseHex(text.getAsString());
    }

    private static Stream<Path> files(Path folder) throws IOException {
        try (Stream<Path> paths = Files.list(folder)) {
            return paths.filter(path -> path.toString().endsWith(".json"))
                    .filter(path -> !OTHERS.contains(path.getFileName().toString()))
                    .sorted()
                    .toList()
                    .stream();
        }
    }

    /** Returns the bytes of a message; null if it ends within a byte. */
    private static byte[] message(JsonObject row) {
        if (row.has("msg_bits")) {
            String bits = row.get("msg_bits").getAsString();
            if (bits.length() % 8 != 0) {
                return null;
            }
            byte[] bytes = new byte[bits.length() / 8];
            for (int i = 0; i < bytes.length; i++) {
                bytes[i] = (byte) Integer.parseInt(bits.substring(8 * i, 8 * i + 8), 2);
            }
            return bytes;
        }
        if (row.get("msg").isJsonPrimitive()) {
            return hex(row.get("msg"));
        }
        JsonObject repeated = row.getAsJsonObject("msg");
        byte[] pattern = hex(repeated.get("repeat"));
        byte[] bytes = new byte[repeated.get("total_bytes").getAsInt()];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = pattern[i % pattern.length];
        }
        return bytes;
    }

    /** Returns the rows of vectors/. */
    static List<Row> all() throws IOException {
        List<Row> rows = new ArrayList<>();
        for (Path path : files(FOLDER).toList()) {
            for (JsonElement element : JsonParser.parseString(Files.readString(path)).getAsJsonArray()) {
                JsonObject row = element.getAsJsonObject();
                byte[] message = message(row);
                if (message != null) {
                    boolean valid = row.get("valid").getAsBoolean();
                    rows.add(
                            new Row(
                                    row.get("algorithm").getAsString(),
                                    hex(row.get("key")),
                                    hex(row.get("nonce")),
                                    message,
                                    hex(row.get("tag")),
                                    row.get("tag_bits").getAsInt(),
                                    valid ? "" : row.get("refuse").getAsString(),
                                    path.getFileName().toString()));
                }
            }
        }
        return rows;
    }

    /** Returns the rows of vectors/wycheproof. Only some of the invalid ones have a wrong tag. */
    static List<Row> wycheproof() throws IOException {
        List<Row> rows = new ArrayList<>();
        for (Path path : files(FOLDER.resolve("wycheproof")).toList()) {
            JsonObject file = JsonParser.parseString(Files.readString(path)).getAsJsonObject();
            JsonArray groups = file.getAsJsonArray("testGroups");
            for (JsonElement group : groups) {
                for (JsonElement element : group.getAsJsonObject().getAsJsonArray("tests")) {
                    JsonObject row = element.getAsJsonObject();
                    String result = row.get("result").getAsString();
                    // Keys that some libraries refuse.
                    if (result.equals("acceptable")) {
                        continue;
                    }
                    rows.add(
                            new Row(
                                    file.get("algorithm").getAsString(),
                                    hex(row.get("key")),
                                    hex(row.get("iv")),
                                    hex(row.get("msg")),
                                    hex(row.get("tag")),
                                    group.getAsJsonObject().get("tagSize").getAsInt(),
                                    result.equals("valid") ? "" : "any",
                                    path.getFileName() + " " + row.get("tcId")));
                }
            }
        }
        return rows;
    }
}
