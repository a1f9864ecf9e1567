//! The words of a load or store, taken one by one up to the type.

/// `@words` takes the words one by one, noting the space, whether it may be merged, and the type; `@type` has the
/// type's registers, `@load` and `@store` the operands.
#[doc(hidden)]
#[macro_export]
macro_rules! __ptx {
    // The type, which ends the words.
    (@words $op:ident $guard:tt ($($words:tt)*) $effect:ident $space:ident . v2 . $ty:ident $($operands:tt)*) => {
        $crate::__with_element! { (v2 $ty) $op $guard ($($words)* . v2 . $ty) $effect $space $($operands)* }
    };
    (@words $op:ident $guard:tt ($($words:tt)*) $effect:ident $space:ident . v4 . $ty:ident $($operands:tt)*) => {
        $crate::__with_element! { (v4 $ty) $op $guard ($($words)* . v4 . $ty) $effect $space $($operands)* }
    };
    (@words $op:ident $guard:tt ($($words:tt)*) $effect:ident $space:ident . v8 . $ty:ident $($operands:tt)*) => {
        $crate::__with_element! { (v8 $ty) $op $guard ($($words)* . v8 . $ty) $effect $space $($operands)* }
    };
    (@words $op:ident $guard:tt ($($words:tt)*) $effect:ident $space:ident . $ty:ident [$($p:tt)*] $($operands:tt)*) => {
        $crate::__with_element! { ($ty) $op $guard ($($words)* . $ty) $effect $space [$($p)*] $($operands)* }
    };
    (@words $op:ident $guard:tt ($($words:tt)*) $effect:ident $space:ident . $ty:ident {$($d:tt)*} $($operands:tt)*) => {
        $crate::__with_element! { ($ty) $op $guard ($($words)* . $ty) $effect $space {$($d)*} $($operands)* }
    };
    // A space whose addresses are converted.
    (@words $op:ident $guard:tt ($($words:tt)*) $effect:ident $space:ident . shared :: cluster $($rest:tt)*) => {
        $crate::__ptx! { @words $op $guard ($($words)* . shared::cluster) $effect shared_cluster $($rest)* }
    };
    (@words $op:ident $guard:tt ($($words:tt)*) $effect:ident $space:ident . shared :: cta $($rest:tt)*) => {
        $crate::__ptx! { @words $op $guard ($($words)* . shared::cta) $effect shared $($rest)* }
    };
    (@words $op:ident $guard:tt ($($words:tt)*) $effect:ident $space:ident . shared $($rest:tt)*) => {
        $crate::__ptx! { @words $op $guard ($($words)* . shared) $effect shared $($rest)* }
    };
    (@words $op:ident $guard:tt ($($words:tt)*) $effect:ident $space:ident . const $($rest:tt)*) => {
        $crate::__ptx! { @words $op $guard ($($words)* . const) $effect const $($rest)* }
    };
    (@words $op:ident $guard:tt ($($words:tt)*) $effect:ident $space:ident . local $($rest:tt)*) => {
        $crate::__ptx! { @words $op $guard ($($words)* . local) $effect local $($rest)* }
    };
    (@words $op:ident $guard:tt ($($words:tt)*) $effect:ident $space:ident . param :: func $($rest:tt)*) => {
        $crate::__ptx! { @words $op $guard ($($words)* . param::func) $effect param_func $($rest)* }
    };
    (@words $op:ident $guard:tt ($($words:tt)*) $effect:ident $space:ident . param :: entry $($rest:tt)*) => {
        $crate::__ptx! { @words $op $guard ($($words)* . param::entry) $effect param_entry $($rest)* }
    };
    (@words $op:ident $guard:tt ($($words:tt)*) $effect:ident $space:ident . param $($rest:tt)*) => {
        $crate::__ptx! { @words $op $guard ($($words)* . param) $effect param_entry $($rest)* }
    };
    // A word that keeps the access where it is.
    (@words $op:ident $guard:tt ($($words:tt)*) $effect:ident $space:ident . volatile $($rest:tt)*) => {
        $crate::__ptx! { @words $op $guard ($($words)* . volatile) memory $space $($rest)* }
    };
    (@words $op:ident $guard:tt ($($words:tt)*) $effect:ident $space:ident . relaxed $($rest:tt)*) => {
        $crate::__ptx! { @words $op $guard ($($words)* . relaxed) memory $space $($rest)* }
    };
    (@words $op:ident $guard:tt ($($words:tt)*) $effect:ident $space:ident . acquire $($rest:tt)*) => {
        $crate::__ptx! { @words $op $guard ($($words)* . acquire) memory $space $($rest)* }
    };
    (@words $op:ident $guard:tt ($($words:tt)*) $effect:ident $space:ident . lu $($rest:tt)*) => {
        $crate::__ptx! { @words $op $guard ($($words)* . lu) memory $space $($rest)* }
    };
    (@words $op:ident $guard:tt ($($words:tt)*) $effect:ident $space:ident . cv $($rest:tt)*) => {
        $crate::__ptx! { @words $op $guard ($($words)* . cv) memory $space $($rest)* }
    };
    // Any other.
    (@words $op:ident $guard:tt ($($words:tt)*) $effect:ident $space:ident . $level:tt :: $word:tt $($rest:tt)*) => {
        $crate::__ptx! { @words $op $guard ($($words)* . $level::$word) $effect $space $($rest)* }
    };
    (@words $op:ident $guard:tt ($($words:tt)*) $effect:ident $space:ident . $word:tt $($rest:tt)*) => {
        $crate::__ptx! { @words $op $guard ($($words)* . $word) $effect $space $($rest)* }
    };
    (@words $($other:tt)*) => {
        ::core::compile_error!("`ptx!` takes `ld….type [p]`, `ldu….type [p]`, `st….type [p], value`, and `atom` and `red` as `st`: PTX's words, then the operands")
    };

    (@type ld $($rest:tt)*) => { $crate::__ptx! { @loaded ld $($rest)* } };
    (@type ldu $($rest:tt)*) => { $crate::__ptx! { @loaded ldu $($rest)* } };
    (@loaded $op:ident ($($t:tt)*) $registers:tt $guard:tt $words:tt $effect:ident $space:ident $($operands:tt)*) => {
        $crate::__ptx! { @load $guard { $op $words $effect $space ($($t)*) $registers } $($operands)* }
    };
    (@type st ($($t:tt)*) $registers:tt $guard:tt $words:tt $effect:ident $space:ident $($operands:tt)*) => {
        $crate::__ptx! { @store $guard { st $words memory $space ($($t)*) $registers } $($operands)* }
    };
    (@type $($other:tt)*) => { ::core::compile_error!("`ptx!` spells `ld`, `ldu`, `st`, `atom` and `red`") };

    (@load [] $s:tt [$p:expr] $(, $policy:expr)?) => {
        $crate::__ptx_load! { $s [] $p, [$($policy)?] false }
    };
    (@load [] $s:tt [$p:expr].unified $(, $policy:expr)?) => {
        $crate::__ptx_load! { $s [] $p, [$($policy)?] true }
    };
    (@load [@ $cond:tt] $s:tt [$p:expr], else $or:expr) => {
        $crate::__ptx_load! { $s [@ $cond, $or] $p, [] false }
    };
    (@load [@ $cond:tt] $s:tt [$p:expr], $policy:expr, else $or:expr) => {
        $crate::__ptx_load! { $s [@ $cond, $or] $p, [$policy] false }
    };
    (@load [@ $cond:tt] $s:tt [$p:expr].unified, else $or:expr) => {
        $crate::__ptx_load! { $s [@ $cond, $or] $p, [] true }
    };
    (@load [@ $cond:tt] $s:tt [$p:expr].unified, $policy:expr, else $or:expr) => {
        $crate::__ptx_load! { $s [@ $cond, $or] $p, [$policy] true }
    };
    (@load [] $s:tt {$($lane:tt),* $(,)?}, [$p:expr] $(, $policy:expr)?) => {
        $crate::__ptx_lanes! { $s [$($lane)*] $p, [$($policy)?] false }
    };
    (@load [] $s:tt {$($lane:tt),* $(,)?}, [$p:expr].unified $(, $policy:expr)?) => {
        $crate::__ptx_lanes! { $s [$($lane)*] $p, [$($policy)?] true }
    };
    (@load [@ $($cond:tt)*] $s:tt [$p:expr] $($rest:tt)*) => {
        ::core::compile_error!("a load under a predicate says what the value is where it is false: `ptx!(@cond ld….type [p], else value)`")
    };
    (@load $($other:tt)*) => {
        ::core::compile_error!("the operands of a load are `[p]`, `[p].unified` or `{d, _, …}, [p]`, then a policy if it has `.L2::cache_hint`")
    };

    (@store [] $s:tt [$p:expr], {$($lane:tt),* $(,)?} $(, $policy:expr)?) => {
        $crate::__ptx_lanes! { $s [$($lane)*] $p, [$($policy)?] false }
    };
    (@store $guard:tt $s:tt [$p:expr], $value:expr $(, $policy:expr)?) => {
        $crate::__ptx_store! { $guard $s $p, $value, [$($policy)?] }
    };
    (@store $($other:tt)*) => {
        ::core::compile_error!("the operands of a store are `[p], value` or `[p], {value, _, …}`, then a policy if it has `.L2::cache_hint`")
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
    (@from shared $t:ty, $p:expr) => { $crate::ptx::from_shared::<_, $t>($p) };
    (@from shared_cluster $t:ty, $p:expr) => { $crate::ptx::from_shared_cluster::<_, $t>($p) };
    (@from $other:ident $t:ty, $p:expr) => { $crate::ptx::from::<_, $t>($p) };
    (@to shared $t:ty, $p:expr) => { $crate::ptx::to_shared::<_, $t>($p) };
    (@to shared_cluster $t:ty, $p:expr) => { $crate::ptx::to_shared_cluster::<_, $t>($p) };
    (@to $other:ident $t:ty, $p:expr) => { $crate::ptx::to::<_, $t>($p) };
    (@pointer shared $p:ident) => { $crate::ptx::shared_pointer($p) };
    (@pointer shared_cluster $p:ident) => { $crate::ptx::shared_pointer($p) };
    (@pointer $other:ident $p:ident) => { $p };
    (@has) => { false };
    (@has $policy:expr) => { true };
    (@drop) => {};
    (@drop $policy:expr) => { let _: $crate::CachePolicy = $policy; };
}

macro_rules! with_element {
    (($d:tt) $({($($t:tt)*) ($($word:ident)*) $text:tt $shape:ident $class:ident $register:ident $width:ident})*) => {
        /// Goes on with the type that PTX's words stand for, and its registers.
        #[doc(hidden)]
        #[macro_export]
        macro_rules! __with_element {
            $((($($word)*) $d($d rest:tt)*) => {
                $d crate::__ptx! { @named ($($t)*) ($shape $class $register) $d($d rest)* }
            };)*
            // No such type: reading the words says why.
            ($d other:tt $d op:ident $d guard:tt ($d($d word:tt)*) $d($d rest:tt)*) => {{
                const _: $d crate::grammar::access::Spelling = $d crate::grammar::access::demand(
                    $d crate::__ptx!(@text $d op $d($d word)*), false, false, $d crate::grammar::access::Lanes::All
                );
                loop {}
            }};
        }
    };
}
for_each_element! { with_element ($) }
