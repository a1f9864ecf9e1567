//! An instruction as a text: its mnemonic with all words, its operands, and the block of PTX around it.
//!
//! Of a row there are `[mnemonic] [what is written] [operands] (block)`. Its words are `[(S ".gpu") (P ".L2::64B")]`: for each axis
//! the one that was chosen, or what the documentation has in its place.

/// Its `asm!`: a `match` on a constant for each axis, with an arm for each word, so that one `asm!` is compiled.
#[cfg(ptx_device)]
macro_rules! emit {
    ($axes:tt $words:tt $row:tt) => {
        // SAFETY: the caller's promise, where the function is not safe.
        unsafe {
            choose! { $axes $words $row }
        }
    };
}

/// An axis after the other. A row is `{ [arguments that an axis holds] [what is written] [its register] (registers) … }`.
#[cfg(ptx_device)]
macro_rules! choose {
    ([] $words:tt { intrinsic $variant:ident $call:tt $out:tt }) => { intrinsic! { $variant $words $out $call } };
    ([] $words:tt { [] $written:tt [$($out:ident: $class:ident)*] ($($register:tt)*)
        [$effect:ident $variant:ident] $ptx:tt $operands:tt () }) => {
        __instruction! {
            $effect [] [text!(asm $variant $words $ptx $written $operands)] [";",] ($($register)* $($out = out($class) $out,)*)
        }
    };
    ([] $words:tt { [] $written:tt [$($out:ident: $class:ident)*] ($($register:tt)*)
        [$effect:ident $variant:ident] $ptx:tt $operands:tt $block:tt }) => {
        __instruction! {
            $effect [block!(before $block),] [text!(asm $variant $words $ptx $written $operands)] [";", block!(after $block),]
            ($($register)* $($out = out($class) $out,)*)
        }
    };
    ([{ $axis:ident $words:tt } $($axes:tt)*] $chosen:tt $row:tt) => {
        choose! { @axis $axis $words [$($axes)*] $chosen $row }
    };
    (@axis $axis:ident [$on:expr; $(($word:pat => $text:tt $shown:expr, $gate:ident $($more:tt)?))*]
        $axes:tt $chosen:tt $row:tt) => {
        match const { $on } {
            $($word => choose! { @word ($axis $text) $($more)?; $chosen $axes $row },)*
        }
    };
    (@word $word:tt; [$($chosen:tt)*] $axes:tt $row:tt) => { choose! { $axes [$($chosen)* $word] $row } };
    (@word $word:tt [$belongs:ty]; $($row:tt)*) => { choose! { @word $word; $($row)* } };
    // The instruction writes nothing there.
    (@word $word:tt silent; $chosen:tt $axes:tt { $held:tt [$written:tt] [$out:ident: $class:ident] $($row:tt)* }) => {{
        $out = 0;
        choose! { @word $word; $chosen $axes { $held ["_"] [] $($row)* } }
    }};
    (@word $word:tt silent; $($row:tt)*) => { choose! { @word $word; $($row)* } };
    // There is no other word.
    (@word $word:tt never; $($row:tt)*) => { unreachable!() };
    // A typed value of 8 bits: the assembler takes it in a register of 8 bits alone, which Rust does not have.
    (@word $word:tt (value reg16 u8 {X1 $value:literal [$d:ident . $i:tt]}); $chosen:tt $axes:tt { [$held:ident] $($row:tt)* }) => {{
        let [byte]: [u8; 1] = $crate::emit::registers::first_bits($held);
        choose! { @byte byte $word $chosen $axes { $($row)* } }
    }};
    (@byte $byte:ident ($($word:tt)*) [$($chosen:tt)*] $axes:tt
        { $written:tt $out:tt ($($register:tt)*) $how:tt $ptx:tt $operands:tt () }) => {
        choose! {
            $axes [$($chosen)* ($($word)* "%byte")]
            { [] $written $out ($($register)* byte = in(reg16) $byte,) $how $ptx $operands ((byte)) }
        }
    };
    // A typed value.
    (@word $word:tt (value $class:ident $r:ident {$X:ident $value:literal [$($d:ident . $i:tt)*]}); $($row:tt)*) => {
        choose! { @word $word ([$r; lanes!($X)] as $value [$($d)*] in $class); $($row)* }
    };
    // The word says which registers hold the arguments.
    (@word $word:tt ($($type:ty as $operand:literal [$($r:ident)*] in $class:ident),*); $chosen:tt $axes:tt { [$($held:ident)*] $($row:tt)* }) => {{
        $(let [$($r),*]: $type = $crate::emit::registers::first_bits($held);)*
        choose! { @held $word [$($operand)*] ($($($r = in($class) $r,)*)*) $chosen $axes { [] $($row)* } }
    }};
    (@held ($($word:tt)*) [$($operand:tt)*] ($($more:tt)*) [$($chosen:tt)*] $axes:tt
        { $held:tt $written:tt $out:tt ($($register:tt)*) $($row:tt)* }) => {
        choose! { $axes [$($chosen)* ($($word)* $($operand)*)] { $held $written $out ($($register)* $($more)*) $($row)* } }
    };
}

