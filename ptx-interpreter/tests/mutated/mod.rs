//! Texts that are no PTX, or another one than was meant: kernels of the corpus in which something is lost, doubled or replaced.
//! Each has an error or a finding, or runs. None panics, and none takes memory or time without an end. The environment variable
//! `PTX_MUTATED_ROUNDS` says how many there are of each kernel, and `PTX_MUTATED_KEEP` a folder for those that fail.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use ptx_interpreter::Program;

use crate::pairs::{FILES, File, Pair, pairs};

/// Changed texts of each kernel.
const ROUNDS: u64 = 3;
const STEPS: u64 = 100_000;
const TIME: Duration = Duration::from_secs(10);

/// A draw, by xorshift.
struct Draw(u64);

impl Draw {
    fn new(seed: u64) -> Draw {
        Draw(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as usize % end.max(1)
    }

    fn of<'s>(&mut self, some: &[&'s str]) -> &'s str {
        some[self.below(some.len())]
    }
}

/// What of a file one kernel needs.
fn alone(file: &File, kernel: &str) -> String {
    let (head, rest) = file.ptx.split_once("\t// .globl").expect("there are kernels");
    let begin = rest.find(&format!(".entry {kernel}(")).expect("the kernel is there");
    let end = rest[begin..].find("\n}").expect("it ends") + begin + 2;
    let outside = rest.lines().filter(|line| line.starts_with(".extern") || line.starts_with(".shared"));
    let outside: Vec<&str> = outside.collect();
    format!("{head}\n{}\n.visible {}\n", outside.join("\n"), &rest[begin..end])
}

/// Where the words of a text are for which something holds.
fn words(text: &str, is_word: impl Fn(char) -> bool, holds: impl Fn(&str) -> bool) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut begin = None;
    for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
        match begin {
            None if is_word(c) => begin = Some(at),
            Some(from) if !is_word(c) => {
                if holds(&text[from..at]) {
                    found.push((from, at));
                }
                begin = None;
            }
            _ => {}
        }
    }
    found
}

const NUMBERS: [&str; 14] = [
    "0",
    "1",
    "-1",
    "3",
    "31",
    "33",
    "64",
    "127",
    "65537",
    "2147483648",
    "4294967295",
    "1099511627776",
    "18446744073709551615",
    "340282366920938463463374607431768211456",
];
const LETTERS: [&str; 14] = ["{", "}", "(", ")", "[", "]", ",", ";", ".", "%", "@", "/*", "\"", "\u{fc}"];

/// The text with one change, and which.
fn changed(text: &str, draw: &mut Draw) -> (String, &'static str) {
    let mut lines: Vec<&str> = text.lines().collect();
    let line = draw.below(lines.len());
    let other = draw.below(lines.len());
    let replace = |places: &[(usize, usize)], draw: &mut Draw, with: &str| match places {
        [] => text.to_owned(),
        places => {
            let (begin, end) = places[draw.below(places.len())];
            format!("{}{with}{}", &text[..begin], &text[end..])
        }
    };
    let is_word = |c: char| c.is_ascii_alphanumeric() || "%_$.".contains(c);
    match draw.below(9) {
        0 => {
            lines.remove(line);
            (lines.join("\n"), "a line is deleted")
        }
        1 => {
            lines.swap(line, other);
            (lines.join("\n"), "two lines are swapped")
        }
        2 => {
            lines.insert(other, lines[line]);
            (lines.join("\n"), "a line is doubled")
        }
        3 => (text[..text.floor_char_boundary(draw.below(text.len()))].to_owned(), "it is cut off"),
        4 | 5 => {
            let numbers = words(text, |c| c.is_ascii_digit(), |_| true);
            let number = draw.of(&NUMBERS);
            (replace(&numbers, draw, number), "a number is another one")
        }
        6 => {
            let all = words(text, is_word, |_| true);
            let (begin, end) = all[draw.below(all.len())];
            let other = text[begin..end].to_owned();
            (replace(&all, draw, &other), "a word is another one")
        }
        7 => {
            let all = words(text, is_word, |word| word.starts_with('%'));
            let (begin, end) = all[draw.below(all.len())];
            let other = text[begin..end].to_owned();
            (replace(&all, draw, &other), "a register is another one")
        }
        _ => {
            let at = text.floor_char_boundary(draw.below(text.len()));
            let end = text.ceil_char_boundary(at + draw.below(2));
            (format!("{}{}{}", &text[..at], draw.of(&LETTERS), &text[end..]), "a letter is another one")
        }
    }
}

