//! What replaces `asm!` under cuda-oxide: a call of one of its markers, `__ptx_asm_out_3` or
//! `__ptx_asm_void_2`, which its compiler replaces by the PTX.
//!
//! A marker takes a template, constraints and options as constants, then the values. Its template is LLVM's: `$0` for the
//! first operand, results first. The functions below make it of the text that `asm!` takes, where an operand has a name.

/// The instruction: operands are sorted into results, values, and values that a result begins with.
#[doc(hidden)]
#[macro_export]
macro_rules! __instruction {
    ($effect:ident [$($before:expr,)*] [$($opcode:expr),*] [$($after:expr,)*] ($($operands:tt)*)) => {
        $crate::__instruction! { @sort $effect [$($before,)* $($opcode,)* $($after),*] [] [] [] $($operands)* }
    };
    // The rows of an access, of which a type parameter chooses one, in front of the texts before and after its opcode: one call, whose
    // template is that of the row. After the opcode are a hint and a prefetch size.
    ({ only $effect:ident $opcode:tt } $before:tt $after:tt $operands:tt) => {
        $crate::__instruction! { $effect $before $opcode $after $operands }
    };
    ({ $C:ident, sized $P:ident $hint:tt, $rows:tt } $($texts:tt)*) => {
        $crate::__instruction! { @row $C, $P::BYTES, $hint, $rows $($texts)* }
    };
    ({ $C:ident, hint $hint:literal, $rows:tt } $($texts:tt)*) => { $crate::__instruction! { @row $C, 0, [$hint], $rows $($texts)* } };
    ({ $C:ident, $rows:tt } $($texts:tt)*) => { $crate::__instruction! { @row $C, 0, [], $rows $($texts)* } };
    (@row $C:ident, $bytes:expr, [$($hint:literal)?], [$($id:expr => $opcode:tt $effect:ident;)*]
        [$($before:expr,)*] [$($after:expr,)*] ($($operands:tt)*)) => {
        $crate::__instruction! {
            @sort memory {
                $crate::emit::markers::RowText {
                    opcode: $crate::emit::markers::opcode($C::ID as u64, &[$(($id as u64, &$opcode)),*]),
                    before: concat!($($before),*),
                    hint: concat!($($hint)?),
                    bytes: $bytes as usize,
                    after: concat!($($after),*),
                }
            } [] [] [] $($operands)*
        }
    };
    (@sort $effect:ident $texts:tt [$($outs:tt)*] $ins:tt $tied:tt $name:ident = out($class:ident) $place:expr, $($rest:tt)*) => {
        $crate::__instruction! { @sort $effect $texts [$($outs)* ($name $class false [$place])] $ins $tied $($rest)* }
    };
    (@sort $effect:ident $texts:tt [$($outs:tt)*] $ins:tt [$($tied:tt)*] $name:ident = inout($class:ident) $place:expr, $($rest:tt)*) => {
        $crate::__instruction! { @sort $effect $texts [$($outs)* ($name $class true [$place])] $ins [$($tied)* [$place]] $($rest)* }
    };
    (@sort $effect:ident $texts:tt $outs:tt [$($ins:tt)*] $tied:tt $name:ident = in($class:ident) $value:expr, $($rest:tt)*) => {
        $crate::__instruction! { @sort $effect $texts $outs [$($ins)* ($name $class [$value])] $tied $($rest)* }
    };
    (@sort $effect:ident $texts:tt $outs:tt [$($ins:tt)*] $tied:tt $name:ident = const $value:expr, $($rest:tt)*) => {
        $crate::__instruction! { @sort $effect $texts $outs [$($ins)* ($name constant [const { $value }])] $tied $($rest)* }
    };
    (@sort $effect:ident $recipe:tt [$(($out:ident $out_class:ident $is_tied:literal $place:tt))*]
        [$(($in:ident $in_class:ident $value:tt))*] [$($tied:tt)*]) => {{
        const __PTX_NAMES: &[&::core::primitive::str] = &[$(::core::stringify!($out),)* $(::core::stringify!($in),)*];
        const __PTX_OPERANDS: $crate::emit::markers::Operands = $crate::emit::markers::Operands {
            results: &[$((::core::stringify!($out_class), $is_tied),)*],
            values: &[$(::core::stringify!($in_class),)*],
            is_arithmetic: $crate::__instruction!(@is $effect),
        };
        const __PTX_CONSTRAINTS: &[::core::primitive::u8; $crate::emit::markers::constraints::<0>(__PTX_OPERANDS).length] =
            &$crate::emit::markers::constraints(__PTX_OPERANDS).bytes;
        $crate::__instruction! { @template $effect $recipe [$($place)*] [$($value)* $($tied)*] }
    }};
    // One text.
    (@template $effect:ident [$($text:expr),* $(,)?] $places:tt $values:tt) => {
        const __PTX_TEXT: &::core::primitive::str = ::core::concat!($($text),*);
        const __PTX_TEMPLATE: &[::core::primitive::u8; $crate::emit::markers::template::<0>(__PTX_TEXT, __PTX_NAMES).length] =
            &$crate::emit::markers::template(__PTX_TEXT, __PTX_NAMES).bytes;
        $crate::__instruction! { @call $effect __PTX_TEMPLATE $places $values }
    };
    // The text of a row that a type parameter chooses.
    (@template $effect:ident { $row:expr } $places:tt $values:tt) => {
        $crate::__instruction! { @call $effect (const { &$row.template(__PTX_NAMES) }) $places $values }
    };
    (@is compute) => { true };
    (@is $other:ident) => { false };
    // cuda-oxide has no option for an access that may be merged and moved, so all accesses stay where they are.
    (@call compute $template:tt $places:tt [$($value:tt)*]) => {
        $crate::__instruction! { @place $places $template, __PTX_CONSTRAINTS, b"register_only,may_diverge" => $($value)* }
    };
    (@call $other:ident $template:tt $places:tt [$($value:tt)*]) => {
        $crate::__instruction! { @place $places $template, __PTX_CONSTRAINTS, b"" => $($value)* }
    };
    (@place [] $($call:tt)*) => { $crate::__marker!(void $($call)*) };
    (@place [[$place:expr]] $($call:tt)*) => { $place = $crate::__marker!(out $($call)*) };
    (@place [$([$place:expr])*] $($call:tt)*) => { ($($place),*) = $crate::__marker!(out $($call)*) };
}

