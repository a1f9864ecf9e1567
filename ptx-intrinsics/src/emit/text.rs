//! An instruction as a text: its mnemonic with all words, its operands, and the block of PTX around it.

/// Its `asm!`: of the one instruction, or of that with the word that a constant says.
#[cfg(ptx_device)]
macro_rules! emit {
    ($effect:ident $manner:ident [$on:expr; $(($word:pat => $text:tt $shown:expr, $word_gate:ident))*]
        $ptx:tt $operands:tt $block:tt $registers:tt) => {
        // SAFETY: the caller's promise, where the function is not safe.
        unsafe {
            match const { $on } {
                $($word => __instruction! {
                    $effect [block!(before $block),] [text!(asm $manner $text $ptx $operands)] [";", block!(after $block),]
                    $registers
                },)*
            }
        }
    };
}

/// The instruction as a text: `doc` for people, `asm` for `asm!`.
macro_rules! text {
    ($kind:ident $manner:ident $word:tt $ptx:tt []) => { mnemonic!($manner $word $ptx) };
    ($kind:ident $manner:ident $word:tt $ptx:tt $operands:tt) => {
        concat!(mnemonic!($manner $word $ptx), " ", operands!($kind $manner $operands))
    };
}

/// Its mnemonic with all words.
macro_rules! mnemonic {
    ($manner:ident $word:tt [$ptx:literal $($mark:ident $($text:literal)?)*]) => {
        concat!($ptx, $(mnemonic!(@$manner $mark $word), $($text,)?)*)
    };
    (@PLAIN hint $word:tt) => { "" };
    (@WITH hint $word:tt) => { ".L2::cache_hint" };
    (@$manner:ident $mark:ident ($($word:literal)*)) => { concat!($($word),*) };
    (@$manner:ident $mark:ident $word:literal) => { $word };
}

/// Its operands, the policy where one is taken; `told` for the catalogue, with `%` for a register.
macro_rules! operands {
    ($kind:ident $manner:ident []) => { "" };
    ($kind:ident $manner:ident [$first:tt $(, $next:tt)*]) => {
        concat!(operand!($kind $first) $(, operands!(@$kind $manner $next))*)
    };
    (@$kind:ident PLAIN policy) => { "" };
    (@$kind:ident $manner:ident $operand:tt) => { concat!(", ", operand!($kind $operand)) };
}

macro_rules! operand {
    (doc $name:ident) => { stringify!($name) };
    (asm $name:ident) => { concat!("{", stringify!($name), "}") };
    (told N) => { "3" };
    (told $name:ident) => { "%" };
    (doc "%address") => { "p" };
    (told "%address") => { "%" };
    ($kind:ident $text:literal) => { $text };
    ($kind:ident [$first:tt $(, $next:tt)*]) => {
        concat!("[", operand!($kind $first), $(", ", operand!($kind $next),)* "]")
    };
    (asm {$first:tt $(, $next:tt)*}) => { concat!("{{", operand!(asm $first), $(", ", operand!(asm $next),)* "}}") };
    ($kind:ident {$first:tt $(, $next:tt)*}) => {
        concat!("{", operand!($kind $first), $(", ", operand!($kind $next),)* "}")
    };
}

/// What is before and after an instruction that is in a block of PTX.
#[cfg(ptx_device)]
macro_rules! block {
    ($side:ident ()) => {
        ""
    };
    // The predicate `%done`, as a number.
    (before ((done $name:ident))) => {
        "{{\n.reg .pred %done;\n"
    };
    (after ((done $name:ident))) => {
        concat!("\nselp.u32 {", stringify!($name), "}, 1, 0, %done;\n}}")
    };
    // A condition, as the predicate `%ignore`.
    (before ((ignore))) => {
        "{{\n.reg .pred %ignore;\nsetp.ne.b32 %ignore, {ignore}, 0;\n"
    };
    (after ((ignore))) => {
        "\n}}"
    };
    // The generic address of `%address`, one in a space.
    (before ((address $name:ident in $space:literal))) => {
        concat!("{{\n.reg .u64 %address;\ncvta.to", $space, ".u64 %address, {", stringify!($name), "};\n")
    };
    (after ((address $name:ident in $space:literal))) => {
        "\n}}"
    };
}

/// Arithmetic: no access.
#[cfg(ptx_device)]
macro_rules! compute {
    ([$($text:expr),* $(,)?] $($operand:tt)*) => { __instruction! { compute [] [$($text),*] [] ($($operand)*) } };
}
