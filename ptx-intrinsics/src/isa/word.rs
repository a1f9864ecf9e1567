//! A kind of word as values: an enum, its texts, and what each needs.

/// Whether two words are the same.
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

/// Defines the values of a kind: `Variant ".text" "name in Rust" Gate;`.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($variant:ident $text:literal $rust:tt $gate:ident;)* }) => {
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
            pub const fn ptx(self) -> &'static str {
                match self { $(Self::$variant => $text),* }
            }

            /// What it is called in Rust.
            pub const fn rust(self) -> &'static str {
                match self { $(Self::$variant => $rust),* }
            }

            pub(crate) const fn needs(self) -> $crate::isa::gate::Needs {
                match self { $(Self::$variant => <$crate::isa::gate::$gate as $crate::isa::gate::Gate>::NEEDS),* }
            }

            pub(crate) const fn read(word: &[u8]) -> Option<Self> {
                $(if $crate::isa::word::same(word, $text.as_bytes()) {
                    return Some(Self::$variant);
                })*
                None
            }
        }
    };
}
