// msgpack: nil, booleans, whole numbers, texts, arrays and maps.
// Messages hold nothing else; binary data and floats are skipped and become nil.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace msgpack {

// A value of any type: value["rows"][0]["R"].size(), value["phase"].text, value["turn"].number.
struct Value {
    enum Kind { Nil, Bool, Integer, Text, Array, Map };

    Kind kind = Nil;
    int64_t number = 0;              // of an integer; 0 or 1 of a boolean
    std::string text;                // of a text
    std::vector<Value> items;        // of an array; the values of a map
    std::vector<std::string> names;  // of a map, in the order of the items

    Value() = default;
    Value(int64_t value) : kind(Integer), number(value) {}
    Value(int value) : Value(static_cast<int64_t>(value)) {}
    Value(bool value) : kind(Bool), number(value) {}
    Value(std::string value) : kind(Text), text(std::move(value)) {}
    Value(const char* value) : Value(std::string(value)) {}

    static Value array(std::vector<Value> items) {
        Value value;
        value.kind = Array;
        value.items = std::move(items);
        return value;
    }

    static Value map(std::vector<std::pair<std::string, Value>> fields) {
        Value value;
        value.kind = Map;
        for (auto& [name, field] : fields) {
            value.names.push_back(std::move(name));
            value.items.push_back(std::move(field));
        }
        return value;
    }

    bool is_nil() const { return kind == Nil; }
    size_t size() const { return items.size(); }
    const Value& back() const { return items.back(); }
    const Value& operator[](size_t index) const { return items.at(index); }
    const Value& operator[](int index) const { return items.at(static_cast<size_t>(index)); }

    const Value& operator[](const std::string& name) const {
        for (size_t k = 0; k < names.size(); k++)
            if (names[k] == name) return items[k];
        throw std::out_of_range("there is no field " + name);
    }
    const Value& operator[](const char* name) const { return (*this)[std::string(name)]; }

    bool operator==(const Value& other) const {
        return kind == other.kind && number == other.number && text == other.text &&
               items == other.items && names == other.names;
    }
};

inline void put_number(std::string& out, uint64_t number, int size) {
    for (int k = size - 1; k >= 0; k--) out += static_cast<char>(number >> (8 * k));
}

// A length with its type: within the first byte if it is short, or behind it.
inline void put_header(std::string& out, size_t length, int near, size_t near_end, int with8,
                       int with16) {
    if (length < near_end) {
        out += static_cast<char>(static_cast<size_t>(near) | length);
    } else if (with8 && length < 0x100) {
        out += static_cast<char>(with8);
        put_number(out, length, 1);
    } else if (length < 0x10000) {
        out += static_cast<char>(with16);
        put_number(out, length, 2);
    } else {
        out += static_cast<char>(with16 + 1);
        put_number(out, length, 4);
    }
}

inline void put_integer(std::string& out, int64_t number) {
    if (number >= -32 && number < 128) {
        out += static_cast<char>(number);
    } else if (number >= 0 && number < 0x100) {
        out += '\xcc';
        put_number(out, static_cast<uint64_t>(number), 1);
    } else if (number >= 0 && number < 0x10000) {
        out += '\xcd';
        put_number(out, static_cast<uint64_t>(number), 2);
    } else if (number >= 0 && number < 0x100000000) {
        out += '\xce';
        put_number(out, static_cast<uint64_t>(number), 4);
    } else {
        out += '\xd3';
        put_number(out, static_cast<uint64_t>(number), 8);
    }
}

inline void pack_into(std::string& out, const Value& value) {
    switch (value.kind) {
        case Value::Nil: out += '\xc0'; break;
        case Value::Bool: out += value.number ? '\xc3' : '\xc2'; break;
        case Value::Integer: put_integer(out, value.number); break;
        case Value::Text:
            put_header(out, value.text.size(), 0xa0, 32, 0xd9, 0xda);
            out += value.text;
            break;
        case Value::Array:
            put_header(out, value.size(), 0x90, 16, 0, 0xdc);
            for (const Value& item : value.items) pack_into(out, item);
            break;
        case Value::Map:
            put_header(out, value.size(), 0x80, 16, 0, 0xde);
            for (size_t k = 0; k < value.size(); k++) {
                pack_into(out, Value(value.names[k]));
                pack_into(out, value.items[k]);
            }
            break;
    }
}

inline std::string pack(const Value& value) {
    std::string out;
    pack_into(out, value);
    return out;
}

class Reader {
public:
    explicit Reader(const std::string& bytes) : bytes(bytes) {}

    Value value() {
        const auto type = static_cast<int>(number(1));
        if (type < 0x80) return Value(type);
        if (type < 0x90) return map(type & 0x0f);
        if (type < 0xa0) return array(type & 0x0f);
        if (type < 0xc0) return Value(take(type & 0x1f));
        if (type >= 0xe0) return Value(type - 0x100);
        switch (type) {
            case 0xc0: return Value();
            case 0xc2: return Value(false);
            case 0xc3: return Value(true);
            case 0xc4: case 0xc5: case 0xc6: return skip(number(1 << (type - 0xc4)));
            case 0xca: return skip(4);
            case 0xcb: return skip(8);
            case 0xcc: case 0xcd: case 0xce: case 0xcf:
                return Value(static_cast<int64_t>(number(1 << (type - 0xcc))));
            case 0xd0: return Value(static_cast<int64_t>(static_cast<int8_t>(number(1))));
            case 0xd1: return Value(static_cast<int64_t>(static_cast<int16_t>(number(2))));
            case 0xd2: return Value(static_cast<int64_t>(static_cast<int32_t>(number(4))));
            case 0xd3: return Value(static_cast<int64_t>(number(8)));
            case 0xd9: case 0xda: case 0xdb: return Value(take(number(1 << (type - 0xd9))));
            case 0xdc: case 0xdd: return array(number(2 << (type - 0xdc)));
            case 0xde: case 0xdf: return map(number(2 << (type - 0xde)));
        }
        throw std::runtime_error("no message holds the msgpack type " + std::to_string(type));
    }

    bool done() const { return at == bytes.size(); }

private:
    std::string take(uint64_t size) {
        if (size > bytes.size() - at) throw std::runtime_error("the message is cut off");
        at += size;
        return bytes.substr(at - size, size);
    }

    Value skip(uint64_t size) {
        take(size);
        return Value();
    }

    uint64_t number(int size) {
        uint64_t number = 0;
        for (unsigned char byte : take(static_cast<uint64_t>(size))) number = number << 8 | byte;
        return number;
    }

    Value array(uint64_t length) {
        std::vector<Value> items;
        while (length-- > 0) items.push_back(value());
        return Value::array(std::move(items));
    }

    Value map(uint64_t length) {
        std::vector<std::pair<std::string, Value>> fields;
        while (length-- > 0) {
            std::string name = value().text;
            fields.emplace_back(std::move(name), value());
        }
        return Value::map(std::move(fields));
    }

    const std::string& bytes;
    size_t at = 0;
};

inline Value unpack(const std::string& bytes) {
    Reader reader(bytes);
    Value value = reader.value();
    if (!reader.done()) throw std::runtime_error("bytes are left behind the value");
    return value;
}

}  // namespace msgpack
