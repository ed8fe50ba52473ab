// What the bot chooses: it lays cards that skip few numbers.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "msgpack.hpp"

// How many numbers a card skips in a row; the first card of a row costs 4 more.
inline int skipped(const msgpack::Value& row, const std::string& card) {
    const bool is_end = card.back() == 'E';
    if (row.size() && row.back().text.back() == 'E') return is_end ? 0 : 9;
    if (is_end) return row.size() >= 4 ? 0 : 9;
    const int value = std::stoi(card.substr(1));
    if (!row.size()) return 4 + std::min(value, 10 - value);
    return std::abs(value - std::stoi(row.back().text.substr(1)));
}

// What an action is worth, by its notation.
inline int worth(const std::string& text, const msgpack::Value& view, int seat) {
    // Decisions that neither lay nor discard a card; all others are worth nothing.
    static const std::map<std::string, int> WORTH = {
        {"pair", 90},   {"move", 60},  {"clover", 60}, {"done", 31},
        {"reveal", 25}, {"leave", 18}, {"draw", 10},   {"keep", 5},
    };
    std::vector<std::string> words;
    std::istringstream stream(text);
    for (std::string word; stream >> word;) words.push_back(word);
    if (text == "keep" && view["phase"].text == "revealed") words = {"take", view["revealed"].text};
    const std::string verb = words[0], card = words.size() > 1 ? words[1] : "";
    const bool lays = verb == "lay" || verb == "add" || verb == "take" || verb == "last";
    if (card.size() < 2 || !(lays || verb == "discard")) {
        const auto found = WORTH.find(verb);
        const int value = found == WORTH.end() ? 0 : found->second;
        // Figures that are on their way move before those at the start.
        return card.rfind("start", 0) == 0 ? value - 5 : value;
    }
    const std::string colour(1, words.back()[0]);  // of the row: "lay R7", "lay P7 on R"
    const int skips = colour == "P" ? 3 : skipped(view["rows"][seat][colour], card);
    return lays ? 50 - 5 * skips : 10 + skips;
}

// Return one of request["legal"]. Change this.
inline int64_t choose(const msgpack::Value& game, const msgpack::Value& request) {
    const msgpack::Value& notation = request["notation"];
    const int seat = static_cast<int>(game["seat"].number);
    size_t best = 0;
    int most = -1000;
    for (size_t k = 0; k < notation.size(); k++) {
        const int value = worth(notation[k].text, request["view"], seat);
        if (value > most) {
            most = value;
            best = k;
        }
    }
    return request["legal"][best].number;
}
