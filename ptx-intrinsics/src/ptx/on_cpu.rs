//! What `ptx!` does on a CPU.

/// An access of a CPU: its words, then its operands, which are variables. On a GPU the same macro is in `on_gpu.rs`.
#[doc(hidden)]
#[macro_export]
macro_rules! __access {
    (load { $said:tt $effect:ident $space:ident $registers:tt } $unified:tt $cond:tt $policy:tt $or:tt $p:ident) => {{
        let __ptx_load = || $crate::ptx::load($crate::__ptx!(@meaning $said), $crate::__ptx!(@pointer $space $p));
        $crate::__access! { @if $cond $or __ptx_load $p }
    }};
    (store { $said:tt $space:ident $registers:tt } $cond:tt $policy:tt $value:ident $p:ident) => {
        if $crate::__access!(@holds $cond) {
            $crate::ptx::store($crate::__ptx!(@meaning $said), $crate::__ptx!(@pointer $space $p), $value)
        }
    };
    (load_lanes { $said:tt $effect:ident $space:ident } [$($lane:tt)*] $operands:tt $unified:tt $policy:tt $p:ident) => {
        $crate::ptx::load_lanes(
            $crate::__ptx!(@meaning $said), $crate::__ptx!(@pointer $space $p), &[$($crate::__ptx_lanes!(@is $lane)),*]
        )
    };
    (store_lanes { $said:tt $space:ident } [$($lane:tt)*] $operands:tt $policy:tt $p:ident) => {
        $crate::ptx::store_lanes(
            $crate::__ptx!(@meaning $said), $crate::__ptx!(@pointer $space $p), &[$($crate::__access!(@lane $lane)),*]
        )
    };
    (change { (red $words:tt) $space:ident $registers:tt } $cond:tt $compare:tt $or:tt $policy:tt $p:ident $v:ident) => {
        if $crate::__access!(@holds $cond) {
            $crate::ptx::change(__PTX_WORDS, $crate::__ptx!(@pointer $space $p), $v, ::core::option::Option::None);
        }
    };
    (change { $said:tt $space:ident $registers:tt } $cond:tt $compare:tt $or:tt $policy:tt $p:ident $v:ident) => {{
        let __ptx_change = || $crate::ptx::change(
            __PTX_WORDS, $crate::__ptx!(@pointer $space $p), $v, $crate::__access!(@option $compare)
        );
        $crate::__access! { @if $cond $or __ptx_change $p }
    }};
    (ld_reduce { $said:tt $effect:ident $registers:tt } $cond:tt $or:tt $p:ident) => {{
        let __ptx_load = || $crate::ptx::multimem::reduced(__PTX_WORDS, $p);
        $crate::__access! { @if $cond $or __ptx_load $p }
    }};
    (multimem { $does:ident $said:tt $registers:tt } $cond:tt $p:ident $v:ident) => {
        if $crate::__access!(@holds $cond) { $crate::ptx::multimem::$does(__PTX_WORDS, $p, $v) }
    };
    // The value where the predicate is false.
    (@if [] [] $access:ident $p:ident) => { $access() };
    (@if [$cond:ident = $value:expr] [] $access:ident $p:ident) => { if $cond { $access() } else { $crate::ptx::unset($p) } };
    (@if [$cond:ident = $value:expr] [$or:ident = $or_value:expr] $access:ident $p:ident) => { if $cond { $access() } else { $or } };
    (@holds []) => { true };
    (@holds [$cond:ident = $value:expr]) => { $cond };
    (@lane (lane $d:ident $r:ident $value:tt)) => { ::core::option::Option::Some($d) };
    (@lane (sink $d:ident $r:ident)) => { ::core::option::Option::None };
    (@option []) => { ::core::option::Option::None };
    (@option [$name:ident = $value:expr]) => { ::core::option::Option::Some($name) };
}
