//! What a test is told of mutants, and what a judge says about one.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;

/// Tests about the crate of a copy: what they are asked is less than a whole run, and they print all that is wrong.
pub const BRIEF_VARIABLE: &str = "PTX_INTRINSICS_MUTANTS";

/// What a test is told of the mutants that it is asked about; nothing, where it is about this checkout.
pub fn brief() -> Option<&'static str> {
    static TOLD: LazyLock<Option<String>> = LazyLock::new(|| std::env::var(BRIEF_VARIABLE).ok());
    TOLD.as_deref()
}

/// Whether a test is asked about mutants.
pub fn is_about_a_mutant() -> bool {
    brief().is_some()
}

/// What is wrong with a form.
#[derive(Clone, Debug, Default)]
pub struct Failure {
    /// The expression, or the line that a test prints.
    pub form: String,
    /// What was expected of it.
    pub expected: String,
    /// What was found.
    pub found: String,
    /// Gates that moved: `sm_` or `ptx`, from, to.
    pub steps: Vec<(&'static str, u32, u32)>,
    /// Flags of gates that a form lost, and that it got.
    pub gates: [BTreeSet<String>; 2],
    /// Where the texts of two mutants do not mix: a case of the forms, a page, a file of messages.
    pub place: Option<String>,
}

/// How a test tells that a text is another one, where it is asked about mutants: on one line.
const DIFFERS: &str = "differs";

/// What is wrong with a text, for a reader; for the judge, where a test is asked about mutants.
pub fn difference(place: &str, expected: &str, found: &str) -> String {
    if !is_about_a_mutant() {
        return format!("{place}: expected {expected}, found {found}");
    }
    let [expected, found] = [expected, found].map(|text| text.replace(['\t', '\n'], " "));
    format!("{DIFFERS}\t{place}\t{expected}\t{found}")
}

impl Failure {
    /// A form whose text differs.
    pub fn new(form: &str, expected: &str, found: &str) -> Failure {
        let [form, expected, found] = [form, expected, found].map(str::to_owned);
        Failure { form, expected, found, ..Failure::default() }
    }

    /// A form that is there no more.
    pub fn missing(form: &str, expected: String) -> Failure {
        Failure { form: form.to_owned(), expected, ..Failure::default() }
    }

    /// A line that a test prints.
    pub(super) fn line(line: &str) -> Failure {
        if let [DIFFERS, place, expected, found] = line.split('\t').collect::<Vec<_>>()[..] {
            return Failure { place: Some(place.to_owned()), ..Failure::new(place, expected, found) };
        }
        static BOUND: LazyLock<Regex> =
            LazyLock::new(|| Regex::new(r" is (taken|refused) for sm_(\d+),ptx(\d+)").expect("the pattern is valid"));
        let mut failure = Failure::new(line, "", line);
        if let Some(bound) = BOUND.captures(line) {
            // The axis that is not varied is 999.
            for (axis, number) in [("sm_", &bound[2]), ("ptx", &bound[3])] {
                let number = number.parse().unwrap_or(0);
                let step = if &bound[1] == "taken" { (axis, BEYOND, number) } else { (axis, number, BEYOND) };
                failure.steps.extend((number < 999).then_some(step));
            }
        }
        failure
    }
}

/// The other end of a step of which a test names one end.
pub(super) const BEYOND: u32 = u32::MAX;

/// What a judge says.
#[derive(Debug)]
pub enum Answer {
    /// What is wrong, which may be nothing.
    Failures(Vec<Failure>),
    /// The compiler refuses something: its words.
    Broken(String),
}
