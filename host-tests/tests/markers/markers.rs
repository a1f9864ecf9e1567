//! `asm!` for cuda-oxide: what the crate's blocks become there.
//!
//! cuda-oxide compiles device code out of the MIR for the host's target, where `asm!` cannot be used. In its place stand
//! calls of marker functions, `cuda_device::ptx::__ptx_asm_{out,void}_N(template, constraints, options, arguments…)`, whose
//! first three arguments are constants: LLVM's template with `$0` for an operand, LLVM's constraints, and what may be done
//! with the block. Their own macro wants one literal. [`markers!`](crate::markers) takes what `asm!` takes, a `concat!`
//! too, and makes the three by `const fn`.
//!
//! There is no early clobber. It is not needed: no block of the crate reads an input behind its first write of an output,
//! which `tests/markers` holds for every form.

use core::mem::MaybeUninit;

/// An operand of a block, as its `asm!` names it.
#[derive(Clone, Copy, Debug)]
pub struct Operand {
    /// The name between the braces of the template.
    pub name: &'static str,
    /// Where its value comes from and goes to.
    pub way: Way,
    /// LLVM's letter for its register: `h`, `r` or `l`, or `n` for a number in the text.
    pub letter: u8,
}

/// Where the value of an operand comes from and goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// `out`
    Out,
    /// `inout`
    InOut,
    /// `in`, or `const`
    In,
}

/// LLVM's letter of a class of registers.
pub const fn letter(class: &str) -> u8 {
    match class.as_bytes() {
        b"reg16" => b'h',
        b"reg32" => b'r',
        b"reg64" => b'l',
        _ => panic!("a class of registers that markers do not have"),
    }
}

const fn is_output(operand: &Operand) -> bool {
    matches!(operand.way, Way::Out | Way::InOut)
}

const fn same(a: &[u8], from: usize, to: usize, b: &[u8]) -> bool {
    if to - from != b.len() {
        return false;
    }
    let mut at = 0;
    while at < b.len() {
        if a[from + at] != b[at] {
            return false;
        }
        at += 1;
    }
    true
}

/// LLVM's number of the operand of that name: outputs come first.
const fn number(text: &[u8], from: usize, to: usize, operands: &[Operand]) -> usize {
    let mut found = operands.len();
    let (mut outputs, mut outputs_before, mut inputs_before, mut at) = (0, 0, 0, 0);
    while at < operands.len() {
        if found == operands.len() && same(text, from, to, operands[at].name.as_bytes()) {
            found = at;
            (outputs_before, inputs_before) = (outputs, at - outputs);
        }
        outputs += is_output(&operands[at]) as usize;
        at += 1;
    }
    assert!(found < operands.len(), "the template names an operand that the block does not have");
    if is_output(&operands[found]) { outputs_before } else { outputs + inputs_before }
}

/// Bytes that are counted, and written where there is room: a first pass counts, a second one writes.
struct Text<const N: usize> {
    bytes: [u8; N],
    length: usize,
}

impl<const N: usize> Text<N> {
    const EMPTY: Self = Text { bytes: [0; N], length: 0 };

    const fn push(&mut self, byte: u8) {
        if N > 0 {
            self.bytes[self.length] = byte;
        }
        self.length += 1;
    }

    const fn push_number(&mut self, number: usize) {
        if number >= 10 {
            self.push_number(number / 10);
        }
        self.push(b'0' + (number % 10) as u8);
    }

    /// Ends an item of a list, but for the last.
    const fn separate(&mut self) {
        if self.length > 0 {
            self.push(b',');
        }
    }

    const fn template(text: &str, operands: &[Operand]) -> Self {
        let (text, mut out, mut at) = (text.as_bytes(), Self::EMPTY, 0);
        while at < text.len() {
            let doubled = at + 1 < text.len() && text[at + 1] == text[at];
            match text[at] {
                brace @ (b'{' | b'}') if doubled => {
                    out.push(brace);
                    at += 2;
                }
                b'{' => {
                    let mut end = at + 1;
                    while text[end] != b'}' {
                        end += 1;
                    }
                    out.push(b'$');
                    out.push_number(number(text, at + 1, end, operands));
                    at = end + 1;
                }
                b'}' => panic!("a brace that opens nothing: write it twice"),
                byte => {
                    out.push(byte);
                    if byte == b'$' {
                        out.push(b'$');
                    }
                    at += 1;
                }
            }
        }
        out
    }

