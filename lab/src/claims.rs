//! What is expected of each experiment, before anything is measured.

use std::sync::LazyLock;

use super::statistics::Compare::{self, Difference, Ratio};
use Expected::{Above, Below, Within};

/// What is expected of a number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Expected {
    /// More than if there were no effect.
    Above,
    /// Less than if there were no effect.
    Below,
    /// In this range.
    Within(f64, f64),
}

/// Something expected of an experiment.
#[derive(Clone, Copy, Debug)]
pub struct Claim {
    /// The experiment.
    pub experiment: char,
    /// In words.
    pub says: &'static str,
    /// What was measured.
    pub metric: &'static str,
    /// The case that it is about.
    pub left: &'static [(&'static str, &'static str)],
    /// What it is compared with, and how; without, the number itself counts.
    pub right: Option<(&'static [(&'static str, &'static str)], Compare)>,
    /// What is expected.
    pub expected: Expected,
    /// The labels that it is told for each value of.
    pub each: &'static [&'static str],
    /// Only of GPUs with this in their name.
    pub only: &'static str,
}

/// The labels of a case: `hot=last stream=none`.
fn labels(words: &[&'static str]) -> &'static [(&'static str, &'static str)] {
    let label = |word: &&'static str| word.split_once('=').expect("a label has a value");
    words.iter().map(label).collect::<Vec<_>>().leak()
}

impl Expected {
    fn read(text: &str) -> Expected {
        let number = |text: &str| text.parse().expect("a number");
        match text.split_once("..") {
            Some((least, most)) => Within(number(least), number(most)),
            None if text == "above" => Above,
            None if text == "below" => Below,
            None => panic!("{text} is no expectation"),
        }
    }
}

impl Claim {
    fn read(line: &'static str) -> Claim {
        let parts: Vec<&str> = line.split('|').map(str::trim).collect();
        let [experiment, says, measured, expected, rest @ ..] = &parts[..] else { panic!("{line} is no claim") };
        let words: Vec<&str> = measured.split(' ').collect();
        let compared = words.iter().position(|word| ["less", "by"].contains(word));
        let (left, right) = words[1..].split_at(compared.unwrap_or(words.len()) - 1);
        let right =
            right.split_first().map(|(how, right)| (labels(right), if *how == "by" { Ratio } else { Difference }));
        Claim {
            experiment: experiment.chars().next().expect("a letter"),
            says,
            metric: words[0],
            left: labels(left),
            right,
            expected: Expected::read(expected),
            each: rest.first().map_or(Vec::new(), |each| each.split_whitespace().collect()).leak(),
            only: rest.get(1).copied().unwrap_or_default(),
        }
    }
}

/// All of them.
pub static CLAIMS: LazyLock<Vec<Claim>> = LazyLock::new(|| {
    let lines = include_str!("claims.txt").lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(Claim::read).collect()
});
