//! The forms of the rows of `instructions!`: what each takes and gives, read from the text of its function.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::{Form, What};
use crate::isa::row::{Row, Table};

/// What a form that is neither a load, a store nor an atomic takes and gives.
#[derive(Clone, Debug)]
pub(super) struct Message {
    pub(super) parameters: String,
    pub(super) result: Option<String>,
    pub(super) operands: &'static str,
}

/// The forms of a table.
pub(super) fn forms(table: Table) -> impl Iterator<Item = Form> {
    table.iter().copied().flatten().copied().flatten().map(Row::form)
}

impl Row {
    fn form(&self) -> Form {
        let parameters: Vec<_> =
            self.parameters.iter().map(|(name, of)| format!("{name}: {}", self.shown(of))).collect();
        let names: Vec<_> = self.parameters.iter().map(|(name, _)| *name).collect();
        Form {
            instruction: self.instruction.into(),
            rust: format!("{}{}({})", self.name, self.generics(), names.join(", ")),
            ptx: self.ptx.into(),
            what: What::Message(Message {
                parameters: parameters.join(", "),
                result: self.result.map(|result| self.shown(result)),
                operands: self.operands,
            }),
            needs: self.needs,
        }
    }

    /// What a call has to say beside its arguments: a word, or a type that no argument tells.
    fn generics(&self) -> String {
        let told = self.parameters.iter().any(|(_, of)| has_t(of));
        match (self.word, self.generic) {
            ("", "T") if !told => format!("::<{}>", self.of),
            ("", _) => String::new(),
            (word, _) => format!("::<{word}>"),
        }
    }

    /// A type as a caller writes it: with a type for `T`.
    fn shown(&self, of: &str) -> String {
        let of = of.replace("* ", "*").replace("impl InCluster", "SharedClusterPtr").replace("impl Sized", "T");
        of.split_inclusive(is_delimiter)
            .map(|part| match part.trim_end_matches(is_delimiter) {
                "T" => part.replacen('T', self.of, 1),
                _ => part.to_owned(),
            })
            .collect()
    }
}

fn is_delimiter(c: char) -> bool {
    !c.is_alphanumeric() && c != '_'
}

fn has_t(of: &str) -> bool {
    of.split(is_delimiter).any(|word| word == "T")
}
