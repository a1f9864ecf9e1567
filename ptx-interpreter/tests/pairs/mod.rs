//! What the sources of the corpus say about their kernels, and how they are launched.

use std::collections::BTreeSet;

use ptx_interpreter::{Program, Report, Trial};

/// A source of the corpus, and what is compiled of it.
pub(crate) struct File {
    pub(crate) name: &'static str,
    pub(crate) source: &'static str,
    pub(crate) ptx: &'static str,
}

macro_rules! files {
    ($($name:literal),*) => {
        [$(File {
            name: $name,
            source: include_str!(concat!("../corpus/", $name, ".cu")),
            ptx: include_str!(concat!("../corpus/", $name, ".ptx")),
        }),*]
    };
}

pub(crate) const FILES: [File; 19] = files!(
    "shared",
    "order",
    "copies",
    "bulk",
    "values",
    "cluster",
    "waits",
    "matrix",
    "product",
    "tensor",
    "pair",
    "reported",
    "blind",
    "trial",
    "fifth",
    "sixth",
    "shuffle",
    "undefined",
    "published"
);

/// A pair of kernels, how they are launched, and what is wrong with the wrong one.
#[derive(Clone)]
pub(crate) struct Pair {
    pub(crate) name: String,
    pub(crate) kind: String,
    pub(crate) blocks: u32,
    pub(crate) threads: u32,
    pub(crate) arguments: Vec<(String, u64)>,
    /// What the finding has to say.
    pub(crate) words: String,
    /// The lines of the source that it has to name.
    pub(crate) lines: BTreeSet<u32>,
}

/// The pairs of a source.
pub(crate) fn pairs(file: &File) -> Vec<Pair> {
    let rows = file.source.lines().filter_map(|line| line.strip_prefix("//# "));
    rows.map(|row| pair(row, file.source).unwrap_or_else(|| panic!("{}: {row}", file.name))).collect()
}

fn pair(row: &str, source: &str) -> Option<Pair> {
    let (launch, words) = row.split_once(" ; ")?;
    let mut parts = launch.split_whitespace();
    let (name, kind) = (parts.next()?.to_owned(), parts.next()?.to_owned());
    let (blocks, threads) = parts.next()?.split_once('x')?;
    let argument = |part: &str| match part.split_once(':') {
        Some((word, number)) => Some((word.to_owned(), number.parse().ok()?)),
        None => Some((part.to_owned(), 0)),
    };
    let marked = |line: &&str| line.split_once("//~").is_some_and(|(_, names)| names.split(' ').any(|one| one == name));
    let lines = (1..).zip(source.lines()).filter(|(_, line)| marked(line)).map(|(number, _)| number).collect();
    Some(Pair {
        blocks: blocks.parse().ok()?,
        threads: threads.parse().ok()?,
        arguments: parts.map(argument).collect::<Option<_>>()?,
        words: words.trim().to_owned(),
        lines,
        name,
        kind,
    })
}

/// The content of a buffer of `numbers`.
pub(crate) fn numbers(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|at| (at % 251) as u8).collect()
}

/// The pair of a name, and its module.
pub(crate) fn find(name: &str) -> (Program, Pair) {
    let found = FILES.iter().find_map(|file| Some((file, pairs(file).into_iter().find(|pair| pair.name == name)?)));
    let (file, pair) = found.expect("it is there");
    (Program::parse(file.ptx), pair)
}

impl Pair {
    /// Checks one of the two kernels.
    pub(crate) fn run(&self, program: &Program, which: &str, seed: u64) -> Report {
        self.trial(program, which, seed).check()
    }

    /// The launch of one of the two kernels.
    pub(crate) fn trial<'p>(&self, program: &'p Program, which: &str, seed: u64) -> Trial<'p> {
        let mut trial = Trial::new(program, &format!("{which}_{}", self.name));
        trial.grid([self.blocks, 1, 1]).block([self.threads, 1, 1]).seed(seed).limits(2_000_000, None);
        let host = [7u8; 256];
        let mut number = 0;
        for (word, value) in &self.arguments {
            let bytes = *value as usize;
            let added = match word.as_str() {
                "numbers" => trial.buffer(&numbers(bytes)),
                "zeros" => trial.buffer(&vec![0; bytes]),
                "before" => trial.buffer(&numbers(bytes)).map(|trial| trial.shared_with_grid_before(number)),
                "unwritten" => trial.unwritten(bytes),
                "alias" => trial.alias(bytes),
                "same" => Ok(trial.same(bytes)),
                "host" => Ok(trial.value(&(host.as_ptr() as u64).to_le_bytes())),
                "u32" => Ok(trial.value(&(*value as u32).to_le_bytes())),
                "u64" => Ok(trial.value(&value.to_le_bytes())),
                "shared" => {
                    trial.shared(bytes);
                    continue;
                }
                _ => panic!("{}: there is no argument {word}", self.name),
            };
            added.expect("a little memory");
            number += 1;
        }
        trial
    }
}
