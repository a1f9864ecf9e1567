//! A kind of word as values: an enum, its texts, and what each needs.

/// A word as a number. Constants are evaluated slowly, and numbers are compared in one step.
pub(crate) type Key = u128;

/// The letters of all words. Each has a number of six bits in a key.
const LETTERS: &[u8] = b".:_abcdefghijklmnopqrstuvwxyz0123456789LB";

/// What every other letter has. No word has one: `key_of` asserts it.
const OTHER: u8 = 63;

const NUMBERS: &[u8; 256] = &{
    let (mut numbers, mut at) = ([OTHER; 256], 0);
    while at < LETTERS.len() {
        numbers[LETTERS[at] as usize] = at as u8 + 1;
        at += 1;
    }
    numbers
};

/// The key of the word that begins at `at`, and where the word ends: at the next dot.
#[inline]
pub(crate) const fn next_word(text: &[u8], at: usize) -> (Key, usize) {
    let (mut key, mut end) = (0, at);
    while end < text.len() && (text[end] != b'.' || end == at) {
        key = key << 6 | NUMBERS[text[end] as usize] as Key;
        end += 1;
    }
    (if fits(end - at) { key } else { Key::MAX }, end)
}

/// The key of all that is there from `at` on, dots or not.
#[inline]
pub(crate) const fn key(text: &[u8], at: usize) -> Key {
    let (mut key, mut end) = (0, at);
    while end < text.len() {
        key = key << 6 | NUMBERS[text[end] as usize] as Key;
        end += 1;
    }
    if fits(end - at) { key } else { Key::MAX }
}

/// The key of a word of PTX, which no other text has.
#[inline]
pub(crate) const fn key_of(text: &[u8]) -> Key {
    let mut at = 0;
    assert!(fits(text.len()), "the text is too long for a key");
    while at < text.len() {
        assert!(NUMBERS[text[at] as usize] != OTHER, "add the letter to LETTERS");
        at += 1;
    }
    key(text, 0)
}

/// Whether a text of this length fits in a key.
#[inline]
const fn fits(letters: usize) -> bool {
    letters <= Key::BITS as usize / 6
}

/// Whether two texts are the same.
#[inline]
pub(crate) const fn same(a: &[u8], b: &[u8]) -> bool {
    if a.len() != b.len() {
        return false;
    }
    let mut at = 0;
    while at < a.len() {
        if a[at] != b[at] {
            return false;
        }
        at += 1;
    }
    true
}

/// Defines the values of a kind: `Variant ".text" "name in Rust" Gate "meaning";`, or without a meaning.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($variant:ident $text:literal $rust:tt $gate:ident $($meaning:literal)?;)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[allow(missing_docs, reason = "a variant is the word that it is named after")]
        pub enum $name { $($variant),* }

        impl $name {
            /// Every one.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// How each is written.
            pub(crate) const TEXTS: &[&'static str] = &[$($text),*];

            /// The word, with its dot.
            #[inline]
            pub const fn ptx(self) -> &'static str {
                match self { $(Self::$variant => $text),* }
            }

            /// What it means, in a line or two.
            #[inline]
            pub const fn meaning(self) -> Option<&'static str> {
                match self { $(Self::$variant => words!(@meaning $($meaning)?)),* }
            }

            /// What it is called in Rust.
            #[inline]
            pub const fn rust(self) -> &'static str {
                match self { $(Self::$variant => $rust),* }
            }

            #[inline]
            pub(crate) const fn needs(self) -> $crate::isa::gate::Needs {
                match self { $(Self::$variant => <$crate::isa::gate::$gate as $crate::isa::gate::Gate>::NEEDS),* }
            }

            #[allow(non_upper_case_globals, reason = "a key has the name of its word")]
            #[inline]
            pub(crate) const fn read(key: $crate::isa::word::Key) -> Option<Self> {
                $(const $variant: $crate::isa::word::Key = $crate::isa::word::key_of($text.as_bytes());)*
                match key {
                    $($variant => Some(Self::$variant),)*
                    _ => None,
                }
            }
        }
    };
    (@meaning) => { None };
    (@meaning $meaning:literal) => { Some($meaning) };
}
