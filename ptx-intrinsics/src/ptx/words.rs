//! The words of a load, store or atomic, taken one by one up to the type; then a load's or store's operands.

/// Takes the words one by one. It notes the effect (`pure`, or `memory` after a word that keeps the access where it is),
/// whether the operation is `.cas`, and the space whose addresses are converted. At the type it goes on to `$types!`, the
/// table of types.
#[doc(hidden)]
#[macro_export]
macro_rules! __words {
    // The type, which ends the words.
    ($s:tt ($($words:tt)*) $effect:ident $cas:ident $space:ident . v2 . $ty:ident $($operands:tt)*) => {
        $crate::__words! { @type $s (v2 $ty) ($($words)* . v2 . $ty) $effect $cas $space $($operands)* }
    };
    ($s:tt ($($words:tt)*) $effect:ident $cas:ident $space:ident . v4 . $ty:ident $($operands:tt)*) => {
        $crate::__words! { @type $s (v4 $ty) ($($words)* . v4 . $ty) $effect $cas $space $($operands)* }
    };
    ($s:tt ($($words:tt)*) $effect:ident $cas:ident $space:ident . v8 . $ty:ident $($operands:tt)*) => {
        $crate::__words! { @type $s (v8 $ty) ($($words)* . v8 . $ty) $effect $cas $space $($operands)* }
    };
    ($s:tt ($($words:tt)*) $effect:ident $cas:ident $space:ident . $ty:ident [$($p:tt)*] $($operands:tt)*) => {
        $crate::__words! { @type $s ($ty) ($($words)* . $ty) $effect $cas $space [$($p)*] $($operands)* }
    };
    ($s:tt ($($words:tt)*) $effect:ident $cas:ident $space:ident . $ty:ident {$($d:tt)*} $($operands:tt)*) => {
        $crate::__words! { @type $s ($ty) ($($words)* . $ty) $effect $cas $space {$($d)*} $($operands)* }
    };
    (@type { $types:ident $op:ident $guard:tt } $ty:tt $words:tt $effect:ident $cas:ident $space:ident $($operands:tt)*) => {
        $crate::$types! { $ty $op $guard $words $effect $cas $space $($operands)* }
    };
    // A space whose addresses are converted.
    ($s:tt ($($words:tt)*) $effect:ident $cas:ident $space:ident . shared :: cluster $($rest:tt)*) => {
        $crate::__words! { $s ($($words)* . shared::cluster) $effect $cas shared_cluster $($rest)* }
    };
    ($s:tt ($($words:tt)*) $effect:ident $cas:ident $space:ident . shared :: cta $($rest:tt)*) => {
        $crate::__words! { $s ($($words)* . shared::cta) $effect $cas shared $($rest)* }
    };
    ($s:tt ($($words:tt)*) $effect:ident $cas:ident $space:ident . shared $($rest:tt)*) => {
        $crate::__words! { $s ($($words)* . shared) $effect $cas shared $($rest)* }
    };
    ($s:tt ($($words:tt)*) $effect:ident $cas:ident $space:ident . const $($rest:tt)*) => {
        $crate::__words! { $s ($($words)* . const) $effect $cas const $($rest)* }
    };
    ($s:tt ($($words:tt)*) $effect:ident $cas:ident $space:ident . local $($rest:tt)*) => {
        $crate::__words! { $s ($($words)* . local) $effect $cas local $($rest)* }
    };
    ($s:tt ($($words:tt)*) $effect:ident $cas:ident $space:ident . param :: func $($rest:tt)*) => {
        $crate::__words! { $s ($($words)* . param::func) $effect $cas param_func $($rest)* }
    };
    ($s:tt ($($words:tt)*) $effect:ident $cas:ident $space:ident . param :: entry $($rest:tt)*) => {
        $crate::__words! { $s ($($words)* . param::entry) $effect $cas param_entry $($rest)* }
    };
    ($s:tt ($($words:tt)*) $effect:ident $cas:ident $space:ident . param $($rest:tt)*) => {
        $crate::__words! { $s ($($words)* . param) $effect $cas param_entry $($rest)* }
    };
    // A word that keeps the access where it is.
    ($s:tt ($($words:tt)*) $effect:ident $cas:ident $space:ident . volatile $($rest:tt)*) => {
        $crate::__words! { $s ($($words)* . volatile) memory $cas $space $($rest)* }
    };
    ($s:tt ($($words:tt)*) $effect:ident $cas:ident $space:ident . relaxed $($rest:tt)*) => {
        $crate::__words! { $s ($($words)* . relaxed) memory $cas $space $($rest)* }
    };
    ($s:tt ($($words:tt)*) $effect:ident $cas:ident $space:ident . acquire $($rest:tt)*) => {
        $crate::__words! { $s ($($words)* . acquire) memory $cas $space $($rest)* }
    };
    ($s:tt ($($words:tt)*) $effect:ident $cas:ident $space:ident . lu $($rest:tt)*) => {
        $crate::__words! { $s ($($words)* . lu) memory $cas $space $($rest)* }
    };
    ($s:tt ($($words:tt)*) $effect:ident $cas:ident $space:ident . cv $($rest:tt)*) => {
        $crate::__words! { $s ($($words)* . cv) memory $cas $space $($rest)* }
    };
    // The one operation with two values.
    ($s:tt ($($words:tt)*) $effect:ident $cas:ident $space:ident . cas $($rest:tt)*) => {
        $crate::__words! { $s ($($words)* . cas) $effect cas $space $($rest)* }
    };
    // Any other.
    ($s:tt ($($words:tt)*) $effect:ident $cas:ident $space:ident . $level:tt :: $word:tt $($rest:tt)*) => {
        $crate::__words! { $s ($($words)* . $level::$word) $effect $cas $space $($rest)* }
    };
    ($s:tt ($($words:tt)*) $effect:ident $cas:ident $space:ident . $word:tt $($rest:tt)*) => {
        $crate::__words! { $s ($($words)* . $word) $effect $cas $space $($rest)* }
    };
    // The words have ended, and no address follows.
    ($s:tt ($($words:tt)+) $effect:ident $cas:ident $space:ident) => {
        ::core::compile_error!("the address is missing: `[p]` comes after the type")
    };
    ($s:tt ($($words:tt)+) $effect:ident $cas:ident $space:ident $p:ident $(, $($rest:tt)*)?) => {
        ::core::compile_error!(::core::concat!("PTX writes an address in brackets: `[", ::core::stringify!($p), "]`"))
    };
    ($s:tt ($($words:tt)+) $effect:ident $cas:ident $space:ident : $($rest:tt)*) => {
        ::core::compile_error!("the parts of a word are joined by `::`, as in `.L1::evict_last`")
    };
    ({ __with_atomic_type $($s:tt)* } $($other:tt)*) => {
        ::core::compile_error!("`ptx!` takes `atom….type [p], value` or `red….type [p], value`: PTX's words, then the operands")
    };
    ({ __with_multimem_type $($s:tt)* } $($other:tt)*) => {
        ::core::compile_error!("`ptx!` takes `multimem.ld_reduce….type [p]`, `multimem.st….type [p], value` and `multimem.red….type [p], value`")
    };
    ($($other:tt)*) => {
        ::core::compile_error!("`ptx!` takes `ld….type [p]`, `ldu….type [p]`, `st….type [p], value`, and `atom` and `red` as `st`: PTX's words, then the operands")
    };
}

