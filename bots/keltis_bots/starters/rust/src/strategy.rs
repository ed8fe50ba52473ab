//! What the bot chooses: it lays cards that skip few numbers.

use crate::msgpack::Value;

/// Return one of `request["legal"]`. Change this.
pub fn choose(game: &Value, request: &Value) -> i64 {
    let seat = game["seat"].number() as usize;
    let mut best = 0;
    let mut most = i64::MIN;
    for (k, text) in request["notation"].items().iter().enumerate() {
        let value = worth(text.text(), &request["view"], seat);
        if value > most {
            most = value;
            best = k;
        }
    }
    request["legal"][best].number()
}

/// What an action is worth, by its notation.
fn worth(text: &str, view: &Value, seat: usize) -> i64 {
    let mut words: Vec<&str> = text.split(' ').collect();
    if text == "keep" && view["phase"].text() == "revealed" {
        words = vec!["take", view["revealed"].text()];
    }
    let verb = words[0];
    let card = words.get(1).copied().unwrap_or("");
    let lays = ["lay", "add", "take", "last"].contains(&verb);
    if card.len() < 2 || !(lays || verb == "discard") {
        // Figures that are on their way move before those at the start.
        return worth_of_others(verb) - if card.starts_with("start") { 5 } else { 0 };
    }
    let colour = &words[words.len() - 1][..1]; // of the row: "lay R7", "lay P7 on R"
    let skips = if colour == "P" {
        3
    } else {
        skipped(view["rows"][seat][colour].items(), card)
    };
    if lays {
        50 - 5 * skips
    } else {
        10 + skips
    }
}

/// Decisions that neither lay nor discard a card.
fn worth_of_others(verb: &str) -> i64 {
    match verb {
        "pair" => 90,
        "move" | "clover" => 60,
        "done" => 31,
        "reveal" => 25,
        "leave" => 18,
        "draw" => 10,
        "keep" => 5,
        _ => 0,
    }
}

/// How many numbers a card skips in a row; the first card of a row costs 4 more.
fn skipped(row: &[Value], card: &str) -> i64 {
    let is_end = card.ends_with('E');
    let last = row.last().map_or("", Value::text);
    if last.ends_with('E') {
        return if is_end { 0 } else { 9 };
    }
    if is_end {
        return if row.len() >= 4 { 0 } else { 9 };
    }
    let value = number_of(card);
    if row.is_empty() {
        4 + value.min(10 - value)
    } else {
        (value - number_of(last)).abs()
    }
}

fn number_of(card: &str) -> i64 {
    card[1..].parse().expect("a card is a letter and a number")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(texts: &[&str]) -> Value {
        Value::Array(texts.iter().map(|text| Value::from(*text)).collect())
    }

    /// What the bot chooses among these actions, numbered from 100; `row` is its red row.
    fn chosen(row: &[&str], notation: &[&str]) -> i64 {
        let legal = (100..100 + notation.len() as i64)
            .map(Value::from)
            .collect();
        let rows = Value::Array(vec![Value::map(vec![("R", list(row))])]);
        let request = Value::map(vec![
            ("legal", Value::Array(legal)),
            ("notation", list(notation)),
            (
                "view",
                Value::map(vec![("phase", "turn".into()), ("rows", rows)]),
            ),
        ]);
        choose(&Value::map(vec![("seat", 0.into())]), &request)
    }

    #[test]
    fn it_lays_the_card_that_skips_fewest_numbers() {
        assert_eq!(
            chosen(&["R3"], &["lay R5", "lay R9", "discard R5", "discard R9"]),
            100
        );
    }

    #[test]
    fn it_begins_no_row_in_the_middle() {
        assert_eq!(chosen(&[], &["lay R5", "discard R5"]), 101);
    }

    #[test]
    fn it_draws_from_the_draw_pile() {
        assert_eq!(chosen(&[], &["draw", "take R"]), 100);
    }
}
