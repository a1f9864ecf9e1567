//! The forms of the rows of `instructions!`: what each takes and gives, read from the text of its function.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::{Form, What};
use crate::isa::row::{Pair, Row, SAME, Table};

/// What a form that is neither a load, a store nor an atomic takes and gives.
#[derive(Clone, Debug)]
pub(super) struct Message {
    pub(super) parameters: String,
    pub(super) result: Option<String>,
    pub(super) operands: &'static str,
}

/// The forms of a table.
pub(super) fn forms(table: Table) -> impl Iterator<Item = Form> {
    table.iter().copied().flatten().copied().flatten().filter_map(Row::form)
}

/// The forms of a table of pairs: that in the cluster follows that in this block.
pub(super) fn pairs(table: &'static [&'static [Pair]]) -> impl Iterator<Item = Form> {
    let pairs = table.iter().copied().flatten().flat_map(|[here, there]| here.iter().zip(*there));
    pairs.flat_map(|(here, there)| [here, there]).filter_map(Row::form)
}

impl Row {
    /// None where a function without the word makes the form.
    fn form(&self) -> Option<Form> {
        if self.word == SAME {
            return None;
        }
        let parameters: Vec<_> =
            self.parameters.iter().map(|(name, of)| format!("{name}: {}", self.shown(of))).collect();
        let names: Vec<_> = self.parameters.iter().map(|(name, _)| *name).collect();
        Some(Form {
            instruction: self.instruction.into(),
            rust: format!("{}{}({})", self.name, self.generics(), names.join(", ")),
            ptx: self.ptx.into(),
            what: What::Message(Message {
                parameters: parameters.join(", "),
                result: self.result.map(|result| self.shown(result)),
                operands: self.operands,
            }),
            needs: self.needs,
        })
    }

    /// What a call has to say beside its arguments: a word, or a type that no argument tells.
    fn generics(&self) -> String {
        let told = self.parameters.iter().any(|(_, of)| has_t(of));
        let word = tight(self.word);
        match (word.as_str(), self.generic) {
            ("", "T") if !told => format!("::<{}>", self.of),
            ("", _) => String::new(),
            (word, generic) if generic.contains(',') => format!("::<{word}, _>"),
            (word, _) => format!("::<{word}>"),
        }
    }

    /// A type as a caller writes it: with a type for `T`.
    fn shown(&self, of: &str) -> String {
        let of = tight(of).replace("impl InCluster", "SharedClusterPtr").replace("impl Sized", "T");
        of.split_inclusive(is_delimiter)
            .map(|part| match part.trim_end_matches(is_delimiter) {
                "T" => part.replacen('T', self.of, 1),
                _ => part.to_owned(),
            })
            .collect()
    }
}

/// Without the spaces that `stringify!` may put between tokens.
fn tight(text: &str) -> String {
    text.replace(" < ", "<").replace(" >", ">").replace("* ", "*")
}

fn is_delimiter(c: char) -> bool {
    !c.is_alphanumeric() && c != '_'
}

fn has_t(of: &str) -> bool {
    of.split(is_delimiter).any(|word| word == "T")
}
