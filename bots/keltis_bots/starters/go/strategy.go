package main

import (
	"strconv"
	"strings"
)

// What a decision is worth that neither lays nor discards a card; all others are worth nothing.
var worths = map[string]int{
	"pair": 90, "move": 60, "clover": 60, "done": 31, "reveal": 25, "leave": 18, "draw": 10, "keep": 5,
}

// Choose returns one of the request's legal actions. Change this.
func Choose(game, request Value) int64 {
	best, most := 0, -1000
	for k := range List(request, "notation") {
		value := worth(Text(request, "notation", k), At(request, "view"), int(Number(game, "seat")))
		if value > most {
			best, most = k, value
		}
	}
	return Number(request, "legal", best)
}

// Say what an action is worth, by its notation.
func worth(text string, view Value, seat int) int {
	words := strings.Fields(text)
	if text == "keep" && Text(view, "phase") == "revealed" {
		words = []string{"take", Text(view, "revealed")}
	}
	verb, card := words[0], ""
	if len(words) > 1 {
		card = words[1]
	}
	lays := verb == "lay" || verb == "add" || verb == "take" || verb == "last"
	if len(card) < 2 || !(lays || verb == "discard") {
		if strings.HasPrefix(card, "start") { // figures on their way move first
			return worths[verb] - 5
		}
		return worths[verb]
	}
	colour := words[len(words)-1][:1] // of the row: "lay R7", "lay P7 on R"
	skips := 3
	if colour != "P" {
		skips = skipped(List(view, "rows", seat, colour), card)
	}
	if lays {
		return 50 - 5*skips
	}
	return 10 + skips
}

// Return how many numbers a card skips in a row; the first card of a row costs 4 more.
func skipped(row []Value, card string) int {
	isEnd := strings.HasSuffix(card, "E")
	if len(row) == 0 {
		if isEnd {
			return 9
		}
		return 4 + min(number(card), 10-number(card))
	}
	last := Text(row[len(row)-1])
	if strings.HasSuffix(last, "E") || isEnd {
		if isEnd && (strings.HasSuffix(last, "E") || len(row) >= 4) {
			return 0
		}
		return 9
	}
	return max(number(card)-number(last), number(last)-number(card))
}

func number(card string) int {
	value, err := strconv.Atoi(card[1:])
	if err != nil {
		panic(err)
	}
	return value
}

func min(a, b int) int {
	if a < b {
		return a
	}
	return b
}

func max(a, b int) int {
	return -min(-a, -b)
}
