//! Frames: a length of four bytes, big endian, then that many bytes of msgpack.

use crate::msgpack::{pack, unpack, Value};
use std::io::{self, ErrorKind, Read, Write};

/// The next message, or none when the other end has closed the pipe.
pub fn read_frame(input: &mut impl Read) -> io::Result<Option<Value>> {
    let mut length = [0; 4];
    match input.read_exact(&mut length) {
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(None),
        other => other?,
    }
    let mut payload = vec![0; u32::from_be_bytes(length) as usize];
    input.read_exact(&mut payload)?;
    unpack(&payload)
        .map(Some)
        .map_err(|text| io::Error::new(ErrorKind::InvalidData, text))
}

pub fn write_frame(output: &mut impl Write, message: &Value) -> io::Result<()> {
    let payload = pack(message);
    let mut bytes = (payload.len() as u32).to_be_bytes().to_vec();
    bytes.extend(payload);
    output.write_all(&bytes)?;
    output.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_is_its_length_and_its_message() {
        let action = Value::map(vec![
            ("type", "action".into()),
            ("id", 300.into()),
            ("action", 5.into()),
        ]);
        let mut bytes = Vec::new();
        write_frame(&mut bytes, &action).unwrap();
        assert_eq!(
            bytes,
            b"\0\0\0\x1b\x83\xa4type\xa6action\xa2id\xcd\x01\x2c\xa6action\x05"
        );
        let mut input = bytes.as_slice();
        assert_eq!(read_frame(&mut input).unwrap(), Some(action));
        assert_eq!(read_frame(&mut input).unwrap(), None);
    }
}
