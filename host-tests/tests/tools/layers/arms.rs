//! The arms of macros: how much each captures.

use std::fs;

use super::code::code;
use super::{repository, rust_files};

/// What an arm may capture, so that a reader can hold it.
const MOST: usize = 10;

/// An arm of a macro.
#[derive(Debug, PartialEq, Eq)]
struct Arm<'s> {
    of: &'s str,
    captures: usize,
}

/// The arms of all macros in a source without comments and texts.
fn arms(source: &str) -> Vec<Arm<'_>> {
    let mut found = Vec::new();
    for (at, keyword) in source.match_indices("macro_rules! ") {
        let definition = &source[at + keyword.len()..];
        let end = definition.find(|c: char| !super::is_of_a_word(c)).unwrap_or(definition.len());
        let (of, rest) = definition.split_at(end);
        let mut rest = group(rest.trim_start()).0;
        while let Some(begin) = rest.find(['(', '[', '{']) {
            let (pattern, after) = group(&rest[begin..]);
            let Some(transcriber) = after.find("=>").map(|arrow| after[arrow + 2..].trim_start()) else { break };
            found.push(Arm { of, captures: captures(pattern) });
            rest = group(transcriber).1;
        }
    }
    found
}

/// What is between the brackets with which a text begins, and what follows them.
fn group(text: &str) -> (&str, &str) {
    let mut depth = 0;
    for (at, c) in text.char_indices() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 && at > 0 {
            return (&text[1..at], &text[at + 1..]);
        }
    }
    panic!("brackets that do not close: {}", &text[..text.len().min(80)])
}

/// How many `$name:fragment` a pattern has.
fn captures(pattern: &str) -> usize {
    pattern.split('$').skip(1).filter(|rest| is_capture(rest)).count()
}

fn is_capture(rest: &str) -> bool {
    let end = rest.find(|c: char| !super::is_of_a_word(c)).unwrap_or(rest.len());
    let fragment = rest[end..].strip_prefix(':').unwrap_or_default();
    end > 0 && fragment.starts_with(|c: char| c.is_ascii_lowercase())
}

#[test]
fn no_arm_captures_much() {
    let (mut longer, mut count) = (Vec::<String>::new(), 0);
    for package in ["ptx-intrinsics/src", "ptx-kernel/src"] {
        for file in rust_files(&repository().join(package), true) {
            let source = code(&fs::read_to_string(&file).expect("the source can be read"));
            let arms = arms(&source);
            count += arms.len();
            longer.extend(arms.into_iter().filter(|arm| arm.captures > MOST).map(|arm| arm.of.to_owned()));
        }
    }
    longer.sort();
    longer.dedup();
    println!("{count} arms of macros");
    assert!(count > 500, "only {count} arms are read");
    assert_eq!(
        longer, [""; 0],
        "more than {MOST} captures: pass what belongs together as one `tt`, and take it apart later"
    );
}

#[test]
fn captures_are_counted() {
    let source =
        "macro_rules! a {\n    (@b $c:tt [$($d:ident = $e:expr)?]) => { f($c) };\n    () => {};\n}\nfn g() { h($i); }";
    let of = |captures| Arm { of: "a", captures };
    assert_eq!(arms(source), [of(3), of(0)]);
}
