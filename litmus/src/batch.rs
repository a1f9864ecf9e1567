//! Many files at a time: what the model says of each, beside what was published.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::{Expected, Judgement, Limits, Model, Program, Quantifier, judge, parse, terminates};
use ptx_build::error::{Error, Result};
use ptx_build::progress::Progress;

/// What is asked of each file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// Whether its condition holds.
    Condition,
    /// Whether every thread comes to its end.
    Termination,
}

/// A file and what became of it.
#[derive(Debug)]
pub struct Judged {
    /// The file.
    pub file: PathBuf,
    /// The test, if it was read.
    pub program: Option<Program>,
    /// What the model says, or why it was not asked.
    pub verdict: Result<Judgement, Outside>,
    /// What was published.
    pub expected: Option<bool>,
}

/// Why a file has no verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outside {
    /// It cannot be read.
    Unread(String),
    /// It asks for what the model does not have, or for too much.
    Scope(String),
}

/// All files of that name, and all `.litmus` files in folders, in the order of their names.
pub fn files(paths: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for path in paths {
        let before = files.len();
        find(path, true, &mut files)?;
        if files.len() == before {
            return Err(Error::new("there is no .litmus file")
                .at(path.display())
                .fix("name a file or a folder that has one"));
        }
    }
    Ok(files)
}

fn find(path: &Path, named: bool, files: &mut Vec<PathBuf>) -> Result<()> {
    if !path.is_dir() {
        if named || path.extension().is_some_and(|extension| extension == "litmus") {
            files.push(path.to_owned());
        }
        return Ok(());
    }
    let entries = std::fs::read_dir(path).map_err(|error| Error::io("read", path, error))?;
    let mut inside: Vec<PathBuf> = entries
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<std::io::Result<_>>()
        .map_err(|error| Error::io("read", path, error))?;
    inside.sort();
    inside.iter().try_for_each(|path| find(path, false, files))
}

/// Reads and judges them all. Published results of which none is of these files are an error.
pub fn judge_files(
    files: &[PathBuf],
    question: Question,
    expected: &[Expected],
    limits: &Limits,
    progress: &Progress,
) -> Result<Vec<Judged>> {
    expected.iter().try_for_each(|expected| expected.covers(files))?;
    let bar = progress.bar(files.len() as u64, "Judging the files");
    let of = |file: &PathBuf| {
        let text = std::fs::read(file).map_err(|error| Error::io("read", file, error))?;
        let (program, verdict) = match String::from_utf8(text) {
            Ok(text) => judge_text(&text, question, limits),
            Err(error) => {
                let at = error.utf8_error().valid_up_to() + 1;
                (None, Err(Outside::Unread(format!("byte {at} is no UTF-8, and a litmus test is a text"))))
            }
        };
        bar.inc(1);
        let expected = expected.iter().find_map(|expected| expected.of(file));
        Ok(Judged { file: file.clone(), program, verdict, expected })
    };
    files.par_iter().map(of).collect()
}

fn judge_text(text: &str, question: Question, limits: &Limits) -> (Option<Program>, Result<Judgement, Outside>) {
    let program = match parse(text) {
        Ok(program) => program,
        Err(unread) if unread.outside => return (None, Err(Outside::Scope(unread.to_string()))),
        Err(unread) => return (None, Err(Outside::Unread(unread.to_string()))),
    };
    let asked = match question {
        Question::Condition => judge,
        Question::Termination => terminates,
    };
    let verdict = match asked(&program, &Model::new(), limits) {
        Ok(judgement) if judgement.bounded => Err(Outside::Scope(format!(
            "a loop that writes was followed {} times, and a longer run may say otherwise",
            limits.turns
        ))),
        Ok(judgement) => Ok(judgement),
        Err(too_large) => Err(Outside::Scope(too_large.to_string())),
    };
    (Some(program), verdict)
}

impl Judged {
    /// Whether the verdict is not the published one.
    pub fn disagrees(&self) -> bool {
        self.verdict.as_ref().is_ok_and(|judgement| self.expected.is_some_and(|expected| expected != judgement.holds))
    }

    /// Whether the file is not a litmus test.
    pub fn is_unread(&self) -> bool {
        matches!(self.verdict, Err(Outside::Unread(_)))
    }

    fn asked(&self, question: Question) -> &'static str {
        match (question, self.program.as_ref().map(|program| program.condition.quantifier)) {
            (_, None) => "",
            (Question::Termination, _) => "ends",
            (_, Some(Quantifier::Exists)) => "exists",
            (_, Some(Quantifier::NotExists)) => "~exists",
            (_, Some(Quantifier::Forall)) => "forall",
        }
    }
}

/// A line for each file, and the counts.
pub fn table(judged: &[Judged], question: Question) -> String {
    let names: Vec<String> = judged.iter().map(|judged| judged.file.display().to_string()).collect();
    let width = names.iter().map(String::len).max().unwrap_or_default();
    let mut table = format!("{:width$}  asked    model  published\n", "file");
    for (judged, name) in judged.iter().zip(&names) {
        let word = |holds: bool| if holds { "yes" } else { "no" };
        let verdict = match &judged.verdict {
            Ok(judgement) => {
                let mark = if judged.disagrees() { "  DISAGREES" } else { "" };
                format!("{:5}  {}{mark}", word(judgement.holds), judged.expected.map_or("-", word))
            }
            Err(Outside::Unread(why)) => format!("cannot be read: {why}"),
            Err(Outside::Scope(why)) => format!("outside: {why}"),
        };
        writeln!(table, "{name:width$}  {:7}  {verdict}", judged.asked(question)).expect("a string takes all");
    }
    table + &counts(judged)
}

fn counts(judged: &[Judged]) -> String {
    let count = |is: &dyn Fn(&Judged) -> bool| judged.iter().filter(|judged| is(judged)).count();
    let [with, disagree] =
        [count(&|judged| judged.verdict.is_ok() && judged.expected.is_some()), count(&Judged::disagrees)];
    let mut text = format!(
        "{} files: {} judged, {with} of them with a published result, {} agree, {disagree} disagree\n",
        judged.len(),
        count(&|judged| judged.verdict.is_ok()),
        with - disagree,
    );
    let mut reasons: Vec<(&str, usize)> = Vec::new();
    for outside in judged.iter().filter_map(|judged| judged.verdict.as_ref().err()) {
        let why = match outside {
            Outside::Unread(_) => "cannot be read",
            Outside::Scope(why) => why,
        };
        match reasons.iter_mut().find(|(reason, _)| *reason == why) {
            Some((_, times)) => *times += 1,
            None => reasons.push((why, 1)),
        }
    }
    for (why, times) in reasons {
        writeln!(text, "{times} outside: {why}").expect("a string takes all");
    }
    text
}