    const fn constraints(operands: &[Operand], memory: bool) -> Self {
        let (mut out, mut outputs, mut at) = (Self::EMPTY, 0, 0);
        while at < operands.len() {
            if is_output(&operands[at]) {
                out.separate();
                out.push(b'=');
                out.push(operands[at].letter);
            }
            at += 1;
        }
        at = 0;
        while at < operands.len() {
            if !is_output(&operands[at]) {
                out.separate();
                out.push(operands[at].letter);
            }
            at += 1;
        }
        // What an output holds before stands last, by the output's number.
        at = 0;
        while at < operands.len() {
            if matches!(operands[at].way, Way::InOut) {
                out.separate();
                out.push_number(outputs);
            }
            outputs += is_output(&operands[at]) as usize;
            at += 1;
        }
        if memory {
            out.separate();
            let (clobber, mut at) = (b"~{memory}", 0);
            while at < clobber.len() {
                out.push(clobber[at]);
                at += 1;
            }
        }
        out
    }
}

/// How long [`template`] is.
pub const fn template_length(text: &str, operands: &[Operand]) -> usize {
    Text::<0>::template(text, operands).length
}

/// LLVM's template of Rust's: `$0` for `{d0}`, `{` for `{{`.
pub const fn template<const N: usize>(text: &str, operands: &[Operand]) -> [u8; N] {
    Text::<N>::template(text, operands).bytes
}

/// How long [`constraints`] are.
pub const fn constraints_length(operands: &[Operand], memory: bool) -> usize {
    Text::<0>::constraints(operands, memory).length
}

/// LLVM's constraints of these operands: outputs, inputs, what outputs hold before, and whether memory is touched.
pub const fn constraints<const N: usize>(operands: &[Operand], memory: bool) -> [u8; N] {
    Text::<N>::constraints(operands, memory).bytes
}

/// What a register may hold: the numbers that markers move for it.
pub trait Register: Copy {
    /// `u16`, `u32` or `u64`.
    type Bits: Copy;
    /// As a number.
    fn bits(self) -> Self::Bits;
    /// Of a number.
    fn of_bits(bits: Self::Bits) -> Self;
}

macro_rules! registers {
    ($($type:ty as $bits:ty;)*) => { $(
        impl Register for $type {
            type Bits = $bits;
            #[inline(always)]
            fn bits(self) -> $bits {
                self as $bits
            }
            #[inline(always)]
            fn of_bits(bits: $bits) -> Self {
                bits as $type
            }
        }
        impl Register for MaybeUninit<$type> {
            type Bits = $bits;
            #[inline(always)]
            fn bits(self) -> $bits {
                // SAFETY: a block that reads a register is given one with a value.
                unsafe { self.assume_init() as $bits }
            }
            #[inline(always)]
            fn of_bits(bits: $bits) -> Self {
                MaybeUninit::new(bits as $type)
            }
        }
    )* };
}
registers! {
    u16 as u16;
    i16 as u16;
    u32 as u32;
    i32 as u32;
    u64 as u64;
    i64 as u64;
    usize as u64;
    isize as u64;
}

macro_rules! pointers {
    ($($pointer:ty)*) => { $(
        impl<T> Register for $pointer {
            type Bits = u64;
            #[inline(always)]
            fn bits(self) -> u64 {
                self as u64
            }
            #[inline(always)]
            fn of_bits(bits: u64) -> Self {
                bits as $pointer
            }
        }
    )* };
}
pointers! { *const T *mut T }

