// Build and run with: g++ -std=c++17 -o test test.cpp && ./test
#include <iostream>

#include "frames.hpp"
#include "strategy.hpp"

using msgpack::Value;

static int failures = 0;

static void check(bool holds, const std::string& what) {
    std::cout << (holds ? "ok   " : "FAIL ") << what << std::endl;
    failures += !holds;
}

static std::string from_hex(const std::string& hex) {
    std::string bytes;
    for (size_t k = 0; k < hex.size(); k += 2)
        bytes += static_cast<char>(std::stoi(hex.substr(k, 2), nullptr, 16));
    return bytes;
}

static Value list(const std::vector<std::string>& texts) {
    return Value::array(std::vector<Value>(texts.begin(), texts.end()));
}

// What the bot chooses among these actions, numbered from 100; `row` is its red row.
static int64_t chosen(const std::vector<std::string>& row, const std::vector<std::string>& notation) {
    std::vector<Value> legal;
    for (size_t k = 0; k < notation.size(); k++) legal.push_back(Value(static_cast<int64_t>(100 + k)));
    const Value rows = Value::array({Value::map({{"R", list(row)}})});
    return choose(Value::map({{"seat", 0}}),
                  Value::map({{"legal", Value::array(legal)},
                              {"notation", list(notation)},
                              {"view", Value::map({{"phase", "turn"}, {"rows", rows}})}}));
}

static void test_reading() {
    const std::string sample = from_hex(
        "86a76e756d626572739c007fffe0ccc8d09ccd9c40d18ad0ceb2d05e00d288ca6c00cf0000010000000000d3ffffff"
        "0000000000a66f746865727393c0c3c2a474657874d928c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9"
        "c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9a7736b697070656492c4026162cb3ff8000000000000a5656d70747980a46d"
        "616e79dc0014000102030405060708090a0b0c0d0e0f10111213");
    const Value value = msgpack::unpack(sample);
    const std::vector<int64_t> numbers = {0, 127, -1, -32, 200, -100, 40000, -30000, 3000000000,
                                          -2000000000, 1099511627776, -1099511627776};
    check(value["numbers"] == Value::array({numbers.begin(), numbers.end()}), "whole numbers");
    check(value["others"] == Value::array({Value(), true, false}), "nil and booleans");
    check(value["text"].text.size() == 40, "a text");
    check(value["skipped"] == Value::array({Value(), Value()}), "binary data and floats are skipped");
    check(value["empty"] == Value::map({}) && value["many"].size() == 20, "a map and an array");
    size_t refused = 0;
    for (size_t size = 0; size < sample.size(); size++) {
        try {
            msgpack::unpack(sample.substr(0, size));
        } catch (const std::runtime_error&) {
            refused++;
        }
    }
    check(refused == sample.size(), "a message that is cut off is refused");
}

static void test_round_trips() {
    std::vector<Value> values = {Value(), true, false, Value::map({{"a", Value::array({})}})};
    for (int64_t number : {0L, 127L, 128L, 255L, 256L, 65535L, 65536L, 4294967295L, 4294967296L, -1L,
                           -32L, -33L, -128L, -129L, -40000L, -1099511627776L})
        values.push_back(Value(number));
    for (size_t length : {0, 15, 16, 31, 32, 255, 256, 65535, 65536}) {
        values.push_back(Value(std::string(length, 'x')));
        values.push_back(Value::array(std::vector<Value>(length, Value(1))));
    }
    bool all = true;
    for (const Value& value : values) all = all && msgpack::unpack(msgpack::pack(value)) == value;
    check(all, "what is packed is unpacked again");
}

static void test_frames() {
    int ends[2];
    if (pipe(ends) != 0) return check(false, "a pipe");
    const Value action = Value::map({{"type", "action"}, {"id", 300}, {"action", 5}});
    write_frame(ends[1], action);
    std::string bytes(31, '\0');
    check(read_all(ends[0], bytes) &&
              bytes == from_hex("0000001b83a474797065a6616374696f6ea26964cd012ca6616374696f6e05"),
          "a frame is its length and its message");
    write_frame(ends[1], action);
    close(ends[1]);
    Value read;
    check(read_frame(ends[0], read) && read == action, "a frame is read");
    check(!read_frame(ends[0], read), "the end is noticed");
}

int main() {
    test_reading();
    test_round_trips();
    test_frames();
    check(chosen({"R3"}, {"lay R5", "lay R9", "discard R5", "discard R9"}) == 100,
          "it lays the card that skips fewest numbers");
    check(chosen({}, {"lay R5", "discard R5"}) == 101, "it begins no row in the middle");
    check(chosen({}, {"draw", "take R"}) == 100, "it draws from the draw pile");
    return failures != 0;
}