/// A marker's name says how many values it takes. 19 are those of an atomic of eight lanes: value, result, address,
/// predicate, policy. So each value takes a name off the list, and the next one is the marker's.
#[doc(hidden)]
#[macro_export]
macro_rules! __marker {
    (out $($call:tt)*) => {
        $crate::__marker! { @name [
            __ptx_asm_out_0 __ptx_asm_out_1 __ptx_asm_out_2 __ptx_asm_out_3 __ptx_asm_out_4 __ptx_asm_out_5
            __ptx_asm_out_6 __ptx_asm_out_7 __ptx_asm_out_8 __ptx_asm_out_9 __ptx_asm_out_10 __ptx_asm_out_11
            __ptx_asm_out_12 __ptx_asm_out_13 __ptx_asm_out_14 __ptx_asm_out_15 __ptx_asm_out_16 __ptx_asm_out_17
            __ptx_asm_out_18 __ptx_asm_out_19
        ] $($call)* }
    };
    (void $($call:tt)*) => {
        $crate::__marker! { @name [
            __ptx_asm_void_0 __ptx_asm_void_1 __ptx_asm_void_2 __ptx_asm_void_3 __ptx_asm_void_4 __ptx_asm_void_5
            __ptx_asm_void_6 __ptx_asm_void_7 __ptx_asm_void_8 __ptx_asm_void_9 __ptx_asm_void_10 __ptx_asm_void_11
            __ptx_asm_void_12 __ptx_asm_void_13 __ptx_asm_void_14 __ptx_asm_void_15 __ptx_asm_void_16
        ] $($call)* }
    };
    (@name $names:tt $($text:expr),* => $($values:tt)*) => {
        $crate::__marker! { @count $names [$($values)*] ($($text),*) $($values)* }
    };
    (@count [$shorter:ident $($names:ident)*] [$value:tt $($rest:tt)*] $($call:tt)*) => {
        $crate::__marker! { @count [$($names)*] [$($rest)*] $($call)* }
    };
    (@count [$name:ident $($longer:ident)*] [] ($($text:expr),*) $([$value:expr])*) => {
        ::cuda_device::ptx::$name($($text,)* $($value),*)
    };
}

/// Text that is made while constants are evaluated. With `N` of zero it is only counted.
#[derive(Clone, Copy, Debug)]
pub struct Text<const N: usize> {
    /// The first `N` bytes.
    pub bytes: [u8; N],
    /// How many bytes there are.
    pub length: usize,
}

impl<const N: usize> Text<N> {
    const EMPTY: Self = Self { bytes: [0; N], length: 0 };

    const fn push(&mut self, byte: u8) {
        if self.length < N {
            self.bytes[self.length] = byte;
        }
        self.length += 1;
    }

    const fn push_text(&mut self, text: &str) {
        let mut at = 0;
        while at < text.len() {
            self.push(text.as_bytes()[at]);
            at += 1;
        }
    }

    const fn push_number(&mut self, number: usize) {
        if number >= 10 {
            self.push_number(number / 10);
        }
        self.push(b'0' + (number % 10) as u8);
    }

    /// What separates this item from the one before.
    const fn separate(&mut self) {
        if self.length > 0 {
            self.push(b',');
        }
    }
}