/// A block by cuda-oxide's markers. It takes what `asm!` takes: a template, operands with names, and options. A `const`
/// operand is a number of 32 bits.
#[macro_export]
macro_rules! markers {
    ($text:expr, $($rest:tt)*) => {
        $crate::markers! { @operand $text; [] [] [] [] $($rest)* }
    };

    (@operand $text:expr; $all:tt [$($outputs:tt)*] $inputs:tt $ties:tt $name:ident = out($class:ident) $place:expr, $($rest:tt)*) => {
        $crate::markers! { @next $text; $all [Out $name $class] [$($outputs)* {$place}] $inputs $ties $($rest)* }
    };
    (@operand $text:expr; $all:tt [$($outputs:tt)*] $inputs:tt [$($ties:tt)*] $name:ident = inout($class:ident) $place:expr, $($rest:tt)*) => {
        $crate::markers! { @next $text; $all [InOut $name $class] [$($outputs)* {$place}] $inputs
            [$($ties)* {$crate::backends::markers::Register::bits($place)}] $($rest)* }
    };
    (@operand $text:expr; $all:tt $outputs:tt [$($inputs:tt)*] $ties:tt $name:ident = in($class:ident) $value:expr, $($rest:tt)*) => {
        $crate::markers! { @next $text; $all [In $name $class] $outputs
            [$($inputs)* {$crate::backends::markers::Register::bits($value)}] $ties $($rest)* }
    };
    (@operand $text:expr; [$($all:tt)*] $outputs:tt [$($inputs:tt)*] $ties:tt $name:ident = const $value:expr, $($rest:tt)*) => {
        $crate::markers! { @operand $text;
            [$($all)* {
                name: ::core::stringify!($name), way: $crate::backends::markers::Way::In, letter: b'n',
            }]
            $outputs [$($inputs)* {const { $value as u32 }}] $ties $($rest)* }
    };
    (@next $text:expr; [$($all:tt)*] [$way:ident $name:ident $class:ident] $($rest:tt)*) => {
        $crate::markers! { @operand $text;
            [$($all)* {
                name: ::core::stringify!($name),
                way: $crate::backends::markers::Way::$way,
                letter: $crate::backends::markers::letter(::core::stringify!($class)),
            }]
            $($rest)* }
    };

    // What is neither read from memory nor written to it depends on its operands alone.
    (@operand $text:expr; $all:tt $outputs:tt $inputs:tt $ties:tt options(pure, nomem $(, $more:ident)* $(,)?) $(,)?) => {
        $crate::markers! { @constants $text; $all false b"register_only,may_diverge"; $outputs $inputs $ties }
    };
    (@operand $text:expr; $all:tt $outputs:tt $inputs:tt $ties:tt options($($option:ident),* $(,)?) $(,)?) => {
        $crate::markers! { @constants $text; $all true b""; $outputs $inputs $ties }
    };
    (@constants $text:expr; [$($operand:tt)*] $memory:literal $options:literal; $outputs:tt [$($inputs:tt)*] [$($ties:tt)*]) => {{
        const __PTX_TEXT: &str = $text;
        const __PTX_OPERANDS: &[$crate::backends::markers::Operand] =
            &[$($crate::backends::markers::Operand $operand),*];
        const __PTX_TEMPLATE: &[u8; $crate::backends::markers::template_length(__PTX_TEXT, __PTX_OPERANDS)] =
            &$crate::backends::markers::template(__PTX_TEXT, __PTX_OPERANDS);
        const __PTX_CONSTRAINTS: &[u8; $crate::backends::markers::constraints_length(__PTX_OPERANDS, $memory)] =
            &$crate::backends::markers::constraints(__PTX_OPERANDS, $memory);
        $crate::markers! { @call $outputs [$($inputs)* $($ties)*] (__PTX_TEMPLATE, __PTX_CONSTRAINTS, $options) }
    }};

    (@call [] $arguments:tt $constants:tt) => {
        $crate::markers! { @void $arguments $constants }
    };
    (@call [{$place:expr}] $arguments:tt $constants:tt) => {{
        let bits = $crate::markers! { @out $arguments $constants };
        $place = $crate::backends::markers::Register::of_bits(bits);
    }};
    (@call [{$p0:expr} {$p1:expr}] $arguments:tt $constants:tt) => {{
        let (b0, b1) = $crate::markers! { @out $arguments $constants };
        $crate::markers! { @set $p0 => b0; $p1 => b1; }
    }};
    (@call [{$p0:expr} {$p1:expr} {$p2:expr} {$p3:expr}] $arguments:tt $constants:tt) => {{
        let (b0, b1, b2, b3) = $crate::markers! { @out $arguments $constants };
        $crate::markers! { @set $p0 => b0; $p1 => b1; $p2 => b2; $p3 => b3; }
    }};
    (@call [{$p0:expr} {$p1:expr} {$p2:expr} {$p3:expr} {$p4:expr} {$p5:expr} {$p6:expr} {$p7:expr}] $arguments:tt $constants:tt) => {{
        let (b0, b1, b2, b3, b4, b5, b6, b7) = $crate::markers! { @out $arguments $constants };
        $crate::markers! { @set
            $p0 => b0; $p1 => b1; $p2 => b2; $p3 => b3; $p4 => b4; $p5 => b5; $p6 => b6; $p7 => b7;
        }
    }};
    (@call [{$p0:expr} {$p1:expr} {$p2:expr}] $arguments:tt $constants:tt) => {{
        let (b0, b1, b2) = $crate::markers! { @out $arguments $constants };
        $crate::markers! { @set $p0 => b0; $p1 => b1; $p2 => b2; }
    }};
    (@call [{$p0:expr} {$p1:expr} {$p2:expr} {$p3:expr} {$p4:expr}] $arguments:tt $constants:tt) => {{
        let (b0, b1, b2, b3, b4) = $crate::markers! { @out $arguments $constants };
        $crate::markers! { @set $p0 => b0; $p1 => b1; $p2 => b2; $p3 => b3; $p4 => b4; }
    }};
    (@call [{$p0:expr} {$p1:expr} {$p2:expr} {$p3:expr} {$p4:expr} {$p5:expr}] $arguments:tt $constants:tt) => {{
        let (b0, b1, b2, b3, b4, b5) = $crate::markers! { @out $arguments $constants };
        $crate::markers! { @set $p0 => b0; $p1 => b1; $p2 => b2; $p3 => b3; $p4 => b4; $p5 => b5; }
    }};
    (@call [{$p0:expr} {$p1:expr} {$p2:expr} {$p3:expr} {$p4:expr} {$p5:expr} {$p6:expr}] $arguments:tt $constants:tt) => {{
        let (b0, b1, b2, b3, b4, b5, b6) = $crate::markers! { @out $arguments $constants };
        $crate::markers! { @set $p0 => b0; $p1 => b1; $p2 => b2; $p3 => b3; $p4 => b4; $p5 => b5; $p6 => b6; }
    }};
    (@set $($place:expr => $bits:ident;)*) => {
        $($place = $crate::backends::markers::Register::of_bits($bits);)*
    };

    (@out [] ($template:ident, $constraints:ident, $options:literal)) => {
        ::cuda_device::ptx::__ptx_asm_out_0($template, $constraints, $options)
    };
    (@out [{$a0:expr}] ($template:ident, $constraints:ident, $options:literal)) => {
        ::cuda_device::ptx::__ptx_asm_out_1($template, $constraints, $options, $a0)
    };
    (@out [{$a0:expr} {$a1:expr}] ($template:ident, $constraints:ident, $options:literal)) => {
        ::cuda_device::ptx::__ptx_asm_out_2($template, $constraints, $options, $a0, $a1)
    };
    (@out [{$a0:expr} {$a1:expr} {$a2:expr}] ($template:ident, $constraints:ident, $options:literal)) => {
        ::cuda_device::ptx::__ptx_asm_out_3($template, $constraints, $options, $a0, $a1, $a2)
    };
    (@out [{$a0:expr} {$a1:expr} {$a2:expr} {$a3:expr}] ($template:ident, $constraints:ident, $options:literal)) => {
        ::cuda_device::ptx::__ptx_asm_out_4($template, $constraints, $options, $a0, $a1, $a2, $a3)
    };
    (@out [{$a0:expr} {$a1:expr} {$a2:expr} {$a3:expr} {$a4:expr}] ($template:ident, $constraints:ident, $options:literal)) => {
        ::cuda_device::ptx::__ptx_asm_out_5($template, $constraints, $options, $a0, $a1, $a2, $a3, $a4)
    };
    (@out [{$a0:expr} {$a1:expr} {$a2:expr} {$a3:expr} {$a4:expr} {$a5:expr}] ($template:ident, $constraints:ident, $options:literal)) => {
        ::cuda_device::ptx::__ptx_asm_out_6($template, $constraints, $options, $a0, $a1, $a2, $a3, $a4, $a5)
    };
    (@out [{$a0:expr} {$a1:expr} {$a2:expr} {$a3:expr} {$a4:expr} {$a5:expr} {$a6:expr}] ($template:ident, $constraints:ident, $options:literal)) => {
        ::cuda_device::ptx::__ptx_asm_out_7($template, $constraints, $options, $a0, $a1, $a2, $a3, $a4, $a5, $a6)
    };
    (@out [{$a0:expr} {$a1:expr} {$a2:expr} {$a3:expr} {$a4:expr} {$a5:expr} {$a6:expr} {$a7:expr}] ($template:ident, $constraints:ident, $options:literal)) => {
        ::cuda_device::ptx::__ptx_asm_out_8($template, $constraints, $options, $a0, $a1, $a2, $a3, $a4, $a5, $a6, $a7)
    };
    (@out [{$a0:expr} {$a1:expr} {$a2:expr} {$a3:expr} {$a4:expr} {$a5:expr} {$a6:expr} {$a7:expr} {$a8:expr}] ($template:ident, $constraints:ident, $options:literal)) => {
        ::cuda_device::ptx::__ptx_asm_out_9($template, $constraints, $options, $a0, $a1, $a2, $a3, $a4, $a5, $a6, $a7, $a8)
    };
    (@out [{$a0:expr} {$a1:expr} {$a2:expr} {$a3:expr} {$a4:expr} {$a5:expr} {$a6:expr} {$a7:expr} {$a8:expr} {$a9:expr}] ($template:ident, $constraints:ident, $options:literal)) => {
        ::cuda_device::ptx::__ptx_asm_out_10($template, $constraints, $options, $a0, $a1, $a2, $a3, $a4, $a5, $a6, $a7, $a8, $a9)
    };
    (@out [{$a0:expr} {$a1:expr} {$a2:expr} {$a3:expr} {$a4:expr} {$a5:expr} {$a6:expr} {$a7:expr} {$a8:expr} {$a9:expr} {$a10:expr}] ($template:ident, $constraints:ident, $options:literal)) => {
        ::cuda_device::ptx::__ptx_asm_out_11($template, $constraints, $options, $a0, $a1, $a2, $a3, $a4, $a5, $a6, $a7, $a8, $a9, $a10)
    };
    (@out [{$a0:expr} {$a1:expr} {$a2:expr} {$a3:expr} {$a4:expr} {$a5:expr} {$a6:expr} {$a7:expr} {$a8:expr} {$a9:expr} {$a10:expr} {$a11:expr}] ($template:ident, $constraints:ident, $options:literal)) => {
        ::cuda_device::ptx::__ptx_asm_out_12($template, $constraints, $options, $a0, $a1, $a2, $a3, $a4, $a5, $a6, $a7, $a8, $a9, $a10, $a11)
    };
    (@out [{$a0:expr} {$a1:expr} {$a2:expr} {$a3:expr} {$a4:expr} {$a5:expr} {$a6:expr} {$a7:expr} {$a8:expr} {$a9:expr} {$a10:expr} {$a11:expr} {$a12:expr}] ($template:ident, $constraints:ident, $options:literal)) => {
        ::cuda_device::ptx::__ptx_asm_out_13($template, $constraints, $options, $a0, $a1, $a2, $a3, $a4, $a5, $a6, $a7, $a8, $a9, $a10, $a11, $a12)
    };
    (@out [{$a0:expr} {$a1:expr} {$a2:expr} {$a3:expr} {$a4:expr} {$a5:expr} {$a6:expr} {$a7:expr} {$a8:expr} {$a9:expr} {$a10:expr} {$a11:expr} {$a12:expr} {$a13:expr}] ($template:ident, $constraints:ident, $options:literal)) => {
        ::cuda_device::ptx::__ptx_asm_out_14($template, $constraints, $options, $a0, $a1, $a2, $a3, $a4, $a5, $a6, $a7, $a8, $a9, $a10, $a11, $a12, $a13)
    };
    (@out [{$a0:expr} {$a1:expr} {$a2:expr} {$a3:expr} {$a4:expr} {$a5:expr} {$a6:expr} {$a7:expr} {$a8:expr} {$a9:expr} {$a10:expr} {$a11:expr} {$a12:expr} {$a13:expr} {$a14:expr}] ($template:ident, $constraints:ident, $options:literal)) => {
        ::cuda_device::ptx::__ptx_asm_out_15($template, $constraints, $options, $a0, $a1, $a2, $a3, $a4, $a5, $a6, $a7, $a8, $a9, $a10, $a11, $a12, $a13, $a14)
    };
    (@out [{$a0:expr} {$a1:expr} {$a2:expr} {$a3:expr} {$a4:expr} {$a5:expr} {$a6:expr} {$a7:expr} {$a8:expr} {$a9:expr} {$a10:expr} {$a11:expr} {$a12:expr} {$a13:expr} {$a14:expr} {$a15:expr}] ($template:ident, $constraints:ident, $options:literal)) => {
        ::cuda_device::ptx::__ptx_asm_out_16($template, $constraints, $options, $a0, $a1, $a2, $a3, $a4, $a5, $a6, $a7, $a8, $a9, $a10, $a11, $a12, $a13, $a14, $a15)
    };
    (@out [{$a0:expr} {$a1:expr} {$a2:expr} {$a3:expr} {$a4:expr} {$a5:expr} {$a6:expr} {$a7:expr} {$a8:expr} {$a9:expr} {$a10:expr} {$a11:expr} {$a12:expr} {$a13:expr} {$a14:expr} {$a15:expr} {$a16:expr}] ($template:ident, $constraints:ident, $options:literal)) => {
        ::cuda_device::ptx::__ptx_asm_out_17($template, $constraints, $options, $a0, $a1, $a2, $a3, $a4, $a5, $a6, $a7, $a8, $a9, $a10, $a11, $a12, $a13, $a14, $a15, $a16)
    };
    (@out [{$a0:expr} {$a1:expr} {$a2:expr} {$a3:expr} {$a4:expr} {$a5:expr} {$a6:expr} {$a7:expr} {$a8:expr} {$a9:expr} {$a10:expr} {$a11:expr} {$a12:expr} {$a13:expr} {$a14:expr} {$a15:expr} {$a16:expr} {$a17:expr}] ($template:ident, $constraints:ident, $options:literal)) => {
        ::cuda_device::ptx::__ptx_asm_out_18($template, $constraints, $options, $a0, $a1, $a2, $a3, $a4, $a5, $a6, $a7, $a8, $a9, $a10, $a11, $a12, $a13, $a14, $a15, $a16, $a17)
    };
    (@out [{$a0:expr} {$a1:expr} {$a2:expr} {$a3:expr} {$a4:expr} {$a5:expr} {$a6:expr} {$a7:expr} {$a8:expr} {$a9:expr} {$a10:expr} {$a11:expr} {$a12:expr} {$a13:expr} {$a14:expr} {$a15:expr} {$a16:expr} {$a17:expr} {$a18:expr}] ($template:ident, $constraints:ident, $options:literal)) => {
        ::cuda_device::ptx::__ptx_asm_out_19($template, $constraints, $options, $a0, $a1, $a2, $a3, $a4, $a5, $a6, $a7, $a8, $a9, $a10, $a11, $a12, $a13, $a14, $a15, $a16, $a17, $a18)
    };
    (@out [{$a0:expr} {$a1:expr} {$a2:expr} {$a3:expr} {$a4:expr} {$a5:expr} {$a6:expr} {$a7:expr} {$a8:expr} {$a9:expr} {$a10:expr} {$a11:expr} {$a12:expr} {$a13:expr} {$a14:expr} {$a15:expr} {$a16:expr} {$a17:expr} {$a18:expr} {$a19:expr}] ($template:ident, $constraints:ident, $options:literal)) => {
        ::cuda_device::ptx::__ptx_asm_out_20($template, $constraints, $options, $a0, $a1, $a2, $a3, $a4, $a5, $a6, $a7, $a8, $a9, $a10, $a11, $a12, $a13, $a14, $a15, $a16, $a17, $a18, $a19)
    };
    (@out [{$a0:expr} {$a1:expr} {$a2:expr} {$a3:expr} {$a4:expr} {$a5:expr} {$a6:expr} {$a7:expr} {$a8:expr} {$a9:expr} {$a10:expr} {$a11:expr} {$a12:expr} {$a13:expr} {$a14:expr} {$a15:expr} {$a16:expr} {$a17:expr} {$a18:expr} {$a19:expr} {$a20:expr}] ($template:ident, $constraints:ident, $options:literal)) => {
        ::cuda_device::ptx::__ptx_asm_out_21($template, $constraints, $options, $a0, $a1, $a2, $a3, $a4, $a5, $a6, $a7, $a8, $a9, $a10, $a11, $a12, $a13, $a14, $a15, $a16, $a17, $a18, $a19, $a20)
    };
    (@out [{$a0:expr} {$a1:expr} {$a2:expr} {$a3:expr} {$a4:expr} {$a5:expr} {$a6:expr} {$a7:expr} {$a8:expr} {$a9:expr} {$a10:expr} {$a11:expr} {$a12:expr} {$a13:expr} {$a14:expr} {$a15:expr} {$a16:expr} {$a17:expr} {$a18:expr} {$a19:expr} {$a20:expr} {$a21:expr}] ($template:ident, $constraints:ident, $options:literal)) => {
        ::cuda_device::ptx::__ptx_asm_out_22($template, $constraints, $options, $a0, $a1, $a2, $a3, $a4, $a5, $a6, $a7, $a8, $a9, $a10, $a11, $a12, $a13, $a14, $a15, $a16, $a17, $a18, $a19, $a20, $a21)
    };
    (@out [{$a0:expr} {$a1:expr} {$a2:expr} {$a3:expr} {$a4:expr} {$a5:expr} {$a6:expr} {$a7:expr} {$a8:expr} {$a9:expr} {$a10:expr} {$a11:expr} {$a12:expr} {$a13:expr} {$a14:expr} {$a15:expr} {$a16:expr} {$a17:expr} {$a18:expr} {$a19:expr} {$a20:expr} {$a21:expr} {$a22:expr}] ($template:ident, $constraints:ident, $options:literal)) => {
        ::cuda_device::ptx::__ptx_asm_out_23($template, $constraints, $options, $a0, $a1, $a2, $a3, $a4, $a5, $a6, $a7, $a8, $a9, $a10, $a11, $a12, $a13, $a14, $a15, $a16, $a17, $a18, $a19, $a20, $a21, $a22)
    };
    (@out [{$a0:expr} {$a1:expr} {$a2:expr} {$a3:expr} {$a4:expr} {$a5:expr} {$a6:expr} {$a7:expr} {$a8:expr} {$a9:expr} {$a10:expr} {$a11:expr} {$a12:expr} {$a13:expr} {$a14:expr} {$a15:expr} {$a16:expr} {$a17:expr} {$a18:expr} {$a19:expr} {$a20:expr} {$a21:expr} {$a22:expr} {$a23:expr}] ($template:ident, $constraints:ident, $options:literal)) => {
        ::cuda_device::ptx::__ptx_asm_out_24($template, $constraints, $options, $a0, $a1, $a2, $a3, $a4, $a5, $a6, $a7, $a8, $a9, $a10, $a11, $a12, $a13, $a14, $a15, $a16, $a17, $a18, $a19, $a20, $a21, $a22, $a23)
    };
    (@void [] ($template:ident, $constraints:ident, $options:literal)) => {
        ::cuda_device::ptx::__ptx_asm_void_0($template, $constraints, $options)
    };
    (@void [{$a0:expr}] ($template:ident, $constraints:ident, $options:literal)) => {
        ::cuda_device::ptx::__ptx_asm_void_1($template, $constraints, $options, $a0)
    };
    (@void [{$a0:expr} {$a1:expr}] ($template:ident, $constraints:ident, $options:literal)) => {
        ::cuda_device::ptx::__ptx_asm_void_2($template, $constraints, $options, $a0, $a1)
    };
    (@void [{$a0:expr} {$a1:expr} {$a2:expr}] ($template:ident, $constraints:ident, $options:literal)) => {
        ::cuda_device::ptx::__ptx_asm_void_3($template, $constraints, $options, $a0, $a1, $a2)
    };
    (@void [{$a0:expr} {$a1:expr} {$a2:expr} {$a3:expr}] ($template:ident, $constraints:ident, $options:literal)) => {
        ::cuda_device::ptx::__ptx_asm_void_4($template, $constraints, $options, $a0, $a1, $a2, $a3)
    };
    (@void [{$a0:expr} {$a1:expr} {$a2:expr} {$a3:expr} {$a4:expr}] ($template:ident, $constraints:ident, $options:literal)) => {
        ::cuda_device::ptx::__ptx_asm_void_5($template, $constraints, $options, $a0, $a1, $a2, $a3, $a4)
    };
    (@void [{$a0:expr} {$a1:expr} {$a2:expr} {$a3:expr} {$a4:expr} {$a5:expr}] ($template:ident, $constraints:ident, $options:literal)) => {
        ::cuda_device::ptx::__ptx_asm_void_6($template, $constraints, $options, $a0, $a1, $a2, $a3, $a4, $a5)
    };
    (@void [{$a0:expr} {$a1:expr} {$a2:expr} {$a3:expr} {$a4:expr} {$a5:expr} {$a6:expr}] ($template:ident, $constraints:ident, $options:literal)) => {
        ::cuda_device::ptx::__ptx_asm_void_7($template, $constraints, $options, $a0, $a1, $a2, $a3, $a4, $a5, $a6)
    };
    (@void [{$a0:expr} {$a1:expr} {$a2:expr} {$a3:expr} {$a4:expr} {$a5:expr} {$a6:expr} {$a7:expr}] ($template:ident, $constraints:ident, $options:literal)) => {
        ::cuda_device::ptx::__ptx_asm_void_8($template, $constraints, $options, $a0, $a1, $a2, $a3, $a4, $a5, $a6, $a7)
    };
    (@void [{$a0:expr} {$a1:expr} {$a2:expr} {$a3:expr} {$a4:expr} {$a5:expr} {$a6:expr} {$a7:expr} {$a8:expr}] ($template:ident, $constraints:ident, $options:literal)) => {
        ::cuda_device::ptx::__ptx_asm_void_9($template, $constraints, $options, $a0, $a1, $a2, $a3, $a4, $a5, $a6, $a7, $a8)
    };
    (@void [{$a0:expr} {$a1:expr} {$a2:expr} {$a3:expr} {$a4:expr} {$a5:expr} {$a6:expr} {$a7:expr} {$a8:expr} {$a9:expr}] ($template:ident, $constraints:ident, $options:literal)) => {
        ::cuda_device::ptx::__ptx_asm_void_10($template, $constraints, $options, $a0, $a1, $a2, $a3, $a4, $a5, $a6, $a7, $a8, $a9)
    };
    (@void [{$a0:expr} {$a1:expr} {$a2:expr} {$a3:expr} {$a4:expr} {$a5:expr} {$a6:expr} {$a7:expr} {$a8:expr} {$a9:expr} {$a10:expr}] ($template:ident, $constraints:ident, $options:literal)) => {
        ::cuda_device::ptx::__ptx_asm_void_11($template, $constraints, $options, $a0, $a1, $a2, $a3, $a4, $a5, $a6, $a7, $a8, $a9, $a10)
    };
    (@void [{$a0:expr} {$a1:expr} {$a2:expr} {$a3:expr} {$a4:expr} {$a5:expr} {$a6:expr} {$a7:expr} {$a8:expr} {$a9:expr} {$a10:expr} {$a11:expr}] ($template:ident, $constraints:ident, $options:literal)) => {
        ::cuda_device::ptx::__ptx_asm_void_12($template, $constraints, $options, $a0, $a1, $a2, $a3, $a4, $a5, $a6, $a7, $a8, $a9, $a10, $a11)
    };
    (@void [{$a0:expr} {$a1:expr} {$a2:expr} {$a3:expr} {$a4:expr} {$a5:expr} {$a6:expr} {$a7:expr} {$a8:expr} {$a9:expr} {$a10:expr} {$a11:expr} {$a12:expr}] ($template:ident, $constraints:ident, $options:literal)) => {
        ::cuda_device::ptx::__ptx_asm_void_13($template, $constraints, $options, $a0, $a1, $a2, $a3, $a4, $a5, $a6, $a7, $a8, $a9, $a10, $a11, $a12)
    };
    (@void [{$a0:expr} {$a1:expr} {$a2:expr} {$a3:expr} {$a4:expr} {$a5:expr} {$a6:expr} {$a7:expr} {$a8:expr} {$a9:expr} {$a10:expr} {$a11:expr} {$a12:expr} {$a13:expr}] ($template:ident, $constraints:ident, $options:literal)) => {
        ::cuda_device::ptx::__ptx_asm_void_14($template, $constraints, $options, $a0, $a1, $a2, $a3, $a4, $a5, $a6, $a7, $a8, $a9, $a10, $a11, $a12, $a13)
    };
    (@void [{$a0:expr} {$a1:expr} {$a2:expr} {$a3:expr} {$a4:expr} {$a5:expr} {$a6:expr} {$a7:expr} {$a8:expr} {$a9:expr} {$a10:expr} {$a11:expr} {$a12:expr} {$a13:expr} {$a14:expr}] ($template:ident, $constraints:ident, $options:literal)) => {
        ::cuda_device::ptx::__ptx_asm_void_15($template, $constraints, $options, $a0, $a1, $a2, $a3, $a4, $a5, $a6, $a7, $a8, $a9, $a10, $a11, $a12, $a13, $a14)
    };
    (@void [{$a0:expr} {$a1:expr} {$a2:expr} {$a3:expr} {$a4:expr} {$a5:expr} {$a6:expr} {$a7:expr} {$a8:expr} {$a9:expr} {$a10:expr} {$a11:expr} {$a12:expr} {$a13:expr} {$a14:expr} {$a15:expr}] ($template:ident, $constraints:ident, $options:literal)) => {
        ::cuda_device::ptx::__ptx_asm_void_16($template, $constraints, $options, $a0, $a1, $a2, $a3, $a4, $a5, $a6, $a7, $a8, $a9, $a10, $a11, $a12, $a13, $a14, $a15)
    };
}
