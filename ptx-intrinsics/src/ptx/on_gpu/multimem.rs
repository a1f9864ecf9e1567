//! A `multimem`, its texts and operands put together, for `ptx!` on a GPU.

/// The instruction: its registers, and then what every access of `ptx!` has.
#[doc(hidden)]
#[macro_export]
macro_rules! __multimem_access {
    (ld_reduce { $said:tt $effect:ident $registers:tt } $cond:tt $or:tt $p:ident) => {{
        let _ = __PTX_WORDS;
        $crate::__change! { @old __ptx_d $registers $or }
        $crate::__multimem_access! { @way $or $registers __ptx_d generic $p $cond [] load $said $effect false }
        $crate::ptx::value($p, __ptx_d)
    }};
    ({ $does:ident $said:tt $registers:tt } $cond:tt $p:ident $v:ident) => {{
        let _ = __PTX_WORDS;
        $crate::__change! { @taken __ptx_d $registers $v }
        $crate::__multimem_access! { @held in $registers __ptx_d generic $p $cond [] store $said memory false }
    }};
    (@way [] $($rest:tt)*) => { $crate::__multimem_access! { @held out $($rest)* } };
    (@way [$or:ident = $value:expr] $($rest:tt)*) => { $crate::__multimem_access! { @held inout $($rest)* } };
    // The text of the registers, each of them, and how they are packed.
    (@held $way:tt (x1 $($row:tt)*) $($rest:tt)*) => { $crate::__multimem_access! { @lanes $way ["{d0}"] [d0.0] [] ($($row)*) $($rest)* } };
    (@held $way:tt (x2 $($row:tt)*) $($rest:tt)*) => {
        $crate::__multimem_access! { @lanes $way ["{{{d0}, {d1}}}"] [d0.0 d1.1] [] ($($row)*) $($rest)* }
    };
    (@held $way:tt (x4 $($row:tt)*) $($rest:tt)*) => {
        $crate::__multimem_access! { @lanes $way ["{{{d0}, {d1}, {d2}, {d3}}}"] [d0.0 d1.1 d2.2 d3.3] [] ($($row)*) $($rest)* }
    };
    (@held $way:tt (x8 $($row:tt)*) $($rest:tt)*) => {
        $crate::__multimem_access! { @lanes $way ["{{{d0}, {d1}, {d2}, {d3}, {d4}, {d5}, {d6}, {d7}}}"]
            [d0.0 d1.1 d2.2 d3.3 d4.4 d5.5 d6.6 d7.7] [] ($($row)*) $($rest)* }
    };
    // Rust has no registers of 8 bits: the block packs them into those of 32, and unpacks them.
    (@held $way:tt (b8x4 $($row:tt)*) $($rest:tt)*) => {
        $crate::__multimem_access! { @lanes $way ["{{%l0, %l1, %l2, %l3}}"] [d0.0] [
            "{{\n.reg .b8 %l<4>;\n"
            "mov.b32 {{%l0, %l1, %l2, %l3}}, {d0};\n"
            "\nmov.b32 {d0}, {{%l0, %l1, %l2, %l3}};"
            "\n}}"
        ] ($($row)*) $($rest)* }
    };
    (@held $way:tt (b8x8 $($row:tt)*) $($rest:tt)*) => {
        $crate::__multimem_access! { @lanes $way ["{{%l0, %l1, %l2, %l3, %l4, %l5, %l6, %l7}}"] [d0.0 d1.1] [
            "{{\n.reg .b8 %l<8>;\n"
            "mov.b32 {{%l0, %l1, %l2, %l3}}, {d0};\nmov.b32 {{%l4, %l5, %l6, %l7}}, {d1};\n"
            "\nmov.b32 {d0}, {{%l0, %l1, %l2, %l3}};\nmov.b32 {d1}, {{%l4, %l5, %l6, %l7}};"
            "\n}}"
        ] ($($row)*) $($rest)* }
    };
    (@lanes $way:tt [$value:literal] [$($d:ident . $i:tt)*] $packing:tt ($class:ident $r:ident) $v:ident $($rest:tt)*) => {
        $crate::__access! { @packed $way $packing [$value,] ($($d = $way($class) $v.$i,)*) $($rest)* }
    };
}
