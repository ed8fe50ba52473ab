//! msgpack: nil, booleans, whole numbers, texts, arrays and maps.
//! Messages hold nothing else; binary data and floats are skipped and become nil.

use std::ops::Index;

#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Nil,
    Bool(bool),
    Integer(i64),
    Text(String),
    Array(Vec<Value>),
    Map(Vec<(String, Value)>),
}

static NIL: Value = Value::Nil;

impl Value {
    pub fn map(fields: Vec<(&str, Value)>) -> Value {
        Value::Map(
            fields
                .into_iter()
                .map(|(name, value)| (name.to_string(), value))
                .collect(),
        )
    }

    /// The number; 0 if it is none.
    pub fn number(&self) -> i64 {
        if let Value::Integer(number) = self {
            *number
        } else {
            0
        }
    }

    /// The text; empty if it is none.
    pub fn text(&self) -> &str {
        if let Value::Text(text) = self {
            text
        } else {
            ""
        }
    }

    /// The items of an array; none if it is none.
    pub fn items(&self) -> &[Value] {
        if let Value::Array(items) = self {
            items
        } else {
            &[]
        }
    }
}

/// `value["rows"]`; nil if there is no such field.
impl Index<&str> for Value {
    type Output = Value;

    fn index(&self, name: &str) -> &Value {
        match self {
            Value::Map(fields) => fields
                .iter()
                .find(|field| field.0 == name)
                .map_or(&NIL, |f| &f.1),
            _ => &NIL,
        }
    }
}

/// `value[0]`; nil if there is no such item.
impl Index<usize> for Value {
    type Output = Value;

