package org.tagmac.examples;

import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * Runs {@link KafkaTags} in a broker of Kafka and a worker of Kafka Connect: lines of a file are
 * tagged on their way to a topic, and verified on their way to another file. An attacker writes to the
 * topic too, without the key.
 */
public final class KafkaDemo {
    private static final Duration PATIENCE = Duration.ofMinutes(5);

    private KafkaDemo() {}

    public static void main(String[] arguments) throws Exception {
        Path folder = Files.createTempDirectory("tagmac-kafka");
        List<Process> started = new ArrayList<>();
        try {
            run(folder, arguments[0], started);
        } finally {
            for (Process process : started) {
                process.destroy();
                process.waitFor();
            }
            try (Stream<Path> files = Files.walk(folder)) {
                for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                    Files.delete(file);
                }
            }
        }
    }

    private static void run(Path folder, String key, List<Process> started) throws Exception {
        String broker = "localhost:" + freePort();
        Path in = Files.writeString(folder.resolve("in"), "pay 1 to Bob\npay 2 to Bob\n");
        Path out = folder.resolve("out");
        Path server = server(folder, broker);
        String id = Uuid.randomUuid().toString();
        Process format =
                java(folder, "format", "kafka.tools.StorageTool", "format", "-t", id, "-c", "" + server);
        if (format.waitFor() != 0) {
            throw new AssertionError(Files.readString(folder.resolve("format.log")));
        }
        Process kafka = java(folder, "broker", "kafka.Kafka", "" + server);
        started.add(kafka);
        Process connect =
                java(
                        folder,
                        "connect",
                        "org.apache.kafka.connect.cli.ConnectStandalone",
                        "" + worker(folder, broker),
                        "" + connector(folder, "Source", "topic=payments\nfile=" + in, "Tag", key),
                        "" + connector(folder, "Sink", "topics=payments\nfile=" + out, "Verify", key));
        started.add(0, connect);

        await(folder, started, out, "pay 2 to Bob");
        try (var attacker =
                new KafkaProducer<>(
                        Map.of("bootstrap.servers", broker),
                        new StringSerializer(),
                        new StringSerializer())) {
            attacker.send(new ProducerRecord<>("payments", "pay 900 to Eve")).get();
            // With the tag of another record.
            var moved = new ProducerRecord<String, String>("payments", "pay 901 to Eve");
            moved.headers().add(tagOfFirst(broker));
            attacker.send(moved).get();
        }
        Files.writeString(in, "pay 3 to Bob\n", StandardOpenOption.APPEND);
        await(folder, started, out, "pay 3 to Bob");
        List<String> found = Files.readAllLines(out);
        if (!found.equals(List.of("pay 1 to Bob", "pay 2 to Bob", "pay 3 to Bob"))) {
            throw new AssertionError("found " + found);
        }
        System.out.println("Kafka Connect: 3 records are right, 2 were dropped");
    }

    private static Header tagOfFirst(String broker) {
        Map<String, Object> options = Map.of("bootstrap.servers", broker);
        var text = new StringDeserializer();
        try (var reader = new KafkaConsumer<>(options, text, text)) {
            var partition = new TopicPartition("payments", 0);
            reader.assign(List.of(partition));
            reader.seekToBeginning(List.of(partition));
            for (var record : reader.poll(PATIENCE)) {
                return record.headers().lastHeader("tagmac");
            }
            throw new AssertionError("the topic has no records");
        }
    }

    private static Process java(Path folder, String name, String... words) throws IOException {
        List<String> command =
                new ArrayList<>(
                        List.of(
                                ProcessHandle.current().info().command().orElse("java"),
                                "-Xmx256m",
                                "-cp",
                                System.getProperty("java.class.path")));
        command.addAll(List.of(words));
        return new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(folder.resolve(name + ".log").toFile())
                .start();
    }

    private static void await(Path folder, List<Process> started, Path out, String line)
            throws Exception {
        Instant end = Instant.now().plus(PATIENCE);
        while (!Files.exists(out) || !Files.readAllLines(out).contains(line)) {
            boolean ended = started.stream().anyMatch(process -> !process.isAlive());
            if (ended || Instant.now().isAfter(end)) {
                throw new AssertionError(
                        line + ": did not arrive\n" + Files.readString(folder.resolve("broker.log"))
                                + Files.readString(folder.resolve("connect.log")));
            }
            Thread.sleep(100);
        }
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        }
    }

    private static Path server(Path folder, String broker) throws IOException {
        String controller = "localhost:" + freePort();
        return Files.writeString(
                folder.resolve("server.properties"),
                """
                process.roles=broker,controller
                node.id=1
                controller.quorum.voters=1@%2$s
                listeners=PLAINTEXT://%1$s,CONTROLLER://%2$s
                advertised.listeners=PLAINTEXT://%1$s
                controller.listener.names=CONTROLLER
                log.dirs=%3$s
                offsets.topic.replication.factor=1
                group.initial.rebalance.delay.ms=0
                """
                        .formatted(broker, controller, folder.resolve("data")));
    }

    private static Path worker(Path folder, String broker) throws IOException {
        return Files.writeString(
                folder.resolve("worker.properties"),
                """
                bootstrap.servers=%s
                listeners=http://localhost:0
                key.converter=org.apache.kafka.connect.storage.StringConverter
                value.converter=org.apache.kafka.connect.storage.StringConverter
                header.converter=org.apache.kafka.connect.converters.ByteArrayConverter
                offset.storage.file.filename=%s
                offset.flush.interval.ms=1000
                """
                        .formatted(broker, folder.resolve("offsets")));
    }

    private static Path connector(
            Path folder, String kind, String places, String transformation, String key)
            throws IOException {
        return Files.writeString(
                folder.resolve(kind + ".properties"),
                """
                name=%1$s
                connector.class=FileStream%1$s
                tasks.max=1
                errors.tolerance=all
                %2$s
                transforms=mac
                transforms.mac.type=org.tagmac.examples.KafkaTags$%3$s
                transforms.mac.key=%4$s
                """
                        .formatted(kind, places, transformation, key));
    }
}
