//! What all readers of words share: one word after the other, each once, and what is wrong with one.

use crate::isa::word::{Key, next_word};

/// What is wrong with a spelling: the word, where it is one, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wrong<'t> {
    /// The word.
    pub word: &'t str,
    /// Why it does not belong there, and what does.
    pub why: &'static str,
}

pub(crate) const fn wrong<'t, T>(word: &'t str, why: &'static str) -> Result<T, Wrong<'t>> {
    Err(Wrong { word, why })
}

/// A word of a text.
#[derive(Clone, Copy)]
pub(crate) struct Word<'t> {
    text: &'t str,
    from: usize,
    /// Where the next one begins.
    pub(crate) to: usize,
    pub(crate) key: Key,
}

impl<'t> Word<'t> {
    /// The word that begins there.
    pub(crate) const fn at(text: &'t str, from: usize) -> Self {
        let (key, to) = next_word(text.as_bytes(), from);
        Self { text, from, to, key }
    }

    /// Its letters.
    pub(crate) const fn text(self) -> &'t str {
        self.text.split_at(self.to).0.split_at(self.from).1
    }
}

/// Returns with the word as what it is, where it is one of these; each may stand only once.
macro_rules! take_word {
    ($spelling:ident $this:ident words [$($field:ident $kind:ident)*] flags [$($flag:ident $text:literal)*]) => {
        $(if let Some(word) = $kind::read($this.key) {
            let had = $spelling.$field.is_some();
            $spelling.$field = Some(word);
            return once($spelling, $this, had);
        })*
        $(if $this.key == const { key($text, 0) } {
            let had = $spelling.$flag;
            $spelling.$flag = true;
            return once($spelling, $this, had);
        })*
    };
}

pub(crate) const fn once<T: Copy>(spelling: T, word: Word<'_>, had: bool) -> Result<T, Wrong<'_>> {
    if had { wrong(word.text(), "one of its kind is there already") } else { Ok(spelling) }
}

/// What those words need that are there.
macro_rules! needs_of_words {
    ($spelling:ident $needs:ident [$($field:ident)*]) => { $(
        if let Some(word) = $spelling.$field {
            $needs = $needs.and(word.needs());
        }
    )* };
}

/// The row of a type that is all that is left.
macro_rules! row_of {
    ($rows:ident $text:ident $from:ident) => {{
        const KEYS: &[Key; $rows.len()] = &{
            let (mut keys, mut at) = ([0; $rows.len()], 0);
            while at < keys.len() {
                keys[at] = key($rows[at].ptx.as_bytes(), 0);
                at += 1;
            }
            keys
        };
        let (key, mut at) = (key($text, $from), 0);
        while at < KEYS.len() {
            if KEYS[at] == key {
                return Some(at);
            }
            at += 1;
        }
        None
    }};
}

/// Whether a policy stands behind the operands exactly where `.L2::cache_hint` is said.
pub(crate) const fn demand_policy(hint: bool, policy: bool) -> Result<(), Wrong<'static>> {
    match (hint, policy) {
        (true, false) => wrong(".L2::cache_hint", "a `CachePolicy` is missing behind the other operands"),
        (false, true) => wrong("", "a `CachePolicy` is there, and `.L2::cache_hint` is not"),
        _ => Ok(()),
    }
}