    fn index(&self, index: usize) -> &Value {
        self.items().get(index).unwrap_or(&NIL)
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Value {
        Value::Integer(number)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::Text(text.to_string())
    }
}

pub fn pack(value: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    pack_into(&mut out, value);
    out
}

fn pack_into(out: &mut Vec<u8>, value: &Value) {
    match value {
        Value::Nil => out.push(0xc0),
        Value::Bool(truth) => out.push(if *truth { 0xc3 } else { 0xc2 }),
        Value::Integer(number) => put_integer(out, *number),
        Value::Text(text) => put_text(out, text),
        Value::Array(items) => {
            put_header(out, items.len(), (0x90, 16), None, 0xdc);
            for item in items {
                pack_into(out, item);
            }
        }
        Value::Map(fields) => {
            put_header(out, fields.len(), (0x80, 16), None, 0xde);
            for (name, field) in fields {
                put_text(out, name);
                pack_into(out, field);
            }
        }
    }
}

fn put_integer(out: &mut Vec<u8>, number: i64) {
    match number {
        -32..=127 => out.push(number as u8),
        128..=0xff => out.extend([0xcc, number as u8]),
        0x100..=0xffff => {
            out.push(0xcd);
            out.extend((number as u16).to_be_bytes());
        }
        0x1_0000..=0xffff_ffff => {
            out.push(0xce);
            out.extend((number as u32).to_be_bytes());
        }
        _ => {
            out.push(0xd3);
            out.extend(number.to_be_bytes());
        }
    }
}

fn put_text(out: &mut Vec<u8>, text: &str) {
    put_header(out, text.len(), (0xa0, 32), Some(0xd9), 0xda);
    out.extend(text.as_bytes());
}

/// A length with its type: within the first byte if it is short, or behind it.
fn put_header(out: &mut Vec<u8>, length: usize, near: (u8, usize), with8: Option<u8>, with16: u8) {
    match (length, with8) {
        _ if length < near.1 => out.push(near.0 | length as u8),
        (0..=0xff, Some(with8)) => out.extend([with8, length as u8]),
        (0..=0xffff, _) => {
            out.push(with16);
            out.extend((length as u16).to_be_bytes());
        }
        _ => {
            out.push(with16 + 1);
            out.extend((length as u32).to_be_bytes());
        }
    }
}

pub fn unpack(bytes: &[u8]) -> Result<Value, String> {
    let mut reader = Reader { bytes };
    let value = reader.value()?;
    if reader.bytes.is_empty() {
        Ok(value)
    } else {
        Err("bytes are left behind the value".into())
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
}

impl<'a> Reader<'a> {
    fn value(&mut self) -> Result<Value, String> {
        let kind = self.take(1)?[0];
        Ok(match kind {
            0x00..=0x7f => Value::Integer(i64::from(kind)),
            0x80..=0x8f => self.map(usize::from(kind & 0x0f))?,
            0x90..=0x9f => self.array(usize::from(kind & 0x0f))?,
            0xa0..=0xbf => self.text(usize::from(kind & 0x1f))?,
            0xc0 => Value::Nil,
            0xc2 => Value::Bool(false),
            0xc3 => Value::Bool(true),
            0xc4..=0xc6 => {
                let size = self.number(1 << (kind - 0xc4))? as usize;
                self.skip(size)?
            }
            0xca => self.skip(4)?,
            0xcb => self.skip(8)?,
            0xcc..=0xcf => Value::Integer(self.number(1 << (kind - 0xcc))? as i64),
            0xd0 => Value::Integer(i64::from(self.number(1)? as i8)),
            0xd1 => Value::Integer(i64::from(self.number(2)? as i16)),
            0xd2 => Value::Integer(i64::from(self.number(4)? as i32)),
            0xd3 => Value::Integer(self.number(8)? as i64),
            0xd9..=0xdb => {
                let size = self.number(1 << (kind - 0xd9))? as usize;
                self.text(size)?
            }
            0xdc..=0xdd => {
                let length = self.number(2 << (kind - 0xdc))? as usize;
                self.array(length)?
            }
            0xde..=0xdf => {
                let length = self.number(2 << (kind - 0xde))? as usize;
                self.map(length)?
            }
            0xe0..=0xff => Value::Integer(i64::from(kind as i8)),
            _ => return Err(format!("no message holds the msgpack type {kind:#x}")),
        })
    }

    fn take(&mut self, size: usize) -> Result<&'a [u8], String> {
        if size > self.bytes.len() {
            return Err("the message is cut off".into());
        }
        let (taken, rest) = self.bytes.split_at(size);
        self.bytes = rest;
        Ok(taken)
    }

    fn skip(&mut self, size: usize) -> Result<Value, String> {
        self.take(size).map(|_| Value::Nil)
    }

    fn number(&mut self, size: usize) -> Result<u64, String> {
        Ok(self
            .take(size)?
            .iter()
            .fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    fn text(&mut self, size: usize) -> Result<Value, String> {
        Ok(Value::Text(
            String::from_utf8_lossy(self.take(size)?).into_owned(),
        ))
    }

    fn array(&mut self, length: usize) -> Result<Value, String> {
        (0..length)
            .map(|_| self.value())
            .collect::<Result<_, _>>()
            .map(Value::Array)
    }

    fn map(&mut self, length: usize) -> Result<Value, String> {
        let field = |_| Ok((self.value()?.text().to_string(), self.value()?));
        (0..length)
            .map(field)
            .collect::<Result<_, String>>()
            .map(Value::Map)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAMPLE: &str = concat!(
        "86a76e756d626572739c007fffe0ccc8d09ccd9c40d18ad0ceb2d05e00d288ca6c00cf0000010000000000d3ffffff",
        "0000000000a66f746865727393c0c3c2a474657874d928c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9",
        "c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9a7736b697070656492c4026162cb3ff8000000000000a5656d70747980a46d",
        "616e79dc0014000102030405060708090a0b0c0d0e0f10111213",
    );

    fn sample() -> Vec<u8> {
        (0..SAMPLE.len())
            .step_by(2)
            .map(|k| u8::from_str_radix(&SAMPLE[k..k + 2], 16).unwrap())
            .collect()
    }

    #[test]
    fn every_type_that_a_message_may_hold_is_read() {
        let value = unpack(&sample()).unwrap();
        let numbers: Vec<i64> = value["numbers"].items().iter().map(Value::number).collect();
        let (large, small) = (3_000_000_000, -2_000_000_000);
        assert_eq!(
            numbers,
            [
                0,
                127,
                -1,
                -32,
                200,
                -100,
                40000,
                -30000,
                large,
                small,
                1 << 40,
                -(1 << 40)
            ]
        );
        assert_eq!(
            value["others"].items(),
            [Value::Nil, Value::Bool(true), Value::Bool(false)]
        );
        assert_eq!(value["text"].text(), "é".repeat(20));
        assert_eq!(value["skipped"].items(), [Value::Nil, Value::Nil]);
        assert_eq!(value["empty"], Value::map(vec![]));
        assert_eq!(value["many"].items().len(), 20);
    }

    #[test]
    fn what_is_packed_is_unpacked_again() {
        let mut values = vec![
            Value::Nil,
            Value::Bool(true),
            Value::map(vec![("a", Value::Array(vec![]))]),
        ];
        for number in [
            0,
            127,
            128,
            255,
            256,
            65535,
            65536,
            0xffff_ffff,
            1 << 32,
            -1,
            -32,
            -33,
            -40000,
        ] {
            values.push(Value::from(number));
        }
        for length in [0, 15, 16, 31, 32, 255, 256, 65535, 65536] {
            values.push(Value::Text("x".repeat(length)));
            values.push(Value::Array(vec![Value::Nil; length]));
        }
        for value in values {
            assert_eq!(unpack(&pack(&value)), Ok(value));
        }
    }

    #[test]
    fn a_message_that_is_cut_off_is_refused() {
        let bytes = sample();
        for size in 0..bytes.len() {
            assert!(unpack(&bytes[..size]).is_err());
        }
    }
}
