//! Finds the scope of each instruction. LLVM says where a scope begins first and ends last, and not what of others is between: of a loop
//! that it has unrolled, each scope has all copies.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;

use crate::debug_info::{Function, Place, Scope};
use crate::line_table::three;

/// How the labels begin that only debug sections name.
const LABELS: [&str; 3] = ["$L__tmp", "$L__func_begin", "$L__func_end"];

/// A place, and where the calls are that lead to it, the innermost first; each with the name of its function.
pub(super) type Chain<'a> = Vec<(Place, &'a str)>;

pub(super) struct Finder<'a> {
    scopes: &'a [Scope],
    /// The number of each scope's function.
    functions: Vec<usize>,
    /// Where the scopes of each function with code begin.
    roots: Vec<usize>,
    /// The lines before which labels stand: between two of them all is of one scope.
    labels: Vec<u64>,
    /// Of each file the lines where functions are declared, call others or have instructions, with these functions, as far as it is
    /// known.
    owners: HashMap<u32, BTreeMap<u32, BTreeSet<usize>>>,
    /// Where each scope was found last.
    found: Vec<u64>,
}

impl<'a> Finder<'a> {
    pub(super) fn new(text: &str, scopes: &'a [Scope]) -> Self {
        let lines = || (1..).zip(text.lines().map(str::trim));
        let mut finder = Finder {
            scopes,
            functions: numbered(scopes),
            roots: (0..scopes.len()).filter(|at| scopes[*at].parent.is_none()).collect(),
            labels: lines().filter(|(_, line)| is_label(line)).map(|(number, _)| number).collect(),
            owners: HashMap::new(),
            found: vec![0; scopes.len()],
        };
        // Of those that begin at a label, the last one is the innermost.
        let mut innermost = HashMap::new();
        for (at, scope) in scopes.iter().enumerate() {
            innermost.insert(scope.lines.start, at);
            let call = scope.call.zip(scope.parent).map(|((file, line, _), caller)| ((file, line), caller));
            let declared = scope.function.declared.map(|place| (place, at));
            call.into_iter().chain(declared).for_each(|(place, at)| finder.owns(at, place));
        }
        for (number, line) in lines() {
            let Some((file, line, _)) = place(line) else { continue };
            if let Some(at) = innermost.get(&finder.part(number).start) {
                finder.owns(*at, (file, line));
            }
        }
        finder
    }

    /// The function of a scope has a line.
    fn owns(&mut self, scope: usize, (file, line): (u32, u32)) {
        self.owners.entry(file).or_default().entry(line).or_default().insert(self.functions[scope]);
    }

    /// Whether the function of a scope may have a line: it has it, or the last one before it of which anything is known.
    fn may_own(&self, scope: usize, (file, line, _): Place) -> bool {
        let before = self.owners.get(&file).and_then(|lines| lines.range(..=line).next_back());
        before.is_some_and(|(_, functions)| functions.contains(&self.functions[scope]))
    }

    /// The lines between two labels.
    fn part(&self, number: u64) -> Range<u64> {
        let next = self.labels.partition_point(|label| *label <= number);
        let label = |at: usize| self.labels.get(at).copied().unwrap_or_default();
        next.checked_sub(1).map_or(0, label)..label(next)
    }

    /// The scopes of the function that a line is in.
    fn beside(&self, number: u64) -> Range<usize> {
        let next = self.roots.iter().position(|root| self.scopes[*root].lines.contains(&number));
        let root = |at: usize| self.roots.get(at).copied().unwrap_or(self.scopes.len());
        next.map_or(0..0, |at| root(at)..root(at + 1))
    }

    /// The scope of a line of PTX at which a place is told.
    fn scope(&mut self, number: u64, place: Place) -> Option<usize> {
        let part = self.part(number);
        let key = |at: &usize| {
            let lines = &self.scopes[*at].lines;
            let is_exact = lines.start == part.start || lines.end == part.end;
            // Copies of a loop have the same scopes in the same order. The innermost of scopes is the last one.
            (!self.may_own(*at, place), !is_exact, self.found[*at], lines.end - lines.start, Reverse(*at))
        };
        let scope = self.beside(number).filter(|at| self.scopes[*at].lines.contains(&number)).min_by_key(key)?;
        self.found[scope] = number;
        Some(scope)
    }

    /// The chain of the place that is told at a line of PTX.
    pub(super) fn chain(&mut self, number: u64, place: Place) -> Chain<'a> {
        let Some(scope) = self.scope(number, place) else { return vec![(place, "")] };
        let mut scope = &self.scopes[scope];
        let mut chain = vec![(place, scope.function.name.as_str())];
        while let (Some(call), Some(parent)) = (scope.call, scope.parent) {
            scope = &self.scopes[parent];
            chain.push((call, scope.function.name.as_str()));
        }
        chain
    }
}

/// A number for each function.
fn numbered(scopes: &[Scope]) -> Vec<usize> {
    let mut numbers: HashMap<&Function, usize> = HashMap::new();
    let functions = scopes.iter().map(|scope| &scope.function);
    let number = functions.map(|function| {
        let next = numbers.len();
        *numbers.entry(function).or_insert(next)
    });
    number.collect()
}

pub(super) fn is_label(line: &str) -> bool {
    LABELS.iter().any(|label| line.starts_with(label)) && line.ends_with(':')
}

/// Whether a line is a `.loc`.
pub(super) fn is_location(line: &str) -> bool {
    line.split_whitespace().next() == Some(".loc")
}

/// The place of a `.loc`. Line 0 is none.
pub(super) fn place(line: &str) -> Option<Place> {
    let place = line.strip_prefix(".loc").filter(|_| is_location(line)).and_then(three);
    place.filter(|(_, line, _)| *line > 0)
}
