import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;

/** Run with: javac -d classes *.java && java -cp classes BotTest. */
final class BotTest {
    private static final byte[] SAMPLE = HexFormat.of().parseHex(
            "86a76e756d626572739c007fffe0ccc8d09ccd9c40d18ad0ceb2d05e00d288ca6c00cf0000010000000000d3ffffff"
            + "0000000000a66f746865727393c0c3c2a474657874d928c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3"
            + "a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9a7736b697070656492c4026162cb3ff8000000000000a5656d70747980"
            + "a46d616e79dc0014000102030405060708090a0b0c0d0e0f10111213");

    private static int failures = 0;

    private BotTest() {}

    public static void main(String[] arguments) throws IOException {
        testReading();
        testRoundTrips();
        testFrames();
        check(
                chosen(List.of("R3"), "lay R5", "lay R9", "discard R5", "discard R9") == 100,
                "it lays the card that skips fewest numbers");
        check(chosen(List.of(), "lay R5", "discard R5") == 101, "it begins no row in the middle");
        check(chosen(List.of(), "draw", "take R") == 100, "it draws from the draw pile");
        System.exit(failures == 0 ? 0 : 1);
    }

    private static void check(boolean holds, String what) {
        System.out.println((holds ? "ok   " : "FAIL ") + what);
        failures += holds ? 0 : 1;
    }

    private static void testReading() {
        Object value = Msgpack.unpack(SAMPLE);
        List<Long> numbers = List.of(
                0L, 127L, -1L, -32L, 200L, -100L, 40000L, -30000L, 3000000000L, -2000000000L,
                1L << 40, -(1L << 40));
        check(Msgpack.at(value, "numbers").equals(numbers), "whole numbers");
        check(Msgpack.at(value, "others").equals(Arrays.asList(null, true, false)), "null, booleans");
        check(Msgpack.text(value, "text").equals("\u00e9".repeat(20)), "a text");
        check(Msgpack.at(value, "skipped").equals(Arrays.asList(null, null)), "binary data, floats");
        check(Msgpack.at(value, "empty").equals(Map.of()), "a map");
        check(Msgpack.list(value, "many").size() == 20, "a list");
        int refused = 0;
        for (int size = 0; size < SAMPLE.length; size++) {
            try {
                Msgpack.unpack(Arrays.copyOf(SAMPLE, size));
            } catch (IllegalArgumentException error) {
                refused++;
            }
        }
        check(refused == SAMPLE.length, "a message that is cut off is refused");
    }

    private static void testRoundTrips() {
        List<Object> values = new ArrayList<>(Arrays.asList(
                null, true, false, Map.of("a", Map.of("b", List.of())), 0L, 127L, 128L, 255L, 256L,
                65535L, 65536L, (1L << 32) - 1, 1L << 32, -1L, -32L, -33L, -40000L, -(1L << 40)));
        for (int length : new int[] {0, 15, 16, 31, 32, 255, 256, 65535, 65536}) {
            values.add("x".repeat(length));
            values.add(Collections.nCopies(length, 1L));
        }
        boolean all = true;
        for (Object value : values) {
            Object again = Msgpack.unpack(Msgpack.pack(value));
            all &= value == null ? again == null : value.equals(again);
        }
        check(all, "what is packed is unpacked again");
    }

    private static void testFrames() throws IOException {
        Object action = Msgpack.map("type", "action", "id", 300L, "action", 5L);
        ByteArrayOutputStream pipe = new ByteArrayOutputStream();
        Frames.write(pipe, action);
        String hex = HexFormat.of().formatHex(pipe.toByteArray());
        check(
                hex.equals("0000001b83a474797065a6616374696f6ea26964cd012ca6616374696f6e05"),
                "a frame is its length and its message");
        DataInputStream input = new DataInputStream(new ByteArrayInputStream(pipe.toByteArray()));
        check(action.equals(Frames.read(input)), "a frame is read");
        check(Frames.read(input) == null, "the end is noticed");
    }

    /** Return what the bot chooses among these actions, numbered from 100; row is its red row. */
    private static long chosen(List<String> row, String... notation) {
        List<Long> legal = new ArrayList<>();
        for (int k = 0; k < notation.length; k++) {
            legal.add(100L + k);
        }
        Object view = Msgpack.map("phase", "turn", "rows", List.of(Map.of("R", row)));
        Object request = Msgpack.map("legal", legal, "notation", List.of(notation), "view", view);
        return Strategy.choose(Map.of("seat", 0L), request);
    }
}
