// A driver for Thresh: makes any Rust library a system under test, without a crate.
//
// Thresh writes one line of JSON, the driver answers with one line:
//
//   {"reset":true}                                  -> {"ok":null}
//   {"call":"refund","args":{"order":1,"amount":5}} -> {"ok":VALUE}
//                                                      {"rejected":"why"}  the library says no
//                                                      {"error":"why"}     the library is broken
//
// "args" is a mapping, or a list where the document binds by position. The reader
// below knows integers only; use serde_json for more. A panic ends the process,
// which Thresh reports as a crash with the panic's message.
use std::collections::HashMap;
use std::io::{BufRead, Write};

#[derive(Default)]
struct Orders {
    paid: HashMap<i64, i64>,
    left: HashMap<i64, i64>,
}

enum Failure { Rejected(String), Error(String) }

impl Orders {
    fn call(&mut self, name: &str, order: i64, amount: i64) -> Result<i64, Failure> {
        let left = self.left.get(&order).copied().unwrap_or(0);
        let paid = self.paid.contains_key(&order);
        match name {
            "remaining" => return Ok(left),
            "pay" if !paid && amount > 0 => {
                self.paid.insert(order, amount);
                self.left.insert(order, amount);
            }
            "refund" if paid && amount > 0 && amount <= left => {
                self.left.insert(order, left - amount);
            }
            "pay" | "refund" => return Err(Failure::Rejected(format!("{name} of order {order}"))),
            _ => return Err(Failure::Error(format!("no operation {name}"))),
        }
        Ok(self.left[&order])
    }
}

/// The text of a string member of the line.
fn text<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    let rest = line.split_once(&format!("\"{key}\":\""))?.1;
    rest.split_once('"').map(|(value, _)| value)
}

/// An integer of "args", by name or by place.
fn integer(line: &str, name: &str, place: usize) -> i64 {
    let args = line.split_once("\"args\":").map_or("", |(_, rest)| rest);
    let value = match args.strip_prefix('[') {
        Some(list) => list.split(',').nth(place),
        None => args.split_once(&format!("\"{name}\":")).map(|(_, rest)| rest),
    };
    let value = value.unwrap_or("0");
    let end = value.find(|c: char| !c.is_ascii_digit() && c != '-').unwrap_or(value.len());
    value[..end].parse().unwrap_or(0)
}

fn main() {
    let mut system = Orders::default();
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        let reply = if line.contains("\"reset\":true") {
            system = Orders::default();
            "{\"ok\":null}".to_string()
        } else {
            match system.call(text(&line, "call").unwrap_or(""), integer(&line, "order", 0), integer(&line, "amount", 1)) {
                Ok(value) => format!("{{\"ok\":{value}}}"),
                Err(Failure::Rejected(why)) => format!("{{\"rejected\":{why:?}}}"),
                Err(Failure::Error(why)) => format!("{{\"error\":{why:?}}}"),
            }
        };
        println!("{reply}");
        std::io::stdout().flush().expect("Thresh reads the answers");
    }
}
