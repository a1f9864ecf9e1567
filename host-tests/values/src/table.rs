//! Reads the tables: a line for each instruction, with holes.
//!
//! `add.<u16,u32>.<a,b> | $1 = $1 $1 | options`: the text of the instruction, the types of its results, those of its operands. A
//! hole is filled with each of its words, and `$1` is the word in the first hole. A text with `%` is more than an opcode: results
//! are `%d0`, `%d1` and operands `%a0`, `%a1` there.

use std::collections::HashMap;

use crate::approximate::Function;
use crate::case::{Case, Judge};
use crate::matrices;
use crate::name::name_of;
use crate::types::Type;
use crate::wgmma;

const TABLES: [&str; 6] = [
    include_str!("tables/integer.txt"),
    include_str!("tables/compare.txt"),
    include_str!("tables/float.txt"),
    include_str!("tables/convert.txt"),
    include_str!("tables/warp.txt"),
    include_str!("tables/memory.txt"),
];

/// Products of matrices, whose types and operands the opcode says.
const MATRICES: &str = include_str!("tables/matrix.txt");

pub(crate) fn cases() -> Vec<Case> {
    let rows = TABLES.iter().flat_map(|table| lines(table)).flat_map(filled);
    let mut cases: Vec<Case> = rows.map(|row| case(&row)).collect();
    let products = lines(MATRICES).flat_map(filled);
    cases.extend(products.map(|opcode| match opcode.starts_with("wgmma") {
        true => wgmma::case(&opcode),
        false => matrices::case(&opcode),
    }));
    let mut names: HashMap<String, usize> = HashMap::new();
    for case in &mut cases {
        let count = names.entry(case.name.clone()).or_insert(0);
        *count += 1;
        if *count > 1 {
            case.name = format!("{}_{count}", case.name);
        }
    }
    cases
}

fn lines(table: &'static str) -> impl Iterator<Item = &'static str> {
    table.lines().filter(|line| !line.is_empty() && !line.starts_with('#'))
}

/// The lines that one is: each hole with each of its words.
fn filled(line: &str) -> Vec<String> {
    filled_from(line, 1)
}

/// The same of a line whose first hole has that number.
fn filled_from(line: &str, number: usize) -> Vec<String> {
    let Some((before, rest)) = line.split_once('<') else { return vec![line.to_owned()] };
    let (hole, after) = rest.split_once('>').expect("a hole has an end");
    let with = |word: &str| {
        let after = after.replace(&format!("${number}"), word.trim_start_matches('.'));
        filled_from(&format!("{before}{word}{after}"), number + 1)
    };
    hole.split(',').flat_map(with).collect()
}

fn types(list: &str) -> Vec<Type> {
    let of = |word| Type::parse(word).unwrap_or_else(|| panic!("{word} is no type of a table"));
    list.split_whitespace().map(of).collect()
}

fn case(row: &str) -> Case {
    let mut parts = row.split(" | ");
    let (text, signature) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let (results, operands) = signature.split_once('=').unwrap_or_else(|| panic!("no types in {row}"));
    let mut judge = Judge::Exact;
    let mut has_room = false;
    for option in parts.flat_map(str::split_whitespace) {
        match option.strip_prefix('~') {
            Some(function) => judge = Judge::Approximate(Function::of(function, text)),
            None if option == "room" => has_room = true,
            None if option == "told" => judge = Judge::Told,
            None => panic!("{option} is no option of a table"),
        }
    }
    let (results, operands) = (types(results), types(operands));
    let body = if text.contains('%') { text.to_owned() } else { plain(text, results.len(), operands.len()) };
    Case { name: name_of(text), body, results, operands, judge, is_specific: false, has_room }
}

/// `add.u32 %d0, %a0, %a1;`
fn plain(opcode: &str, results: usize, operands: usize) -> String {
    let results: Vec<String> = (0..results).map(|at| format!("%d{at}")).collect();
    let operands = (0..operands).map(|at| format!(", %a{at}"));
    format!("{opcode} {}{};", results.join("|"), operands.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holes_are_filled_with_each_word() {
        let all = filled("a<,.b>.<u8,u16> | $2 = $2");
        assert_eq!(all, ["a.u8 | u8 = u8", "a.u16 | u16 = u16", "a.b.u8 | u8 = u8", "a.b.u16 | u16 = u16"]);
    }

    #[test]
    fn every_kernel_has_a_name_of_its_own() {
        let all = cases();
        let names: std::collections::BTreeSet<&str> = all.iter().map(|case| case.name.as_str()).collect();
        assert_eq!(names.len(), all.len());
    }
}
