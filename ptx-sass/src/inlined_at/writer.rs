//! Writes `.loc` as `nvcc` does: each place with the one that it was inlined at, and where that was inlined before it.

use std::collections::HashMap;
use std::fmt::Write;

use super::finder::Chain;
use crate::debug_info::Place;

#[derive(Default)]
pub(super) struct Writer<'a> {
    has_inlined_at: bool,
    /// Where each place was inlined at last, as readers remember it.
    callers: HashMap<Place, Option<Place>>,
    numbers: HashMap<&'a str, usize>,
    names: String,
    last: Vec<Place>,
}

impl<'a> Writer<'a> {
    pub(super) fn new(has_inlined_at: bool) -> Self {
        Writer { has_inlined_at, ..Writer::default() }
    }

    /// Readers know nothing of other functions.
    pub(super) fn begin_function(&mut self) {
        self.callers.clear();
        self.last.clear();
    }

    /// What comes next is of this place.
    pub(super) fn write(&mut self, text: &mut String, mut chain: Chain<'a>) {
        if !self.has_inlined_at {
            chain.truncate(1);
        }
        let places: Vec<Place> = chain.iter().map(|(place, _)| *place).collect();
        if places == self.last {
            return;
        }
        for at in (0..chain.len()).rev() {
            let ((place, name), caller) = (chain[at], places.get(at + 1).copied());
            if at == 0 || self.callers.get(&place) != Some(&caller) {
                self.location(text, place, caller.map(|caller| (name, caller)));
                self.callers.insert(place, caller);
            }
        }
        self.last = places;
    }

    fn location(&mut self, text: &mut String, (file, line, column): Place, inlined: Option<(&'a str, Place)>) {
        *text += &format!("\t.loc\t{file} {line} {column}");
        if let Some((name, (file, line, column))) = inlined {
            let label = self.label(name);
            *text += &format!(", function_name {label}, inlined_at {file} {line} {column}");
        }
        text.push('\n');
    }

    /// The label of a function's name.
    fn label(&mut self, name: &'a str) -> String {
        let next = self.numbers.len();
        let number = *self.numbers.entry(name).or_insert(next);
        let label = format!("$L__info_string{number}");
        if number == next {
            let bytes: Vec<String> = name.bytes().chain([0]).map(|byte| byte.to_string()).collect();
            writeln!(self.names, "{label}:\n.b8 {}", bytes.join(",")).expect("a text grows");
        }
        label
    }

    /// The section with the names of functions.
    pub(super) fn names(&self) -> String {
        if self.names.is_empty() {
            String::new()
        } else {
            format!("\t.section\t.debug_str\n\t{{\n{}\t}}\n", self.names)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_function_tells_all_of_its_calls() {
        let chain = || vec![((3, 8, 9), "shuffle"), ((2, 7, 9), "sum"), ((1, 20, 3), "kernel")];
        let mut writer = Writer::new(true);
        let mut texts = [String::new(), String::new()];
        for text in &mut texts {
            writer.begin_function();
            writer.write(text, chain());
        }
        let all = "\t.loc\t1 20 3\n\t.loc\t2 7 9, function_name $L__info_string0, inlined_at 1 20 3\n\
                   \t.loc\t3 8 9, function_name $L__info_string1, inlined_at 2 7 9\n";
        assert_eq!(texts, [all; 2]);
    }
}
