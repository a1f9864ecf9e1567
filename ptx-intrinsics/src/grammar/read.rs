//! What all readers of words share: one word after the other, each once, and what is wrong with one.

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

/// Returns with the word as what it is, where it is one of these; each may stand only once.
macro_rules! take_word {
    ($spelling:ident $this:ident words [$($field:ident $kind:ident)*] flags [$($flag:ident $text:literal)*]) => {
        $(if let Some(word) = $kind::read($this.as_bytes()) {
            let had = $spelling.$field.is_some();
            $spelling.$field = Some(word);
            return once($spelling, $this, had);
        })*
        $(if same($this.as_bytes(), $text) {
            let had = $spelling.$flag;
            $spelling.$flag = true;
            return once($spelling, $this, had);
        })*
    };
}

pub(crate) const fn once<'t, T: Copy>(spelling: T, word: &'t str, had: bool) -> Result<T, Wrong<'t>> {
    if had { wrong(word, "one of its kind is there already") } else { Ok(spelling) }
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
    ($rows:ident $rest:ident) => {{
        let mut at = 0;
        while at < $rows.len() {
            if same($rest, $rows[at].ptx.as_bytes()) {
                return Some(at);
            }
            at += 1;
        }
        None
    }};
}

/// Where the word that begins at `at` ends.
pub(crate) const fn end_of_word(text: &[u8], at: usize) -> usize {
    let mut end = at + 1;
    while end < text.len() && text[end] != b'.' {
        end += 1;
    }
    if end < text.len() { end } else { text.len() }
}

pub(crate) const fn word(text: &str, from: usize, to: usize) -> &str {
    text.split_at(to).0.split_at(from).1
}

/// Whether a policy stands behind the operands exactly where `.L2::cache_hint` is said.
pub(crate) const fn demand_policy(hint: bool, policy: bool) -> Result<(), Wrong<'static>> {
    match (hint, policy) {
        (true, false) => wrong(".L2::cache_hint", "a `CachePolicy` is missing behind the other operands"),
        (false, true) => wrong("", "a `CachePolicy` is there, and `.L2::cache_hint` is not"),
        _ => Ok(()),
    }
}
