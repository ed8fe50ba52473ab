package main

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Value is what a message holds: nil, bool, int64, string, []Value or Map.
// Messages hold nothing else; binary data and floats are skipped and become nil.
type Value = any

// Map keeps its fields in order.
type Map []Field

// Field is one entry of a map.
type Field struct {
	Name  string
	Value Value
}

// At follows names and indices into maps and lists; nil if there is nothing.
func At(value Value, path ...any) Value {
	for _, step := range path {
		value = atOne(value, step)
	}
	return value
}

func atOne(value Value, step any) Value {
	switch key := step.(type) {
	case string:
		fields, _ := value.(Map)
		for _, field := range fields {
			if field.Name == key {
				return field.Value
			}
		}
	case int:
		items, _ := value.([]Value)
		if key >= 0 && key < len(items) {
			return items[key]
		}
	}
	return nil
}

// Number returns the number at a path; 0 if there is none.
func Number(value Value, path ...any) int64 {
	number, _ := At(value, path...).(int64)
	return number
}

// Text returns the text at a path; "" if there is none.
func Text(value Value, path ...any) string {
	text, _ := At(value, path...).(string)
	return text
}

// List returns the list at a path; empty if there is none.
func List(value Value, path ...any) []Value {
	items, _ := At(value, path...).([]Value)
	return items
}

// Pack returns a value as msgpack.
func Pack(value Value) []byte {
	return appendValue(nil, value)
}

func appendValue(out []byte, value Value) []byte {
	switch v := value.(type) {
	case nil:
		return append(out, 0xc0)
	case bool:
		if v {
			return append(out, 0xc3)
		}
		return append(out, 0xc2)
	case int64:
		return appendInteger(out, v)
	case string:
		return append(appendHeader(out, len(v), 0xa0, 32, 0xd9, 0xda), v...)
	case []Value:
		out = appendHeader(out, len(v), 0x90, 16, 0, 0xdc)
		for _, item := range v {
			out = appendValue(out, item)
		}
		return out
	case Map:
		out = appendHeader(out, len(v), 0x80, 16, 0, 0xde)
		for _, field := range v {
			out = appendValue(appendValue(out, field.Name), field.Value)
		}
		return out
	}
	panic(fmt.Sprintf("no message holds a %T", value))
}

func appendInteger(out []byte, number int64) []byte {
	switch {
	case number >= -32 && number < 0x80:
		return append(out, byte(number))
	case number >= 0 && number < 0x100:
		return append(out, 0xcc, byte(number))
	case number >= 0 && number < 0x10000:
		return binary.BigEndian.AppendUint16(append(out, 0xcd), uint16(number))
	case number >= 0 && number < 0x100000000:
		return binary.BigEndian.AppendUint32(append(out, 0xce), uint32(number))
	}
	return binary.BigEndian.AppendUint64(append(out, 0xd3), uint64(number))
}

// A length with its type: within the first byte if it is short, or behind it.
func appendHeader(out []byte, length int, near byte, nearEnd int, with8, with16 byte) []byte {
	switch {
	case length < nearEnd:
		return append(out, near|byte(length))
	case with8 != 0 && length < 0x100:
		return append(out, with8, byte(length))
	case length < 0x10000:
		return binary.BigEndian.AppendUint16(append(out, with16), uint16(length))
	}
	return binary.BigEndian.AppendUint32(append(out, with16+1), uint32(length))
}

var errCutOff = errors.New("the message is cut off")

// Unpack returns the value that the bytes hold.
func Unpack(bytes []byte) (value Value, err error) {
	defer func() {
		if failure := recover(); failure != nil {
			err = fmt.Errorf("%v", failure)
		}
	}()
	r := reader{bytes}
	value = r.value()
	if len(r.bytes) > 0 {
		return nil, errors.New("bytes are left behind the value")
	}
	return value, nil
}

type reader struct {
	bytes []byte
}

func (r *reader) value() Value {
	kind := r.take(1)[0]
	switch {
	case kind < 0x80:
		return int64(kind)
	case kind < 0x90:
		return r.fields(int(kind & 0x0f))
	case kind < 0xa0:
		return r.list(int(kind & 0x0f))
	case kind < 0xc0:
		return string(r.take(int(kind & 0x1f)))
	case kind >= 0xe0:
		return int64(int8(kind))
	}
	switch kind {
	case 0xc0:
		return nil
	case 0xc2, 0xc3:
		return kind == 0xc3
	case 0xc4, 0xc5, 0xc6:
		return r.skip(int(r.number(1 << (kind - 0xc4))))
	case 0xca, 0xcb:
		return r.skip(4 << (kind - 0xca))
	case 0xcc, 0xcd, 0xce, 0xcf:
		return int64(r.number(1 << (kind - 0xcc)))
	case 0xd0:
		return int64(int8(r.number(1)))
	case 0xd1:
		return int64(int16(r.number(2)))
	case 0xd2:
		return int64(int32(r.number(4)))
	case 0xd3:
		return int64(r.number(8))
	case 0xd9, 0xda, 0xdb:
		return string(r.take(int(r.number(1 << (kind - 0xd9)))))
	case 0xdc, 0xdd:
		return r.list(int(r.number(2 << (kind - 0xdc))))
	case 0xde, 0xdf:
		return r.fields(int(r.number(2 << (kind - 0xde))))
	}
	panic(fmt.Sprintf("no message holds the msgpack type %#x", kind))
}

func (r *reader) take(size int) []byte {
	if size > len(r.bytes) {
		panic(errCutOff)
	}
	taken := r.bytes[:size]
	r.bytes = r.bytes[size:]
	return taken
}

func (r *reader) skip(size int) Value {
	r.take(size)
	return nil
}

func (r *reader) number(size int) uint64 {
	var number uint64
	for _, digit := range r.take(size) {
		number = number<<8 | uint64(digit)
	}
	return number
}

func (r *reader) list(length int) Value {
	items := []Value{}
	for ; length > 0; length-- {
		items = append(items, r.value())
	}
	return items
}

func (r *reader) fields(length int) Value {
	fields := Map{}
	for ; length > 0; length-- {
		name, _ := r.value().(string)
		fields = append(fields, Field{name, r.value()})
	}
	return fields
}
