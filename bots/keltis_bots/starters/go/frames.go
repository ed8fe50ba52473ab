package main

import (
	"encoding/binary"
	"io"
)

// ReadFrame returns the next message: a length of four bytes, big endian, then
// that many bytes of msgpack. The error is io.EOF when the pipe was closed.
func ReadFrame(input io.Reader) (Value, error) {
	head := make([]byte, 4)
	if _, err := io.ReadFull(input, head); err != nil {
		return nil, err
	}
	payload := make([]byte, binary.BigEndian.Uint32(head))
	if _, err := io.ReadFull(input, payload); err != nil {
		return nil, err
	}
	return Unpack(payload)
}

// WriteFrame writes a message with its length in front.
func WriteFrame(output io.Writer, message Value) error {
	payload := Pack(message)
	head := binary.BigEndian.AppendUint32(nil, uint32(len(payload)))
	_, err := output.Write(append(head, payload...))
	return err
}
