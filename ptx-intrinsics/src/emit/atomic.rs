//! An atomic, its texts and operands put together: used by `ptx!`.

/// The instruction and its block: its registers, then the predicate, the policy, the address.
#[doc(hidden)]
#[macro_export]
macro_rules! __atomic_asm {
    // Before, result, values, after, and what `asm!` takes.
    (@registers x1 $class:ident $v:ident [$($c:ident)?] [$($way:ident $d:ident)?] $($rest:tt)*) => {
        $crate::__atomic_asm! { @guard [] [$("{d0}, " [$d])?] [$("{c0}, " [$c])? "{v0}"] [] (
            $(d0 = $way($class) $d.0,)? $(c0 = in($class) $c.0,)? v0 = in($class) $v.0,
        ) $($rest)* }
    };
    (@registers x2 $class:ident $v:ident [] [$($way:ident $d:ident)?] $($rest:tt)*) => {
        $crate::__atomic_asm! { @guard [] [$("{{{d0}, {d1}}}, " [$d])?] ["{{{v0}, {v1}}}"] [] (
            $(d0 = $way($class) $d.0, d1 = $way($class) $d.1,)? v0 = in($class) $v.0, v1 = in($class) $v.1,
        ) $($rest)* }
    };
    (@registers x4 $class:ident $v:ident [] [$($way:ident $d:ident)?] $($rest:tt)*) => {
        $crate::__atomic_asm! { @guard [] [$("{{{d0}, {d1}, {d2}, {d3}}}, " [$d])?] ["{{{v0}, {v1}, {v2}, {v3}}}"] [] (
            $(d0 = $way($class) $d.0, d1 = $way($class) $d.1, d2 = $way($class) $d.2, d3 = $way($class) $d.3,)?
            v0 = in($class) $v.0, v1 = in($class) $v.1, v2 = in($class) $v.2, v3 = in($class) $v.3,
        ) $($rest)* }
    };
    (@registers x8 $class:ident $v:ident [] [$($way:ident $d:ident)?] $($rest:tt)*) => {
        $crate::__atomic_asm! { @guard [] [$("{{{d0}, {d1}, {d2}, {d3}, {d4}, {d5}, {d6}, {d7}}}, " [$d])?]
            ["{{{v0}, {v1}, {v2}, {v3}, {v4}, {v5}, {v6}, {v7}}}"] [] (
            $(
                d0 = $way($class) $d.0, d1 = $way($class) $d.1, d2 = $way($class) $d.2, d3 = $way($class) $d.3,
                d4 = $way($class) $d.4, d5 = $way($class) $d.5, d6 = $way($class) $d.6, d7 = $way($class) $d.7,
            )?
            v0 = in($class) $v.0, v1 = in($class) $v.1, v2 = in($class) $v.2, v3 = in($class) $v.3,
            v4 = in($class) $v.4, v5 = in($class) $v.5, v6 = in($class) $v.6, v7 = in($class) $v.7,
        ) $($rest)* }
    };
    // Rust has no register of 128 bits: the block packs and unpacks two of 64.
    (@registers b128 $class:ident $v:ident [$($c:ident)?] [out $d:ident] $($rest:tt)*) => {
        $crate::__atomic_asm! { @guard
            ["{{\n.reg .b128 %old, %value;\nmov.b128 %value, {{{v0}, {v1}}};\n"
                $(".reg .b128 %compare;\nmov.b128 %compare, {{{c0}, {c1}}};\n" [$c])?]
            ["%old, " [$d]] [$("%compare, " [$c])? "%value"] ["\nmov.b128 {{{d0}, {d1}}}, %old;\n}}"] (
            d0 = out($class) $d.0, d1 = out($class) $d.1,
            $(c0 = in($class) $c.0, c1 = in($class) $c.1,)? v0 = in($class) $v.0, v1 = in($class) $v.1,
        ) $($rest)* }
    };
    (@registers b128 $class:ident $v:ident [$($c:ident)?] [inout $d:ident] $($rest:tt)*) => {
        $crate::__atomic_asm! { @guard
            ["{{\n.reg .b128 %old, %value;\nmov.b128 %old, {{{d0}, {d1}}};\nmov.b128 %value, {{{v0}, {v1}}};\n"
                $(".reg .b128 %compare;\nmov.b128 %compare, {{{c0}, {c1}}};\n" [$c])?]
            ["%old, " [$d]] [$("%compare, " [$c])? "%value"] ["\nmov.b128 {{{d0}, {d1}}}, %old;\n}}"] (
            d0 = inout($class) $d.0, d1 = inout($class) $d.1,
            $(c0 = in($class) $c.0, c1 = in($class) $c.1,)? v0 = in($class) $v.0, v1 = in($class) $v.1,
        ) $($rest)* }
    };

    (@guard $before:tt $d:tt $values:tt $after:tt ($($operands:tt)*) $p:ident $op:ident [$($cond:ident)?] [$($policy:ident)?]
        $space:ident $words:tt) => {
        $crate::__atomic_asm! { @address $space $p $before $after
            [$(@ [$cond])?]
            $d $values [$(", {policy}" [$policy])?] $op $words (
                $($operands)*
                $(cond = in(reg32) $crate::emit::registers::bit($cond),)? $(policy = in(reg64) $crate::CachePolicy::bits($policy),)?
            )
        }
    };
    (@address shared $p:ident $before:tt $after:tt $guard:tt $d:tt $values:tt $policy:tt $op:ident $words:tt ($($operands:tt)*)) => {
        $crate::__atomic_asm! { @emit $before $after $guard $d $values $policy $op $words
            ($($operands)* p = in(reg32) $p,) }
    };
    (@address shared_cluster $($rest:tt)*) => { $crate::__atomic_asm! { @address shared $($rest)* } };
    (@address $other:ident $p:ident $before:tt $after:tt $guard:tt $d:tt $values:tt $policy:tt $op:ident $words:tt ($($operands:tt)*)) => {
        $crate::__atomic_asm! { @emit $before $after $guard $d $values $policy $op $words ($($operands)* p = in(reg64) $p,) }
    };
    (@emit [$($before:literal $([$_b:ident])?)*] [$($after:literal)?] [$($guard:tt [$_c:ident])?]
        [$($d:literal [$_d:ident])?] [$($values:literal $([$_v:ident])?)*] [$($policy:literal [$_p:ident])?]
        $op:ident ($($word:tt)*) $operands:tt) => {
        $crate::__instruction! { memory [$($before,)* $($crate::__predicate!(before $guard),)?]
            [::core::stringify!($op) $(, ::core::stringify!($word))*]
            [" ", $($d,)? "[{p}], ", $($values,)* $($policy,)? ";", $($crate::__predicate!(after $guard),)? $($after,)?]
            $operands
        }
    };
}
