// my-cpp-bot: speaks the protocol; what it chooses is in strategy.hpp.
#include <iostream>

#include "frames.hpp"
#include "strategy.hpp"

using msgpack::Value;

int main() {
    const int out = dup(1);
    dup2(2, 1);  // stdout belongs to the protocol: whatever prints, prints to the log

    Value game, message;
    while (read_frame(0, message)) {
        const std::string& type = message["type"].text;
        if (type == "hello") {
            write_frame(out, Value::map({{"type", "hello"}, {"protocol", 1}, {"name", "my-cpp-bot"}}));
        } else if (type == "game") {
            game = message;
        } else if (type == "choose") {
            const int64_t action = choose(game, message);
            write_frame(out, Value::map({{"type", "action"}, {"id", message["id"]}, {"action", action}}));
        } else if (type == "error") {
            std::cerr << "refused by the server (" << message["code"].text
                      << "): " << message["text"].text << std::endl;
        }  // "end" needs no answer
    }
    return 0;
}
