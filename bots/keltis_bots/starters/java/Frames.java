import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;

/** Frames: a length of four bytes, big endian, then that many bytes of msgpack. */
final class Frames {
    private Frames() {}

    /** Return the next message, or null when the other end has closed the pipe. */
    static Object read(DataInputStream input) throws IOException {
        byte[] payload;
        try {
            payload = new byte[input.readInt()];
        } catch (EOFException closed) {
            return null;
        }
        input.readFully(payload);
        return Msgpack.unpack(payload);
    }

    static void write(OutputStream output, Object message) throws IOException {
        byte[] payload = Msgpack.pack(message);
        output.write(ByteBuffer.allocate(4 + payload.length).putInt(payload.length).put(payload).array());
        output.flush();
    }
}
