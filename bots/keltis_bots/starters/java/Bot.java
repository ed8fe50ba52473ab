import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;

/** my-java-bot: speaks the protocol; what it chooses is in Strategy.java. */
final class Bot {
    private Bot() {}

    public static void main(String[] arguments) throws IOException {
        DataInputStream input = new DataInputStream(new BufferedInputStream(System.in));
        OutputStream output = new FileOutputStream(FileDescriptor.out);
        System.setOut(System.err); // stdout belongs to the protocol: whatever prints, prints to the log

        Object game = null;
        Object message;
        while ((message = Frames.read(input)) != null) {
            switch (Msgpack.text(message, "type")) {
                case "hello" -> Frames.write(
                        output, Msgpack.map("type", "hello", "protocol", 1, "name", "my-java-bot"));
                case "game" -> game = message;
                case "choose" -> {
                    long id = Msgpack.number(message, "id");
                    long action = Strategy.choose(game, message);
                    Frames.write(output, Msgpack.map("type", "action", "id", id, "action", action));
                }
                case "error" -> System.err.printf(
                        "refused by the server (%s): %s%n",
                        Msgpack.text(message, "code"), Msgpack.text(message, "text"));
                default -> {} // "end" needs no answer
            }
        }
    }
}