/// The operands of an instruction.
#[derive(Clone, Copy, Debug)]
pub struct Operands {
    /// The register class of each result, and whether a value goes in there too.
    pub results: &'static [(&'static str, bool)],
    /// The register class of each value; `constant` for a number in the text.
    pub values: &'static [&'static str],
    /// Whether no memory is touched.
    pub is_arithmetic: bool,
}

/// An access whose text a type parameter chooses.
#[derive(Clone, Copy, Debug)]
pub struct RowText {
    /// The opcode, in pieces.
    pub opcode: &'static [&'static str],
    /// The text before it.
    pub before: &'static str,
    /// The text after it, before the prefetch size.
    pub hint: &'static str,
    /// The prefetch size; zero for none.
    pub bytes: usize,
    /// The text after that.
    pub after: &'static str,
}

/// The length of every template that a type parameter chooses: the text of a constant cannot have one of its own.
const PADDED: usize = 384;

impl RowText {
    /// Its template, with spaces at its end.
    pub const fn template(self, names: &[&str]) -> [u8; PADDED] {
        let mut template: Text<PADDED> = Text::EMPTY;
        template.push_template(self.before, names);
        let mut at = 0;
        while at < self.opcode.len() {
            template.push_template(self.opcode[at], names);
            at += 1;
        }
        template.push_template(self.hint, names);
        if self.bytes > 0 {
            template.push_text(".L2::");
            template.push_number(self.bytes);
            template.push(b'B');
        }
        template.push_template(self.after, names);
        assert!(template.length <= PADDED, "a template of this length was not foreseen");
        while template.length < PADDED {
            template.push(b' ');
        }
        template.bytes
    }
}

/// The opcode of a row among all.
pub const fn opcode(row: u64, rows: &[(u64, &'static [&'static str])]) -> &'static [&'static str] {
    let mut at = 0;
    while at < rows.len() {
        if rows[at].0 == row {
            return rows[at].1;
        }
        at += 1;
    }
    panic!("the instruction has no such row")
}

/// LLVM's template of a text for `asm!`: `{name}` becomes the operand's number, `{{` one brace.
pub const fn template<const N: usize>(text: &str, names: &[&str]) -> Text<N> {
    let mut template = Text::EMPTY;
    template.push_template(text, names);
    template
}

impl<const N: usize> Text<N> {
    const fn push_template(&mut self, text: &str, names: &[&str]) {
        let bytes = text.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            match bytes[at] {
                brace @ (b'{' | b'}') if at + 1 < bytes.len() && bytes[at + 1] == brace => {
                    self.push(brace);
                    at += 2;
                }
                b'{' => {
                    let end = end_of_name(bytes, at + 1);
                    self.push(b'$');
                    self.push_number(position(names, bytes, at + 1, end));
                    at = end + 1;
                }
                b'$' => {
                    self.push_text("$$");
                    at += 1;
                }
                byte => {
                    self.push(byte);
                    at += 1;
                }
            }
        }
    }
}

const fn end_of_name(text: &[u8], mut at: usize) -> usize {
    while text[at] != b'}' {
        at += 1;
    }
    at
}

/// Which operand has the name between these bytes of a text.
const fn position(names: &[&str], text: &[u8], from: usize, end: usize) -> usize {
    let mut operand = 0;
    while operand < names.len() {
        if is_at(names[operand].as_bytes(), text, from, end) {
            return operand;
        }
        operand += 1;
    }
    panic!("the text names no operand of the instruction")
}

const fn is_at(name: &[u8], text: &[u8], from: usize, end: usize) -> bool {
    let mut at = 0;
    while at < name.len() && from + at < end && name[at] == text[from + at] {
        at += 1;
    }
    at == name.len() && from + at == end
}

/// LLVM's constraints: results, values, values that a result begins with, and whether memory is touched.
pub const fn constraints<const N: usize>(operands: Operands) -> Text<N> {
    let mut constraints = Text::EMPTY;
    let mut at = 0;
    while at < operands.results.len() {
        constraints.separate();
        constraints.push(b'=');
        constraints.push(letter(operands.results[at].0));
        at += 1;
    }
    at = 0;
    while at < operands.values.len() {
        constraints.separate();
        constraints.push(letter(operands.values[at]));
        at += 1;
    }
    at = 0;
    while at < operands.results.len() {
        if operands.results[at].1 {
            constraints.separate();
            constraints.push_number(at);
        }
        at += 1;
    }
    if !operands.is_arithmetic {
        constraints.separate();
        constraints.push_text("~{memory}");
    }
    constraints
}

const fn letter(class: &str) -> u8 {
    match class.as_bytes() {
        b"reg16" => b'h',
        b"reg32" => b'r',
        b"reg64" => b'l',
        b"constant" => b'n',
        _ => panic!("no such class of registers"),
    }
}
