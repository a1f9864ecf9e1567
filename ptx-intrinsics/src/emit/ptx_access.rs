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
    (@hint { $($s:tt)* } [$policy:ident] $guard:tt $registers:tt $space:ident $p:ident ($($operands:tt)*)) => {
        $crate::__ptx_asm! { @guard { $($s)* [", {policy}"] } $guard $registers $space $p
            ($($operands)* policy = in(reg64) $crate::CachePolicy::bits($policy),) }
    };
    (@guard { $($s:tt)* } [] $($rest:tt)*) => { $crate::__ptx_asm! { @address { $($s)* [] } $($rest)* } };
    (@guard { $($s:tt)* } [@ $cond:ident] $registers:tt $space:ident $p:ident ($($operands:tt)*)) => {
        $crate::__ptx_asm! {
            @address { $($s)* [@] } $registers $space $p
                (cond = in(reg32) $crate::emit::registers::bit($cond), $($operands)*)
        }
    };
    (@address $s:tt $registers:tt shared $p:ident ($($operands:tt)*)) => {
        $crate::__ptx_asm! { { $s $registers ($($operands)* p = in(reg32) $p,) } [] "[{p}]" [] }
    };
    (@address $s:tt $registers:tt shared_cluster $($rest:tt)*) => {
        $crate::__ptx_asm! { @address $s $registers shared $($rest)* }
    };
    (@address $s:tt $registers:tt $space:ident $p:ident ($($operands:tt)*)) => {
        $crate::__with_address! { [$crate::__ptx_asm] { $s $registers ($($operands)* p = in(reg64) $p,) } $space }
    };
    // From `@address`, and on to the registers: those of some lanes, or of a whole value.
    ({ { $($s:tt)* } [$($lane:literal)*] $operands:tt } $convert:tt $address:literal $converted:tt) => {
        $crate::__ptx_asm! { @access { $($s)* $convert $address $converted } ["{{" $($lane)* "}}"] [] [] $operands }
    };
    ({ { $($s:tt)* } ($way:ident $class:ident $d:ident $value:literal [$($r:ident . $i:tt)*] $($packing:literal)*) ($($operands:tt)*) }
        $convert:tt $address:literal $converted:tt) => {
        $crate::__ptx_asm! { @packed $way [$($packing)*] { $($s)* $convert $address $converted } [$value]
            ($($r = $way($class) $d.$i,)* $($operands)*) }
    };
    (@packed $way:ident [] $s:tt $value:tt $operands:tt) => {
        $crate::__ptx_asm! { @access $s $value [] [] $operands }
    };
    (@packed out [$open:literal $pack:literal $unpack:literal $close:literal] $s:tt $value:tt $operands:tt) => {
        $crate::__ptx_asm! { @access $s $value [$open] [$unpack $close] $operands }
    };
    (@packed inout [$open:literal $pack:literal $unpack:literal $close:literal] $s:tt $value:tt $operands:tt) => {
        $crate::__ptx_asm! { @access $s $value [$open $pack] [$unpack $close] $operands }
    };
    (@packed in [$open:literal $pack:literal $unpack:literal $close:literal] $s:tt $value:tt $operands:tt) => {
        $crate::__ptx_asm! { @access $s $value [$open $pack] [$close] $operands }
    };
    (@access { st $effect:ident ($($word:tt)*) [] [$($policy:literal)?] [$($guard:tt)?]
        [$($convert:literal)?] $address:literal [$($converted:literal)?] }
        [$($value:literal)*] [$($before:literal)*] [$($after:literal)*] $operands:tt) => {
        $crate::__instruction! { $effect [$($before,)* $($convert,)? $($crate::__predicate!(before $guard),)?]
            ["st" $(, ::core::stringify!($word))*]
            [
                " ", $address, ", ", $($value,)* $($policy,)? ";",
                $($crate::__predicate!(after $guard),)? $($converted,)? $($after,)*
            ]
            $operands
        }
    };
    (@access { $load:ident $effect:ident ($($word:tt)*) [$($unified:literal)?] [$($policy:literal)?] [$($guard:tt)?]
        [$($convert:literal)?] $address:literal [$($converted:literal)?] }
        [$($value:literal)*] [$($before:literal)*] [$($after:literal)*] $operands:tt) => {
        $crate::__instruction! { $effect [$($before,)* $($convert,)? $($crate::__predicate!(before $guard),)?]
            [::core::stringify!($load) $(, ::core::stringify!($word))*]
            [
                " ", $($value,)* ", ", $address, $($unified,)? $($policy,)? ";",
                $($crate::__predicate!(after $guard),)? $($converted,)? $($after,)*
            ]
            $operands
        }
    };
}

/// Calls `emit! { args [before] "[address]" [after] }` with the texts that convert a generic address for a space.
/// `__ptx_asm!` has taken shared memory before: its address is one already.
#[doc(hidden)]
#[macro_export]
macro_rules! __with_address {
    ([$($emit:tt)*] $args:tt const) => {
        $($emit)*! { $args ["{{\n.reg .u64 %address;\ncvta.to.const.u64 %address, {p};\n"] "[%address]" ["\n}}"] }
    };
    ([$($emit:tt)*] $args:tt local) => {
        $($emit)*! { $args ["{{\n.reg .u64 %address;\ncvta.to.local.u64 %address, {p};\n"] "[%address]" ["\n}}"] }
    };
    ([$($emit:tt)*] $args:tt param_entry) => {
        $($emit)*! { $args ["{{\n.reg .u64 %address;\ncvta.to.param.u64 %address, {p};\n"] "[%address]" ["\n}}"] }
    };
    // Generic and global addresses are the same, and `cvta` knows no parameter of a function.
    ([$($emit:tt)*] $args:tt $same:ident) => { $($emit)*! { $args [] "[{p}]" [] } };
}
