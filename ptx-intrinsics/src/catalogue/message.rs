//! The forms of the rows of `instructions!`: what each takes and gives, read from the text of its function.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::isa::gate::Needs;
use crate::isa::row::{Choice, Function, Generic, Place, Rows, SAME, Table, Texts};

/// What a form that is neither a load, a store nor an atomic is: its call, its text, what it takes and gives.
#[derive(Clone, Debug)]
pub(super) struct Message {
    pub(super) instruction: &'static str,
    pub(super) section: &'static str,
    pub(super) rust: String,
    pub(super) ptx: &'static str,
    pub(super) operands: &'static str,
    pub(super) parameters: String,
    pub(super) result: Option<String>,
    pub(super) needs: Needs,
    pub(super) is_collective: bool,
}

/// The words that are chosen for the axes of a function, and what they say of it.
#[derive(Clone)]
struct Chosen {
    words: Vec<&'static str>,
    needs: Needs,
    gives: bool,
    belongs: Option<&'static str>,
}

impl Chosen {
    fn with(&self, choice: &Choice) -> Self {
        let mut words = self.words.clone();
        words.push(choice.word);
        Self {
            words,
            needs: self.needs.and(choice.needs),
            gives: self.gives && !choice.is_silent,
            belongs: choice.belongs.or(self.belongs),
        }
    }
}

/// The forms of tables.
pub(super) fn messages(tables: &[Table]) -> Vec<Message> {
    let mut found = Vec::new();
    for rows in tables.iter().copied().flatten() {
        of_rows(rows, &mut found);
    }
    found
}

fn of_rows(rows: &Rows, found: &mut Vec<Message>) {
    match rows {
        Rows::Many(rows) => rows.iter().for_each(|rows| of_rows(rows, found)),
        Rows::Function(function) => {
            let chosen = Chosen { words: Vec::new(), needs: function.takes.needs, gives: true, belongs: None };
            of_texts(function, &function.takes.texts, chosen, found);
        }
    }
}

/// An axis after the other. A function without the word makes the form where it is [`SAME`].
fn of_texts(function: &Function, texts: &Texts, chosen: Chosen, found: &mut Vec<Message>) {
    match texts {
        Texts::Each(choices) => {
            for choice in choices.iter().filter(|choice| choice.word != SAME) {
                of_texts(function, &choice.texts, chosen.with(choice), found);
            }
        }
        Texts::One { ptx, operands } => found.push(function.message(ptx, operands, &chosen)),
    }
}

impl Function {
    fn message(&self, ptx: &'static str, operands: &'static str, chosen: &Chosen) -> Message {
        let mut words = chosen.words.iter();
        let generics: Vec<(&str, String)> = (self.takes.generics.iter())
            .map(|generic| match *generic {
                Generic::Type(name) => (name, self.of.into()),
                Generic::Number(name @ "REGISTERS") => (name, "24".into()),
                Generic::Number(name @ "LAYOUT") => (name, "2".into()),
                Generic::Number(name @ "FILL") => (name, "1".into()),
                Generic::Number(name) => (name, "3".into()),
                Generic::Axis(name) => (name, tight(words.next().expect("a word of each axis is chosen"))),
            })
            .collect();
        let shown = |of: &str| match chosen.belongs {
            Some(belongs) if of.contains("::") => belongs.into(),
            _ => shown(of, &generics, self.of),
        };
        let parameters: Vec<_> =
            self.takes.parameters.iter().map(|(name, of)| format!("{name}: {}", shown(of))).collect();
        Message {
            instruction: self.instruction,
            section: self.section,
            rust: self.rust(&generics),
            ptx,
            operands,
            parameters: parameters.join(", "),
            result: self.takes.result.filter(|_| chosen.gives).map(shown),
            needs: chosen.needs,
            is_collective: self.takes.is_collective,
        }
    }

    /// The call.
    fn rust(&self, generics: &[(&str, String)]) -> String {
        let names: Vec<_> = self.takes.parameters.iter().map(|(name, _)| *name).collect();
        let (before, generics) = match self.place {
            Place::Module => (String::new(), generics),
            Place::Type(of) => (format!("{of}::"), generics),
            Place::Made(maker) => (format!("{maker}::<{}>().", generics[0].1), &generics[1..]),
        };
        format!("{before}{}{}({})", self.name, self.turbofish(generics), names.join(", "))
    }

    /// What a call has to say beside its arguments: a word, or a type that no argument tells.
    fn turbofish(&self, generics: &[(&str, String)]) -> String {
        let is_told =
            |generic: &str| self.takes.parameters.iter().any(|(_, of)| names_in(of).any(|name| name == generic));
        let said: Vec<&str> =
            generics.iter().map(|(generic, word)| if is_told(generic) { "_" } else { word.as_str() }).collect();
        if said.iter().all(|said| *said == "_") { String::new() } else { format!("::<{}>", said.join(", ")) }
    }
}

/// A type as a caller writes it: with a word or a type for what is generic.
fn shown(of: &str, generics: &[(&str, String)], t: &str) -> String {
    let of = tight(of);
    of.split_inclusive(is_delimiter)
        .map(|part| match part.trim_end_matches(is_delimiter) {
            "" => part.to_owned(),
            name => match generics.iter().find(|(generic, _)| *generic == name) {
                Some((_, word)) => part.replacen(name, word, 1),
                None if name == "T" => part.replacen('T', t, 1),
                None => part.to_owned(),
            },
        })
        .collect()
}

/// Without the spaces that `stringify!` may put between tokens.
fn tight(text: &str) -> String {
    text.replace(" < ", "<").replace(" >", ">").replace("* ", "*")
}

fn is_delimiter(c: char) -> bool {
    !c.is_alphanumeric() && c != '_'
}

fn names_in(of: &str) -> impl Iterator<Item = &str> {
    of.split(is_delimiter)
}