/// A load or store after its type: `@type` has the type's registers, `@load` and `@store` the operands.
#[doc(hidden)]
#[macro_export]
macro_rules! __ptx {
    (@type ld $($rest:tt)*) => { $crate::__ptx! { @loaded ld $($rest)* } };
    (@type ldu $($rest:tt)*) => { $crate::__ptx! { @loaded ldu $($rest)* } };
    (@loaded $op:ident ($($t:tt)*) $registers:tt $guard:tt $words:tt $effect:ident $cas:ident $space:ident $($operands:tt)*) => {
        $crate::__ptx! { @load $guard { $op $words $effect $space ($($t)*) $registers } $($operands)* }
    };
    (@type st ($($t:tt)*) $registers:tt $guard:tt $words:tt $effect:ident $cas:ident $space:ident $($operands:tt)*) => {
        $crate::__ptx! { @store $guard { st $words memory $space ($($t)*) $registers } $($operands)* }
    };
    (@type $($other:tt)*) => {
        ::core::compile_error!("`ptx!` has `ld`, `ldu`, `st`, `atom`, `red` and `multimem`; any other instruction is a function with the name of its PTX: `prefetch_global_l2`")
    };

    (@load [] $s:tt [$p:expr] $(, $policy:expr)?) => {
        $crate::__ptx_load! { $s [] $p, [$(__ptx_policy = $policy)?] false }
    };
    (@load [] $s:tt [$p:expr].unified $(, $policy:expr)?) => {
        $crate::__ptx_load! { $s [] $p, [$(__ptx_policy = $policy)?] true }
    };
    (@load [@ $cond:tt] $s:tt [$p:expr], else $($or:tt)+) => {
        $crate::__ptx_load! { $s [@ $cond, $($or)+] $p, [] false }
    };
    (@load [@ $cond:tt] $s:tt [$p:expr], $policy:expr, else $($or:tt)+) => {
        $crate::__ptx_load! { $s [@ $cond, $($or)+] $p, [__ptx_policy = $policy] false }
    };
    (@load [@ $cond:tt] $s:tt [$p:expr].unified, else $($or:tt)+) => {
        $crate::__ptx_load! { $s [@ $cond, $($or)+] $p, [] true }
    };
    (@load [@ $cond:tt] $s:tt [$p:expr].unified, $policy:expr, else $($or:tt)+) => {
        $crate::__ptx_load! { $s [@ $cond, $($or)+] $p, [__ptx_policy = $policy] true }
    };
    (@load [] $s:tt {$($lane:tt),* $(,)?}, [$p:expr] $(, $policy:expr)?) => {
        $crate::__ptx_lanes! { $s [$($lane)*] $p, [$(__ptx_policy = $policy)?] false }
    };
    (@load [] $s:tt {$($lane:tt),* $(,)?}, [$p:expr].unified $(, $policy:expr)?) => {
        $crate::__ptx_lanes! { $s [$($lane)*] $p, [$(__ptx_policy = $policy)?] true }
    };
    (@load [@ $($cond:tt)*] $s:tt [$p:expr] $($rest:tt)*) => {
        ::core::compile_error!("a load under a predicate says what the value is where it is false: `ptx!(@cond ld….type [p], else value)`, or `else _` if it does not matter")
    };
    (@load $guard:tt $s:tt . $($rest:tt)*) => { $crate::__ptx! { @after } };
    (@load $($other:tt)*) => {
        ::core::compile_error!("the operands of a load are `[p]`, `[p].unified` or `{d, _, …}, [p]`, then a policy if it has `.L2::cache_hint`")
    };

    (@store [] $s:tt [$p:expr], {$($lane:tt),* $(,)?} $(, $policy:expr)?) => {
        $crate::__ptx_lanes! { $s [$($lane)*] $p, [$(__ptx_policy = $policy)?] false }
    };
    (@store $guard:tt $s:tt [$p:expr], $value:expr $(, $policy:expr)?) => {
        $crate::__ptx_store! { $guard $s $p, $value, [$(__ptx_policy = $policy)?] }
    };
    (@store $guard:tt $s:tt . $($rest:tt)*) => { $crate::__ptx! { @after } };
    (@store $($other:tt)*) => {
        ::core::compile_error!("the operands of a store are `[p], value` or `[p], {value, _, …}`, then a policy if it has `.L2::cache_hint`")
    };

    // From atomics too.
    (@after) => { ::core::compile_error!("the type comes last: all qualifiers come before it") };

    (@predicate) => {
        ::core::compile_error!("the predicate is a name or an expression in parentheses: `ptx!(@(i < n) ld.global.f32 [p], else 0.0)`")
    };

    // A type by its path.
    (@named ($vector:ident<$scalar:ident>) ($($registers:tt)*) $op:ident $($rest:tt)*) => {
        $crate::__ptx! { @type $op ($crate::ptx::types::$vector<$crate::ptx::types::$scalar>) ($($registers)*) $($rest)* }
    };
    (@named ($scalar:ident) ($($registers:tt)*) $op:ident $($rest:tt)*) => {
        $crate::__ptx! { @type $op ($crate::ptx::types::$scalar) ($($registers)*) $($rest)* }
    };
    (@text $op:ident $($word:tt)*) => { ::core::concat!(::core::stringify!($op) $(, ::core::stringify!($word))*) };
    (@meaning $($words:tt)*) => { const { $crate::ptx::meaning($crate::__ptx!(@text $($words)*)) } };
    (@from shared $t:ty, $p:expr) => { $crate::ptx::load_from_shared::<_, $t>($p) };
    (@from shared_cluster $t:ty, $p:expr) => { $crate::ptx::load_from_shared_cluster::<_, $t>($p) };
    (@from $other:ident $t:ty, $p:expr) => { $crate::ptx::load_from::<_, $t>($p) };
    (@to shared $t:ty, $p:expr) => { $crate::ptx::store_to_shared::<_, $t>($p) };
    (@to shared_cluster $t:ty, $p:expr) => { $crate::ptx::store_to_shared_cluster::<_, $t>($p) };
    (@to $other:ident $t:ty, $p:expr) => { $crate::ptx::store_to::<_, $t>($p) };
    (@address shared $p:ident) => { $crate::ptx::shared_address($p) };
    (@address shared_cluster $p:ident) => { $crate::ptx::shared_address($p) };
    (@address $other:ident $p:ident) => { $p };
    (@pointer shared $p:ident) => { $crate::ptx::shared_pointer($p) };
    (@pointer shared_cluster $p:ident) => { $crate::ptx::shared_pointer($p) };
    (@pointer $other:ident $p:ident) => { $p };
    (@has) => { false };
    (@has $policy:expr) => { true };
    // The operands of an illegal spelling: they are used, so that rustc does not warn of them.
    (@refused [$p:expr] $(, $value:expr)* $(, else $or:expr)?) => {{
        let _ = ($p, $($value,)* $($or,)?);
        $crate::ptx::refused()
    }};
    (@refused $($other:tt)*) => { $crate::ptx::refused() };
}

macro_rules! with_element {
    (($d:tt) $({($($t:tt)*) ($($word:ident)*) $text:tt $class:ident $register:ident $width:ident $registers:tt})*) => {
        /// Goes on with the type that PTX's words name, and its registers.
        #[doc(hidden)]
        #[macro_export]
        macro_rules! __with_element {
            $((($($word)*) $d($d rest:tt)*) => {
                $d crate::__ptx! { @named ($($t)*) ($registers $class $register) $d($d rest)* }
            };)*
            // No such type: reading the words says why.
            ($d other:tt $d op:ident $d guard:tt ($d($d word:tt)*)
                $d effect:ident $d cas:ident $d space:ident $d($d operands:tt)*) => {{
                const _: $d crate::grammar::access::Spelling = $d crate::grammar::access::demand(
                    $d crate::__ptx!(@text $d op $d($d word)*), false, false, $d crate::grammar::access::Lanes::All
                );
                $d crate::__ptx!(@refused $d($d operands)*)
            }};
        }
    };
}
for_each_element! { with_element ($) }
