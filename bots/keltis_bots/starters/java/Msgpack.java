import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * msgpack: null, Boolean, Long, String, List and Map.
 *
 * <p>Messages hold nothing else; binary data and floats are skipped and become null.
 */
final class Msgpack {
    private Msgpack() {}

    /** Follow names and indices into maps and lists: at(view, "rows", 0, "R"). */
    static Object at(Object value, Object... path) {
        for (Object step : path) {
            value = step instanceof Integer index
                    ? ((List<?>) value).get(index)
                    : ((Map<?, ?>) value).get(step);
        }
        return value;
    }

    static long number(Object value, Object... path) {
        return (Long) at(value, path);
    }

    static String text(Object value, Object... path) {
        return (String) at(value, path);
    }

    static List<?> list(Object value, Object... path) {
        return (List<?>) at(value, path);
    }

    /** Return a map with these names and values by turns; Map.of would not keep the order. */
    static Map<String, Object> map(Object... namesAndValues) {
        Map<String, Object> map = new LinkedHashMap<>();
        for (int k = 0; k < namesAndValues.length; k += 2) {
            map.put((String) namesAndValues[k], namesAndValues[k + 1]);
        }
        return map;
    }

    static byte[] pack(Object value) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try {
            write(new DataOutputStream(bytes), value);
        } catch (IOException impossible) { // in memory
            throw new UncheckedIOException(impossible);
        }
        return bytes.toByteArray();
    }

    private static void write(DataOutputStream out, Object value) throws IOException {
        if (value == null) {
            out.writeByte(0xc0);
        } else if (value instanceof Boolean truth) {
            out.writeByte(truth ? 0xc3 : 0xc2);
        } else if (value instanceof Number number) {
            writeInteger(out, number.longValue());
        } else if (value instanceof String text) {
            byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
            writeHeader(out, bytes.length, 0xa0, 32, 0xd9, 0xda);
            out.write(bytes);
        } else if (value instanceof List<?> list) {
            writeHeader(out, list.size(), 0x90, 16, 0, 0xdc);
            for (Object item : list) {
                write(out, item);
            }
        } else if (value instanceof Map<?, ?> map) {
            writeHeader(out, map.size(), 0x80, 16, 0, 0xde);
            for (Map.Entry<?, ?> field : map.entrySet()) {
                write(out, field.getKey());
                write(out, field.getValue());
            }
        } else {
            throw new IllegalArgumentException("no message holds a " + value.getClass());
        }
    }

    private static void writeInteger(DataOutputStream out, long number) throws IOException {
        if (number >= -32 && number < 0x80) {
            out.writeByte((int) number);
        } else if (number >= 0 && number < 0x100) {
            out.writeByte(0xcc);
            out.writeByte((int) number);
        } else if (number >= 0 && number < 0x10000) {
            out.writeByte(0xcd);
            out.writeShort((int) number);
        } else if (number >= 0 && number < 0x100000000L) {
            out.writeByte(0xce);
            out.writeInt((int) number);
        } else {
            out.writeByte(0xd3);
            out.writeLong(number);
        }
    }

    /** Write a length with its type: within the first byte if it is short, or behind it. */
    private static void writeHeader(
            DataOutputStream out, int length, int near, int nearEnd, int with8, int with16)
            throws IOException {
        if (length < nearEnd) {
            out.writeByte(near | length);
        } else if (with8 != 0 && length < 0x100) {
            out.writeByte(with8);
            out.writeByte(length);
        } else if (length < 0x10000) {
            out.writeByte(with16);
            out.writeShort(length);
        } else {
            out.writeByte(with16 + 1);
            out.writeInt(length);
        }
    }

    static Object unpack(byte[] bytes) {
        ByteBuffer buffer = ByteBuffer.wrap(bytes); // big endian
        Object value;
        try {
            value = read(buffer);
        } catch (BufferUnderflowException | IndexOutOfBoundsException error) {
            throw new IllegalArgumentException("the message is cut off");
        }
        if (buffer.hasRemaining()) {
            throw new IllegalArgumentException("bytes are left behind the value");
        }
        return value;
    }

    private static Object read(ByteBuffer in) {
        int type = in.get() & 0xff;
        if (type < 0x80) return (long) type;
        if (type < 0x90) return readMap(in, type & 0x0f);
        if (type < 0xa0) return readList(in, type & 0x0f);
        if (type < 0xc0) return readText(in, type & 0x1f);
        if (type >= 0xe0) return (long) (byte) type;
        return switch (type) {
            case 0xc0 -> null;
            case 0xc2 -> false;
            case 0xc3 -> true;
            case 0xc4, 0xc5, 0xc6 -> skip(in, length(in, 1 << (type - 0xc4)));
            case 0xca -> skip(in, 4);
            case 0xcb -> skip(in, 8);
            case 0xcc -> in.get() & 0xffL;
            case 0xcd -> in.getShort() & 0xffffL;
            case 0xce -> in.getInt() & 0xffffffffL;
            case 0xcf, 0xd3 -> in.getLong();
            case 0xd0 -> (long) in.get();
            case 0xd1 -> (long) in.getShort();
            case 0xd2 -> (long) in.getInt();
            case 0xd9, 0xda, 0xdb -> readText(in, length(in, 1 << (type - 0xd9)));
            case 0xdc, 0xdd -> readList(in, length(in, 2 << (type - 0xdc)));
            case 0xde, 0xdf -> readMap(in, length(in, 2 << (type - 0xde)));
            default -> throw new IllegalArgumentException("no message holds the msgpack type " + type);
        };
    }

    private static int length(ByteBuffer in, int size) {
        int length = 0;
        for (int k = 0; k < size; k++) {
            length = length << 8 | in.get() & 0xff;
        }
        return length;
    }

    private static Object skip(ByteBuffer in, int size) {
        slice(in, size);
        return null;
    }

    private static ByteBuffer slice(ByteBuffer in, int size) {
        ByteBuffer slice = in.slice(in.position(), size);
        in.position(in.position() + size);
        return slice;
    }

    private static String readText(ByteBuffer in, int size) {
        return StandardCharsets.UTF_8.decode(slice(in, size)).toString();
    }

    private static List<Object> readList(ByteBuffer in, int length) {
        List<Object> items = new ArrayList<>();
        for (int k = 0; k < length; k++) {
            items.add(read(in));
        }
        return items;
    }

    private static Map<String, Object> readMap(ByteBuffer in, int length) {
        Map<String, Object> map = new LinkedHashMap<>();
        for (int k = 0; k < length; k++) {
            String name = (String) read(in);
            map.put(name, read(in));
        }
        return map;
    }
}
