// my-go-bot: speaks the protocol; what it chooses is in strategy.go.
package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
)

func main() {
	input, output := bufio.NewReader(os.Stdin), os.Stdout
	os.Stdout = os.Stderr // stdout belongs to the protocol: whatever prints, prints to the log
	if err := play(input, output); err != io.EOF {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func play(input io.Reader, output io.Writer) error {
	var game Value
	for {
		message, err := ReadFrame(input)
		if err != nil {
			return err
		}
		switch Text(message, "type") {
		case "hello":
			err = WriteFrame(output, Map{{"type", "hello"}, {"protocol", int64(1)}, {"name", "my-go-bot"}})
		case "game":
			game = message
		case "choose":
			id, action := Number(message, "id"), Choose(game, message)
			err = WriteFrame(output, Map{{"type", "action"}, {"id", id}, {"action", action}})
		case "error":
			fmt.Printf("refused by the server (%s): %s\n", Text(message, "code"), Text(message, "text"))
		} // "end" needs no answer
		if err != nil {
			return err
		}
	}
}