/// How many registers a shape has.
#[cfg(ptx_device)]
macro_rules! lanes {
    (X1) => {
        1
    };
    (X2) => {
        2
    };
    (X4) => {
        4
    };
    (X8) => {
        8
    };
}

/// The instruction: `doc` for people, `asm` for `asm!`.
macro_rules! text {
    ($kind:ident $variant:ident $words:tt $ptx:tt [] []) => { mnemonic!($variant $words $ptx) };
    ($kind:ident $variant:ident $words:tt [$ptx:literal $($mark:ident $($text:literal)?)*] $written:tt $operands:tt) => {
        concat!($ptx, $(word!($variant $mark $words), $($text,)?)* " ", operands!($kind $variant $words $written $operands))
    };
}

/// Its mnemonic.
macro_rules! mnemonic {
    ($variant:ident $words:tt [$ptx:literal $($mark:ident $($text:literal)?)*]) => {
        concat!($ptx, $(word!($variant $mark $words), $($text,)?)*)
    };
}

/// The word of an axis; `hint` is there where a policy is taken.
macro_rules! word {
    (PLAIN hint $words:tt) => { "" };
    (POLICY hint $words:tt) => { ".L2::cache_hint" };
    ($variant:ident B [(B $text:tt $($_operand:tt)*) $($words:tt)*]) => { word!(@ $text) };
    ($variant:ident D [(D $text:tt $($_operand:tt)*) $($words:tt)*]) => { word!(@ $text) };
    ($variant:ident E [(E $text:tt $($_operand:tt)*) $($words:tt)*]) => { word!(@ $text) };
    ($variant:ident G [(G $text:tt $($_operand:tt)*) $($words:tt)*]) => { word!(@ $text) };
    ($variant:ident O [(O $text:tt $($_operand:tt)*) $($words:tt)*]) => { word!(@ $text) };
    ($variant:ident P [(P $text:tt $($_operand:tt)*) $($words:tt)*]) => { word!(@ $text) };
    ($variant:ident S [(S $text:tt $($_operand:tt)*) $($words:tt)*]) => { word!(@ $text) };
    ($variant:ident T [(T $text:tt $($_operand:tt)*) $($words:tt)*]) => { word!(@ $text) };
    // Of another one.
    ($variant:ident $axis:ident [$other:tt $($words:tt)*]) => { word!($variant $axis [$($words)*]) };
    (@ ($($text:literal)*)) => { concat!($($text),*) };
    (@ $text:literal) => { $text };
}

/// Its operands, what it writes first; the policy where one is taken. `shown` is for the catalogue, with `%` for a register.
macro_rules! operands {
    ($kind:ident $variant:ident $words:tt [] []) => { "" };
    ($kind:ident $variant:ident $words:tt [] [$first:tt $(, $next:tt)*]) => {
        concat!(operand!($kind $words $first) $(, operands!(@$kind $variant $words $next))*)
    };
    ($kind:ident $variant:ident $words:tt [$written:tt] [$($operand:tt),*]) => {
        operands!($kind $variant $words [] [$written $(, $operand)*])
    };
    (@$kind:ident PLAIN $words:tt policy) => { "" };
    (@asm $variant:ident $words:tt [$name:ident]) => { concat!(", [{", stringify!($name), "}]") };
    (@$kind:ident $variant:ident $words:tt $operand:tt) => { concat!(", ", operand!($kind $words $operand)) };
}

