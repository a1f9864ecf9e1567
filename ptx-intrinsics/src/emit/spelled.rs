//! A load or store, its texts and operands put together: used by `ptx!`.

/// The access itself, its texts and operands gathered one after the other.
#[doc(hidden)]
#[macro_export]
macro_rules! __ptx_asm {
    (@unified true { $($s:tt)* } $($rest:tt)*) => { $crate::__ptx_asm! { @hint { $($s)* [".unified"] } $($rest)* } };
    (@unified false { $($s:tt)* } $($rest:tt)*) => { $crate::__ptx_asm! { @hint { $($s)* [] } $($rest)* } };
    (@hint { $($s:tt)* } [] $guard:tt $registers:tt $space:ident $p:ident $operands:tt) => {
        $crate::__ptx_asm! { @guard { $($s)* [] } $guard $registers $space $p $operands }
    };
    (@hint { $($s:tt)* } [$policy:expr] $guard:tt $registers:tt $space:ident $p:ident ($($operands:tt)*)) => {
        $crate::__ptx_asm! { @guard { $($s)* [", {policy}"] } $guard $registers $space $p
            ($($operands)* policy = in(reg64) $crate::CachePolicy::bits($policy),) }
    };
    (@guard { $($s:tt)* } [] $($rest:tt)*) => { $crate::__ptx_asm! { @address { $($s)* [] } $($rest)* } };
    (@guard { $($s:tt)* } [@] $($rest:tt)*) => {
        $crate::__ptx_asm! {
            @address { $($s)* ["{{\n.reg .pred %cond;\nsetp.ne.b32 %cond, {cond}, 0;\n@%cond " "\n}}"] } $($rest)*
        }
    };
    (@address $s:tt $registers:tt shared $p:ident ($($operands:tt)*)) => {
        $crate::__ptx_asm! { { $s $registers ($($operands)* p = in(reg32) $crate::ptx::shared_address($p),) } [] "[{p}]" [] }
    };
    (@address $s:tt $registers:tt shared_cluster $($rest:tt)*) => {
        $crate::__ptx_asm! { @address $s $registers shared $($rest)* }
    };
    (@address $s:tt $registers:tt $space:ident $p:ident ($($operands:tt)*)) => {
        $crate::__with_address! { [$crate::__ptx_asm] { $s $registers ($($operands)* p = in(reg64) $p,) } $space }
    };
    // From `@address`, and on to the registers.
    ({ { $($s:tt)* } [$($lane:literal)*] $operands:tt } $convert:tt $address:literal $converted:tt) => {
        $crate::__ptx_asm! { { $($s)* $convert $address $converted } ["{{" $($lane)* "}}"] [] [] $operands }
    };
    ({ { $($s:tt)* } ($shape:ident $way:ident $class:ident $d:ident) $operands:tt } $convert:tt $address:literal $converted:tt) => {
        $crate::__with_shape! { $shape $way $class $d, [$crate::__ptx_asm] { $($s)* $convert $address $converted } $operands }
    };
    // From `__with_shape!`, or from lanes.
    ({ $($s:tt)* } [$($value:literal)*] $before:tt $after:tt $operands:tt) => {
        $crate::__ptx_asm! { @access { $($s)* } [$($value)*] $before $after $operands }
    };
    ({ $($s:tt)* } $value:literal $before:tt $after:tt $operands:tt) => {
        $crate::__ptx_asm! { @access { $($s)* } [$value] $before $after $operands }
    };
    (@access { st $effect:ident ($($word:tt)*) [] [$($policy:literal)?] [$($guard:literal $end:literal)?]
        [$($convert:literal)?] $address:literal [$($converted:literal)?] }
        [$($value:literal)*] [$($before:literal)?] [$($after:literal)?] $operands:tt) => {
        $crate::__emit! { $effect [$($before)? $($convert)? $($guard)?] ["st" $(, ::core::stringify!($word))*]
            [" " $address ", " $($value)* $($policy)? ";" $($end)? $($converted)? $($after)?] $operands }
    };
    (@access { $load:ident $effect:ident ($($word:tt)*) [$($unified:literal)?] [$($policy:literal)?] [$($guard:literal $end:literal)?]
        [$($convert:literal)?] $address:literal [$($converted:literal)?] }
        [$($value:literal)*] [$($before:literal)?] [$($after:literal)?] $operands:tt) => {
        $crate::__emit! { $effect [$($before)? $($convert)? $($guard)?] [::core::stringify!($load) $(, ::core::stringify!($word))*]
            [" " $($value)* ", " $address $($unified)? $($policy)? ";" $($end)? $($converted)? $($after)?] $operands }
    };
}
