//! A `multimem`, its texts and operands put together: used by `ptx!`.

/// The instruction and its block: its registers, then the predicate. `in` is the value of a store or a reduction, `out` what a
/// load gives, `inout` what that begins with.
#[doc(hidden)]
#[macro_export]
macro_rules! __multimem_asm {
    (x1 $($rest:tt)*) => { $crate::__multimem_asm! { @lanes ["{d0}"] [d0.0] [] $($rest)* } };
    (x2 $($rest:tt)*) => { $crate::__multimem_asm! { @lanes ["{{{d0}, {d1}}}"] [d0.0 d1.1] [] $($rest)* } };
    (x4 $($rest:tt)*) => {
        $crate::__multimem_asm! { @lanes ["{{{d0}, {d1}, {d2}, {d3}}}"] [d0.0 d1.1 d2.2 d3.3] [] $($rest)* }
    };
    (x8 $($rest:tt)*) => {
        $crate::__multimem_asm! { @lanes ["{{{d0}, {d1}, {d2}, {d3}, {d4}, {d5}, {d6}, {d7}}}"]
            [d0.0 d1.1 d2.2 d3.3 d4.4 d5.5 d6.6 d7.7] [] $($rest)* }
    };
    // Rust has no registers of 8 bits: the block packs them into those of 32, and unpacks them.
    (b8x4 $($rest:tt)*) => {
        $crate::__multimem_asm! { @lanes ["{{%l0, %l1, %l2, %l3}}"] [d0.0] [
            "{{\n.reg .b8 %l<4>;\n"
            ["mov.b32 {{%l0, %l1, %l2, %l3}}, {d0};\n"]
            ["\nmov.b32 {d0}, {{%l0, %l1, %l2, %l3}};"]
            "\n}}"
        ] $($rest)* }
    };
    (b8x8 $($rest:tt)*) => {
        $crate::__multimem_asm! { @lanes ["{{%l0, %l1, %l2, %l3, %l4, %l5, %l6, %l7}}"] [d0.0 d1.1] [
            "{{\n.reg .b8 %l<8>;\n"
            ["mov.b32 {{%l0, %l1, %l2, %l3}}, {d0};\nmov.b32 {{%l4, %l5, %l6, %l7}}, {d1};\n"]
            ["\nmov.b32 {d0}, {{%l0, %l1, %l2, %l3}};\nmov.b32 {d1}, {{%l4, %l5, %l6, %l7}};"]
            "\n}}"
        ] $($rest)* }
    };
    (@lanes $value:tt $lanes:tt [] $($rest:tt)*) => { $crate::__multimem_asm! { @guard $value $lanes [] [] $($rest)* } };
    (@lanes $value:tt $lanes:tt [$open:literal [$unpack:literal] $pack:tt $close:literal] in $($rest:tt)*) => {
        $crate::__multimem_asm! { @guard $value $lanes [$open $unpack] [$close] in $($rest)* }
    };
    (@lanes $value:tt $lanes:tt [$open:literal $unpack:tt [$pack:literal] $close:literal] out $($rest:tt)*) => {
        $crate::__multimem_asm! { @guard $value $lanes [$open] [$pack $close] out $($rest)* }
    };
    (@lanes $value:tt $lanes:tt [$open:literal [$unpack:literal] [$pack:literal] $close:literal] inout $($rest:tt)*) => {
        $crate::__multimem_asm! { @guard $value $lanes [$open $unpack] [$pack $close] inout $($rest)* }
    };
    (@guard $value:tt [$($d:ident . $i:tt)*] $before:tt $after:tt $way:ident $class:ident $v:ident $p:ident [$($cond:ident)?]
        $effect:ident $words:tt) => {
        $crate::__multimem_asm! { @$way $value $before $after [$(@ [$cond])?] $effect $words (
            $($d = $way($class) $v.$i,)* $(cond = in(reg32) $crate::emit::registers::bit($cond),)? p = in(reg64) $p,
        ) }
    };
    (@inout $($rest:tt)*) => { $crate::__multimem_asm! { @out $($rest)* } };
    (@out [$value:literal] [$($before:literal)*] [$($after:literal)*] [$($guard:tt [$_c:ident])?] $effect:ident ($($word:tt)*)
        $operands:tt) => {
        $crate::__instruction! { $effect [$($before,)* $($crate::__predicate!(before $guard),)?]
            ["multimem" $(, ::core::stringify!($word))*]
            [" ", $value, ", [{p}];", $($crate::__predicate!(after $guard),)? $($after,)*] $operands
        }
    };
    (@in [$value:literal] [$($before:literal)*] [$($after:literal)*] [$($guard:tt [$_c:ident])?] $effect:ident ($($word:tt)*)
        $operands:tt) => {
        $crate::__instruction! { $effect [$($before,)* $($crate::__predicate!(before $guard),)?]
            ["multimem" $(, ::core::stringify!($word))*]
            [" [{p}], ", $value, ";", $($crate::__predicate!(after $guard),)? $($after,)*] $operands
        }
    };
}