/// What goes wrong with a text.
fn fault(pair: &Pair, which: &str, text: &str) -> Option<String> {
    let begun = Instant::now();
    let run = || {
        let program = Program::parse(text);
        program.gaps();
        let mut trial = pair.trial(&program, which, 0);
        trial.limits(STEPS, Some(begun + TIME));
        let report = trial.check();
        (report.to_string(), report.stop.map(|stop| stop.text))
    };
    match catch_unwind(AssertUnwindSafe(run)) {
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            Some(text.or(panic.downcast_ref::<&str>().copied()).unwrap_or_default().to_owned())
        }
        Ok(_) if begun.elapsed() > 2 * TIME => Some(format!("it takes {:?}", begun.elapsed())),
        Ok((_, Some(text))) if text.is_empty() => Some("it says nothing".to_owned()),
        Ok(_) => None,
    }
}

#[test]
fn a_changed_text_never_panics() {
    let rounds = std::env::var("PTX_MUTATED_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(ROUNDS);
    let (mut all, mut faults) = (0, Vec::new());
    for file in &FILES {
        for pair in pairs(file) {
            for which in ["wrong", "right"] {
                let text = alone(file, &format!("{which}_{}", pair.name));
                assert_eq!(fault(&pair, which, &text), None);
                for seed in 0..rounds {
                    all += 1;
                    let mut draw = Draw::new(seed * 1000 + all);
                    let (text, change) = changed(&text, &mut draw);
                    if let Some(fault) = fault(&pair, which, &text) {
                        if let Ok(folder) = std::env::var("PTX_MUTATED_KEEP") {
                            std::fs::write(format!("{folder}/{which}_{}_{all}.ptx", pair.name), &text).unwrap();
                        }
                        faults.push(format!("{which}_{}, text {all}, {change}: {fault}", pair.name));
                    }
                }
            }
        }
    }
    println!("{all} texts");
    assert!(faults.is_empty(), "{} of {all}: {}", faults.len(), faults.join("\n"));
}

/// Texts that no change of the corpus makes.
#[test]
fn what_is_too_large_or_not_whole_is_an_error() {
    let kernel = |inside: &str| format!(".version 8.6\n.target sm_100\n.visible .entry k() {{\n{inside}\nret;\n}}");
    let call = "{ .param .b8 p[8]; call f, (p); }";
    let texts = [
        (".visible .entry k() {".to_owned(), "the text ends before the function does"),
        (".visible .entry k() { ret;".to_owned(), ""),
        (".visible .entry k() { .reg .b32 %r<2>; mov.u32 %r1, 0".to_owned(), "the text ends before the function does"),
        (".visible .entry k() { \u{fc} }".to_owned(), "\u{fc}"),
        (".global .b32 x = { \u{fc}".to_owned(), "there is no kernel"),
        (kernel(".reg .b32 %r<4294967295>; mov.b32 %r1, 0;"), "the register %r1"),
        (kernel(".reg .b0 %r<2>; mov.b32 %r1, 0;"), ""),
        (kernel(".reg .b64 %r<2>; mov.b64 %r1, {};"), "mov"),
        (kernel(".reg .pred %p<3>; mov.pred %p1, {%p1, %p2};"), "mov"),
        (kernel(".local .b8 x[1099511627776];"), "524288 bytes of local memory"),
        (kernel(".shared .b8 x[1099511627776][1099511627776];"), "49152 bytes of static shared memory"),
        (
            kernel(".shared .align 16 .b8 x[16]; st.bulk.shared::cta [x], 18446744073709551608, 0;"),
            "outside of every piece",
        ),
        (format!(".global .align 4294967295 .b8 x[1099511627776];\n{}", kernel("")), ""),
        (format!(".func f(.param .b8 p[4096]) {{ ret; }}\n{}", kernel(call)), ""),
    ];
    for (text, words) in texts {
        let program = Program::parse(&text);
        let mut trial = ptx_interpreter::Trial::new(&program, "k");
        let report = trial.limits(STEPS, None).check();
        let told = format!("{report} {:?}", report.stop);
        assert!(told.contains(words), "{text}: {told}");
        assert!(!words.is_empty() || report.stop.is_none(), "{text}: {told}");
    }
}
