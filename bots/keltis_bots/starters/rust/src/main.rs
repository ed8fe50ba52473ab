//! my-rust-bot: speaks the protocol; what it chooses is in strategy.rs.
//! stdout belongs to the protocol: print with `eprintln!`, never with `println!`.

mod frames;
mod msgpack;
mod strategy;

use frames::{read_frame, write_frame};
use msgpack::Value;
use std::io;

fn main() -> io::Result<()> {
    let mut input = io::stdin().lock();
    let mut output = io::stdout().lock();
    let mut game = Value::Nil;
    while let Some(message) = read_frame(&mut input)? {
        match message["type"].text() {
            "hello" => {
                let fields = vec![
                    ("type", "hello".into()),
                    ("protocol", 1.into()),
                    ("name", "my-rust-bot".into()),
                ];
                write_frame(&mut output, &Value::map(fields))?;
            }
            "game" => game = message,
            "choose" => {
                let fields = vec![
                    ("type", "action".into()),
                    ("id", message["id"].clone()),
                    ("action", strategy::choose(&game, &message).into()),
                ];
                write_frame(&mut output, &Value::map(fields))?;
            }
            "error" => {
                let (code, text) = (message["code"].text(), message["text"].text());
                eprintln!("refused by the server ({code}): {text}");
            }
            _ => {} // "end" needs no answer
        }
    }
    Ok(())
}
