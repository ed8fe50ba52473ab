package main

import (
	"bytes"
	"encoding/hex"
	"io"
	"reflect"
	"strings"
	"testing"
)

const sample = "86a76e756d626572739c007fffe0ccc8d09ccd9c40d18ad0ceb2d05e00d288ca6c00cf0000010000000000d3ffffff" +
	"0000000000a66f746865727393c0c3c2a474657874d928c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9" +
	"c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9a7736b697070656492c4026162cb3ff8000000000000a5656d70747980a46d" +
	"616e79dc0014000102030405060708090a0b0c0d0e0f10111213"

func fromHex(t *testing.T, text string) []byte {
	decoded, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return decoded
}

func numbers(values ...int64) []Value {
	items := []Value{}
	for _, value := range values {
		items = append(items, value)
	}
	return items
}

func texts(values []string) []Value {
	items := []Value{}
	for _, value := range values {
		items = append(items, value)
	}
	return items
}

func expect(t *testing.T, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, expected %v", got, want)
	}
}

func TestEveryTypeThatAMessageMayHoldIsRead(t *testing.T) {
	value, err := Unpack(fromHex(t, sample))
	expect(t, err, nil)
	expect(t, At(value, "numbers"), Value(numbers(
		0, 127, -1, -32, 200, -100, 40000, -30000, 3000000000, -2000000000, 1<<40, -(1<<40),
	)))
	expect(t, At(value, "others"), Value([]Value{nil, true, false}))
	expect(t, Text(value, "text"), strings.Repeat("é", 20))
	expect(t, At(value, "skipped"), Value([]Value{nil, nil}))
	expect(t, At(value, "empty"), Value(Map{}))
	expect(t, len(List(value, "many")), 20)
}

func TestWhatIsPackedIsUnpackedAgain(t *testing.T) {
	values := []Value{nil, true, false, Map{{"a", Map{{"b", []Value{}}}}}}
	values = append(values, numbers(
		0, 127, 128, 255, 256, 65535, 65536, 1<<32-1, 1<<32, -1, -32, -33, -40000, -(1<<40),
	)...)
	for _, length := range []int{0, 15, 16, 31, 32, 255, 256, 65535, 65536} {
		values = append(values, strings.Repeat("x", length), numbers(make([]int64, length)...))
	}
	for _, value := range values {
		again, err := Unpack(Pack(value))
		expect(t, err, nil)
		expect(t, again, value)
	}
}

func TestAMessageThatIsCutOffIsRefused(t *testing.T) {
	whole := fromHex(t, sample)
	for size := range whole {
		if _, err := Unpack(whole[:size]); err == nil {
			t.Errorf("the first %d bytes were read", size)
		}
	}
}

func TestAFrameIsItsLengthAndItsMessage(t *testing.T) {
	action := Map{{"type", "action"}, {"id", int64(300)}, {"action", int64(5)}}
	var pipe bytes.Buffer
	expect(t, WriteFrame(&pipe, action), nil)
	expect(t, pipe.Bytes(), fromHex(t, "0000001b83a474797065a6616374696f6ea26964cd012ca6616374696f6e05"))
	read, err := ReadFrame(&pipe)
	expect(t, err, nil)
	expect(t, read, Value(action))
	_, err = ReadFrame(&pipe)
	expect(t, err, io.EOF)
}

// What the bot chooses among these actions, numbered from 100; row is its red row.
func chosen(row []string, notation ...string) int64 {
	legal := []Value{}
	for k := range notation {
		legal = append(legal, int64(100+k))
	}
	view := Map{{"phase", "turn"}, {"rows", []Value{Map{{"R", texts(row)}}}}}
	request := Map{{"legal", legal}, {"notation", texts(notation)}, {"view", view}}
	return Choose(Map{{"seat", int64(0)}}, request)
}

func TestItLaysTheCardThatSkipsFewestNumbers(t *testing.T) {
	expect(t, chosen([]string{"R3"}, "lay R5", "lay R9", "discard R5", "discard R9"), int64(100))
}

func TestItBeginsNoRowInTheMiddle(t *testing.T) {
	expect(t, chosen(nil, "lay R5", "discard R5"), int64(101))
}

func TestItDrawsFromTheDrawPile(t *testing.T) {
	expect(t, chosen(nil, "draw", "take R"), int64(100))
}