macro_rules! operand {
    ($kind:ident $words:tt ($first:tt | $second:tt)) => {
        concat!(operand!($kind $words $first), "|", operand!($kind $words $second))
    };
    ($kind:ident $words:tt T) => { word!(PLAIN T $words) };
    (doc $words:tt $name:ident) => { stringify!($name) };
    // What an axis holds.
    ($kind:ident [$(($axis:ident $text:tt $($coordinates:tt $($offsets:tt)?)?))*] coordinates) => {
        operand!(@ $kind $($($coordinates)?)*)
    };
    ($kind:ident [$(($axis:ident $text:tt $($coordinates:tt $($offsets:tt)?)?))*] offsets) => {
        operand!(@ $kind $($($($offsets)?)?)*)
    };
    ($kind:ident [$(($axis:ident $text:tt $($coordinates:tt $($info:tt)?)?))*] info) => {
        operand!(@ $kind $($($($info)?)?)*)
    };
    ($kind:ident [$(($axis:ident $text:tt $($value:tt)?))*] value) => { operand!(@ $kind $($($value)?)*) };
    (@ $kind:ident) => { "" };
    (@ asm $value:literal) => { $value };
    (@ shown ($value:literal $d:ident)) => { "%" };
    (@ shown ($value:literal $($d:ident)*)) => { operand!(shown [] {$($d),*}) };
    (@ shown {$($operand:tt)*}) => { operand!(shown [] {$($operand)*}) };
    (asm $words:tt $name:ident) => { concat!("{", stringify!($name), "}") };
    (shown $words:tt N) => { "3" };
    (shown $words:tt REGISTERS) => { "24" };
    (shown $words:tt LAYOUT) => { "2" };
    (shown $words:tt FILL) => { "1" };
    (shown $words:tt $name:ident) => { "%" };
    (doc $words:tt "%address") => { "p" };
    (doc $words:tt "%ignore") => { "ignore" };
    (doc $words:tt "%holds") => { "holds" };
    (doc $words:tt "%found") => { "found" };
    (doc $words:tt "%done") => { "done" };
    (doc $words:tt "%response") => { "response" };
    (shown $words:tt "%address") => { "%" };
    ($kind:ident $words:tt $text:literal) => { $text };
    (asm $words:tt [$name:ident]) => { concat!("[{", stringify!($name), "}]") };
    ($kind:ident $words:tt [$first:tt $(, $next:tt)*]) => {
        concat!("[", operand!($kind $words $first), $(", ", operand!($kind $words $next),)* "]")
    };
    (asm $words:tt {$first:tt $(, $next:tt)*}) => {
        concat!("{{", operand!(asm $words $first), $(", ", operand!(asm $words $next),)* "}}")
    };
    ($kind:ident $words:tt {$first:tt $(, $next:tt)*}) => {
        concat!("{", operand!($kind $words $first), $(", ", operand!($kind $words $next),)* "}")
    };
}

/// What is before and after an instruction that is in a block of PTX.
#[cfg(ptx_device)]
macro_rules! block {
    // The predicate `%done`, as a number.
    (before ((done $name:ident))) => {
        "{{\n.reg .pred %done;\n"
    };
    (after ((done $name:ident))) => {
        concat!("\nselp.u32 {", stringify!($name), "}, 1, 0, %done;\n}}")
    };
    // The two registers `low` and `high` as `%response`, and the predicate `%done`, as a number.
    (before ((response done $name:ident))) => {
        concat!(block!(before ((response))), ".reg .pred %done;\n")
    };
    (after ((response done $name:ident))) => {
        block!(after ((done $name)))
    };
    (before ((response))) => {
        "{{\n.reg .b128 %response;\nmov.b128 %response, {{{low}, {high}}};\n"
    };
    (after ((response))) => {
        "\n}}"
    };
    // A value of 8 bits, as `%byte`.
    (before ((byte))) => {
        "{{\n.reg .b8 %byte;\ncvt.u8.u16 %byte, {byte};\n"
    };
    (after ((byte))) => {
        "\n}}"
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
