//! An atomic, its texts and operands put together, for `ptx!` on a GPU.

/// The instruction: its registers, and then what every access of `ptx!` has.
#[doc(hidden)]
#[macro_export]
macro_rules! __change {
    ({ (red $words:tt) $space:ident $registers:tt } $cond:tt [] [] $policy:tt $p:ident $v:ident) => {{
        let _ = __PTX_WORDS;
        $crate::__change! { @taken __ptx_d $registers $v }
        let __ptx_a = $crate::__ptx!(@address $space $p);
        $crate::__change! { @registers $registers __ptx_d [] [] $space __ptx_a $cond $policy change (red $words) }
    }};
    ({ $said:tt $space:ident $registers:tt } $cond:tt $compare:tt $or:tt $policy:tt $p:ident $v:ident) => {{
        let _ = __PTX_WORDS;
        let __ptx_a = $crate::__ptx!(@address $space $p);
        $crate::__change! { @taken __ptx_d $registers $v }
        $crate::__change! { @compared $registers $compare }
        $crate::__change! { @old __ptx_old $registers $or }
        $crate::__change! { @way $or $registers __ptx_d $compare __ptx_old $space __ptx_a $cond $policy change $said }
        $crate::ptx::value($p, __ptx_old)
    }};
    (@taken $d:ident ($shape:ident $class:ident $r:ident) $v:ident) => {
        let $d: $crate::__registers!($shape $crate::ptx::types::$r) = $crate::ptx::registers_of($v);
    };
    (@compared $registers:tt []) => {};
    (@compared $registers:tt [$compare:ident = $value:expr]) => { $crate::__change! { @taken $compare $registers $compare } };
    (@old $d:ident ($shape:ident $class:ident $r:ident) []) => {
        let mut $d: $crate::__registers!($shape $crate::emit::registers::Unset<$crate::ptx::types::$r>) = $crate::ptx::registers();
    };
    (@old $d:ident ($shape:ident $class:ident $r:ident) [$or:ident = $value:expr]) => {
        let mut $d: $crate::__registers!($shape $crate::ptx::types::$r) = $crate::ptx::registers_of($or);
    };
    (@way [] $registers:tt $v:ident $compare:tt $old:ident $($rest:tt)*) => {
        $crate::__change! { @names $registers $v $compare [out $old] $($rest)* }
    };
    (@way [$or:ident = $value:expr] $registers:tt $v:ident $compare:tt $old:ident $($rest:tt)*) => {
        $crate::__change! { @names $registers $v $compare [inout $old] $($rest)* }
    };
    (@names $registers:tt $v:ident [] $($rest:tt)*) => { $crate::__change! { @registers $registers $v [] $($rest)* } };
    (@names $registers:tt $v:ident [$compare:ident = $value:expr] $($rest:tt)*) => {
        $crate::__change! { @registers $registers $v [$compare] $($rest)* }
    };
    // The texts of the result and the values, what is before and after, and what `asm!` takes.
    (@registers (x1 $class:ident $r:ident) $v:ident [$($c:ident)?] [$($way:ident $d:ident)?] $($rest:tt)*) => {
        $crate::__access! { @at [[$($crate::__change!(@text $d "{d0}, "),)?] $($crate::__change!(@text $c "{c0}, "),)? "{v0}",] [] [] (
            $(d0 = $way($class) $d.0,)? $(c0 = in($class) $c.0,)? v0 = in($class) $v.0,
        ) $($rest)* }
    };
    (@registers (x2 $class:ident $r:ident) $v:ident [] [$($way:ident $d:ident)?] $($rest:tt)*) => {
        $crate::__access! { @at [[$($crate::__change!(@text $d "{{{d0}, {d1}}}, "),)?] "{{{v0}, {v1}}}",] [] [] (
            $(d0 = $way($class) $d.0, d1 = $way($class) $d.1,)? v0 = in($class) $v.0, v1 = in($class) $v.1,
        ) $($rest)* }
    };
    (@registers (x4 $class:ident $r:ident) $v:ident [] [$($way:ident $d:ident)?] $($rest:tt)*) => {
        $crate::__access! { @at [[$($crate::__change!(@text $d "{{{d0}, {d1}, {d2}, {d3}}}, "),)?] "{{{v0}, {v1}, {v2}, {v3}}}",] [] [] (
            $(d0 = $way($class) $d.0, d1 = $way($class) $d.1, d2 = $way($class) $d.2, d3 = $way($class) $d.3,)?
            v0 = in($class) $v.0, v1 = in($class) $v.1, v2 = in($class) $v.2, v3 = in($class) $v.3,
        ) $($rest)* }
    };
    (@registers (x8 $class:ident $r:ident) $v:ident [] [$($way:ident $d:ident)?] $($rest:tt)*) => {
        $crate::__access! { @at [[$($crate::__change!(@text $d "{{{d0}, {d1}, {d2}, {d3}, {d4}, {d5}, {d6}, {d7}}}, "),)?]
            "{{{v0}, {v1}, {v2}, {v3}, {v4}, {v5}, {v6}, {v7}}}",] [] [] (
            $(
                d0 = $way($class) $d.0, d1 = $way($class) $d.1, d2 = $way($class) $d.2, d3 = $way($class) $d.3,
                d4 = $way($class) $d.4, d5 = $way($class) $d.5, d6 = $way($class) $d.6, d7 = $way($class) $d.7,
            )?
            v0 = in($class) $v.0, v1 = in($class) $v.1, v2 = in($class) $v.2, v3 = in($class) $v.3,
            v4 = in($class) $v.4, v5 = in($class) $v.5, v6 = in($class) $v.6, v7 = in($class) $v.7,
        ) $($rest)* }
    };
    // Rust has no register of 128 bits: the block packs and unpacks two of 64.
    (@registers (b128 $class:ident $r:ident) $v:ident [$($c:ident)?] [$way:ident $d:ident] $($rest:tt)*) => {
        $crate::__access! { @at
            [["%old, ",] $($crate::__change!(@text $c "%compare, "),)? "%value",]
            ["{{\n.reg .b128 %old, %value;\n", $crate::__change!(@begin $way), "mov.b128 %value, {{{v0}, {v1}}};\n",
                $($crate::__change!(@text $c ".reg .b128 %compare;\nmov.b128 %compare, {{{c0}, {c1}}};\n"),)?]
            ["\nmov.b128 {{{d0}, {d1}}}, %old;\n}}",] (
            d0 = $way($class) $d.0, d1 = $way($class) $d.1,
            $(c0 = in($class) $c.0, c1 = in($class) $c.1,)? v0 = in($class) $v.0, v1 = in($class) $v.1,
        ) $($rest)* }
    };
    (@begin out) => { "" };
    (@begin inout) => { "mov.b128 %old, {{{d0}, {d1}}};\n" };
    // A text that is there if the operand is.
    (@text $operand:ident $text:literal) => { $text };
}
