//! What a test asks about its end.

use super::value::{Compare, Register};

/// What a test asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// Of how many ends.
    pub quantifier: Quantifier,
    /// Whether one end has it.
    pub test: Test,
}

/// Of how many ends a condition has to hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantifier {
    /// `exists`: of some end.
    Exists,
    /// `~exists`: of none.
    NotExists,
    /// `forall`: of each.
    Forall,
}

/// A condition on one end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Test {
    /// A comparison.
    Compare(Compare, Term, Term),
    /// `~`
    Not(Box<Test>),
    /// `/\`
    And(Box<Test>, Box<Test>),
    /// `\/`
    Or(Box<Test>, Box<Test>),
}

/// What a condition compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Term {
    /// A number.
    Constant(i64),
    /// A register of the thread at that position.
    Register(usize, Register),
    /// What a physical location holds at the end.
    Memory(usize),
}

impl Test {
    /// Whether it holds, if each term's value is known; `None` as long as that depends on an unknown one.
    pub fn holds(&self, value: &impl Fn(Term) -> Option<i64>) -> Option<bool> {
        match self {
            Test::Compare(compare, a, b) => Some(compare.holds(value(*a)?, value(*b)?)),
            Test::Not(test) => test.holds(value).map(|holds| !holds),
            Test::And(a, b) => match (a.holds(value), b.holds(value)) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (Some(true), Some(true)) => Some(true),
                _ => None,
            },
            Test::Or(a, b) => match (a.holds(value), b.holds(value)) {
                (Some(true), _) | (_, Some(true)) => Some(true),
                (Some(false), Some(false)) => Some(false),
                _ => None,
            },
        }
    }

    /// Its terms.
    pub fn terms(&self) -> Vec<Term> {
        match self {
            Test::Compare(_, a, b) => vec![*a, *b],
            Test::Not(test) => test.terms(),
            Test::And(a, b) | Test::Or(a, b) => [a.terms(), b.terms()].concat(),
        }
    }
}
