//! What all readers of words share: one word after the other, each once, and what is wrong with one.

use super::near::nearest;
use crate::isa::word::{Key, next_word, same};

/// What is wrong with a spelling: the word, where it is one, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wrong<'t> {
    /// The word.
    pub word: &'t str,
    /// Why it does not belong there, and what does.
    pub why: &'static str,
    /// The words that there are, if this is none of them.
    among: &'static [&'static [&'static str]],
}

impl Wrong<'_> {
    /// The word that was probably meant.
    #[inline]
    pub const fn suggestion(&self) -> Option<&'static str> {
        nearest(self.word, self.among)
    }
}

/// The vectors that there are.
pub(crate) const VECTORS: &[&str] = &[".v2", ".v4", ".v8"];

#[inline]
pub(crate) const fn wrong<'t, T>(word: &'t str, why: &'static str) -> Result<T, Wrong<'t>> {
    Err(Wrong { word, why, among: &[] })
}

/// The words of an instruction that come before its operands.
pub(crate) struct Vocabulary {
    /// Its qualifiers and its types.
    pub(crate) words: &'static [&'static [&'static str]],
    /// Its types, the last of these.
    pub(crate) types: &'static [&'static str],
    /// What is said of a word that is none of these.
    pub(crate) unknown: &'static str,
    /// Which vectors it has.
    pub(crate) vectors: &'static str,
}

/// What is wrong with the words from `at`, which begin neither with a qualifier nor are a type.
#[inline]
pub(crate) const fn no_qualifier<'t, T>(
    text: &'t str,
    at: usize,
    vocabulary: &'static Vocabulary,
) -> Result<T, Wrong<'t>> {
    let word = Word::at(text, at);
    let (this, rest, end) = (word.text(), text.split_at(at).1, word.to);
    let next = Word::at(text, end).text();
    if is_one_of(this, vocabulary.types) {
        return wrong(
            next,
            if is_vector(next) {
                "the vector comes before the type: `.v4.f32`"
            } else {
                "the type comes last: all qualifiers come before it"
            },
        );
    }
    if !is_vector(this) {
        return Err(unknown(this, vocabulary.unknown, vocabulary.words));
    }
    if next.is_empty() {
        return wrong(this, "the type of its elements is missing: `.v4.f32`");
    }
    if !is_one_of(next, vocabulary.types) {
        return Err(unknown(next, "after `.v2`, `.v4` or `.v8` comes the type of the elements", vocabulary.words));
    }
    if end + next.len() == text.len() { wrong(rest, vocabulary.vectors) } else { no_qualifier(text, end, vocabulary) }
}

/// A word that is none of those that there are.
#[inline]
pub(crate) const fn unknown<'t>(
    word: &'t str,
    why: &'static str,
    among: &'static [&'static [&'static str]],
) -> Wrong<'t> {
    let why = match word.as_bytes() {
        b".b16x2" | b".f16" | b".bf16" | b".f16x2" | b".bf16x2" => {
            "16-bit floats are moved as `.b16`, pairs of them as `.b32`"
        }
        b".L2::evict_unchanged" => "no load or store takes it; `createpolicy` does",
        b".seq_cst" | b".sc" => "PTX has no such order: write `fence_sc` before a `.relaxed` or `.acquire` access",
        b".sub" => "there is no such operation: add the negative value with `.add`",
        [b'.', b'L', b'2', b':', b':', b'0'..=b'9', ..] => {
            "the prefetch sizes are `.L2::64B`, `.L2::128B` and `.L2::256B`"
        }
        _ => return Wrong { word, why, among },
    };
    Wrong { word, why, among: &[] }
}

#[inline]
const fn is_vector(word: &str) -> bool {
    matches!(word.as_bytes(), [b'.', b'v', b'0'..=b'9', ..])
}

#[inline]
const fn is_one_of(word: &str, words: &[&str]) -> bool {
    let mut at = 0;
    while at < words.len() {
        if same(word.as_bytes(), words[at].as_bytes()) {
            return true;
        }
        at += 1;
    }
    false
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
    #[inline]
    pub(crate) const fn at(text: &'t str, from: usize) -> Self {
        let (key, to) = next_word(text.as_bytes(), from);
        Self { text, from, to, key }
    }

    /// Its letters.
    #[inline]
    pub(crate) const fn text(self) -> &'t str {
        self.text.split_at(self.to).0.split_at(self.from).1
    }
}

/// Returns with the word as what it is, where it is one of these; each may be there only once.
macro_rules! take_word {
    ($spelling:ident $this:ident words [$($field:ident $kind:ident)*] flags [$($flag:ident $text:literal)*]) => {
        $(if let Some(word) = $kind::read($this.key) {
            let had = $spelling.$field.is_some();
            $spelling.$field = Some(word);
            return once($spelling, $this, had);
        })*
        $(if $this.key == const { key_of($text) } {
            let had = $spelling.$flag;
            $spelling.$flag = true;
            return once($spelling, $this, had);
        })*
    };
}

#[inline]
pub(crate) const fn once<T: Copy>(spelling: T, word: Word<'_>, had: bool) -> Result<Option<T>, Wrong<'_>> {
    if had { wrong(word.text(), "another word of its kind is already there") } else { Ok(Some(spelling)) }
}

/// What those words need that are there.
macro_rules! needs_of_words {
    ($spelling:ident $needs:ident [$($field:ident)*]) => { $(
        if let Some(word) = $spelling.$field {
            $needs = $needs.and(word.needs());
        }
    )* };
}

/// How the types of a table are written.
macro_rules! texts_of {
    ($rows:ident) => {{
        let mut texts = [""; $rows.len()];
        let mut at = 0;
        while at < texts.len() {
            texts[at] = $rows[at].ptx;
            at += 1;
        }
        texts
    }};
}

/// The row of a type that is all that is left.
macro_rules! row_of {
    ($rows:ident $text:ident $from:ident) => {{
        const KEYS: &[Key; $rows.len()] = &{
            let (mut keys, mut at) = ([0; $rows.len()], 0);
            while at < keys.len() {
                keys[at] = key_of($rows[at].ptx.as_bytes());
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

/// Whether a policy is after the operands exactly where `.L2::cache_hint` is said.
#[inline]
pub(crate) const fn demand_policy(hint: bool, policy: bool) -> Result<(), Wrong<'static>> {
    match (hint, policy) {
        (true, false) => wrong(".L2::cache_hint", "a `CachePolicy` is missing after the other operands"),
        (false, true) => wrong("", "there is a `CachePolicy`, but no `.L2::cache_hint`"),
        _ => Ok(()),
    }
}
