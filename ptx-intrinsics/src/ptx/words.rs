//! The steps of `ptx!`: the words one by one up to the type, the operands, and what all accesses begin with.

/// The steps, each with the name of its arms:
///
/// - `@words` takes the words one by one. It notes the effect (`pure`, or `memory` after a word that keeps the access where it is),
///   whether the operation is `.cas`, and the space whose addresses are converted. At the type it goes on to the table of types.
/// - `@type` has the type's registers, and `@load` and `@store` sort the operands of a load or store.
/// - `@begin` checks the words, and binds the operands to variables. Then `__access!` makes the access.
///
/// All that is asked of the author's types is asked in `@begin`. So a mistake in them is one error: a second place would be a second error.
#[doc(hidden)]
#[macro_export]
macro_rules! __ptx {
    // The type, which ends the words.
    (@words $s:tt ($($words:tt)*) $effect:ident $cas:ident $space:ident . v2 . $ty:ident $($operands:tt)*) => {
        $crate::__ptx! { @typed $s (v2 $ty) ($($words)* . v2 . $ty) $effect $cas $space $($operands)* }
    };
    (@words $s:tt ($($words:tt)*) $effect:ident $cas:ident $space:ident . v4 . $ty:ident $($operands:tt)*) => {
        $crate::__ptx! { @typed $s (v4 $ty) ($($words)* . v4 . $ty) $effect $cas $space $($operands)* }
    };
    (@words $s:tt ($($words:tt)*) $effect:ident $cas:ident $space:ident . v8 . $ty:ident $($operands:tt)*) => {
        $crate::__ptx! { @typed $s (v8 $ty) ($($words)* . v8 . $ty) $effect $cas $space $($operands)* }
    };
    (@words $s:tt ($($words:tt)*) $effect:ident $cas:ident $space:ident . $ty:ident [$($p:tt)*] $($operands:tt)*) => {
        $crate::__ptx! { @typed $s ($ty) ($($words)* . $ty) $effect $cas $space [$($p)*] $($operands)* }
    };
    (@words $s:tt ($($words:tt)*) $effect:ident $cas:ident $space:ident . $ty:ident {$($d:tt)*} $($operands:tt)*) => {
        $crate::__ptx! { @typed $s ($ty) ($($words)* . $ty) $effect $cas $space {$($d)*} $($operands)* }
    };
    (@typed { $types:ident $op:ident $guard:tt } $ty:tt $words:tt $effect:ident $cas:ident $space:ident $($operands:tt)*) => {
        $crate::$types! { $ty $op $guard $words $effect $cas $space $($operands)* }
    };
    // A space whose addresses are converted.
    (@words $s:tt ($($words:tt)*) $effect:ident $cas:ident $space:ident . shared :: cluster $($rest:tt)*) => {
        $crate::__ptx! { @words $s ($($words)* . shared::cluster) $effect $cas shared_cluster $($rest)* }
    };
    (@words $s:tt ($($words:tt)*) $effect:ident $cas:ident $space:ident . shared :: cta $($rest:tt)*) => {
        $crate::__ptx! { @words $s ($($words)* . shared::cta) $effect $cas shared $($rest)* }
    };
    (@words $s:tt ($($words:tt)*) $effect:ident $cas:ident $space:ident . shared $($rest:tt)*) => {
        $crate::__ptx! { @words $s ($($words)* . shared) $effect $cas shared $($rest)* }
    };
    (@words $s:tt ($($words:tt)*) $effect:ident $cas:ident $space:ident . const $($rest:tt)*) => {
        $crate::__ptx! { @words $s ($($words)* . const) $effect $cas const $($rest)* }
    };
    (@words $s:tt ($($words:tt)*) $effect:ident $cas:ident $space:ident . local $($rest:tt)*) => {
        $crate::__ptx! { @words $s ($($words)* . local) $effect $cas local $($rest)* }
    };
    (@words $s:tt ($($words:tt)*) $effect:ident $cas:ident $space:ident . param :: func $($rest:tt)*) => {
        $crate::__ptx! { @words $s ($($words)* . param::func) $effect $cas param_func $($rest)* }
    };
    (@words $s:tt ($($words:tt)*) $effect:ident $cas:ident $space:ident . param :: entry $($rest:tt)*) => {
        $crate::__ptx! { @words $s ($($words)* . param::entry) $effect $cas param_entry $($rest)* }
    };
    (@words $s:tt ($($words:tt)*) $effect:ident $cas:ident $space:ident . param $($rest:tt)*) => {
        $crate::__ptx! { @words $s ($($words)* . param) $effect $cas param_entry $($rest)* }
    };
    // A word that keeps the access where it is.
    (@words $s:tt ($($words:tt)*) $effect:ident $cas:ident $space:ident . volatile $($rest:tt)*) => {
        $crate::__ptx! { @words $s ($($words)* . volatile) memory $cas $space $($rest)* }
    };
    (@words $s:tt ($($words:tt)*) $effect:ident $cas:ident $space:ident . relaxed $($rest:tt)*) => {
        $crate::__ptx! { @words $s ($($words)* . relaxed) memory $cas $space $($rest)* }
    };
    (@words $s:tt ($($words:tt)*) $effect:ident $cas:ident $space:ident . acquire $($rest:tt)*) => {
        $crate::__ptx! { @words $s ($($words)* . acquire) memory $cas $space $($rest)* }
    };
    (@words $s:tt ($($words:tt)*) $effect:ident $cas:ident $space:ident . lu $($rest:tt)*) => {
        $crate::__ptx! { @words $s ($($words)* . lu) memory $cas $space $($rest)* }
    };
    (@words $s:tt ($($words:tt)*) $effect:ident $cas:ident $space:ident . cv $($rest:tt)*) => {
        $crate::__ptx! { @words $s ($($words)* . cv) memory $cas $space $($rest)* }
    };
    // The one operation with two values.
    (@words $s:tt ($($words:tt)*) $effect:ident $cas:ident $space:ident . cas $($rest:tt)*) => {
        $crate::__ptx! { @words $s ($($words)* . cas) $effect cas $space $($rest)* }
    };
    // Any other.
    (@words $s:tt ($($words:tt)*) $effect:ident $cas:ident $space:ident . $level:tt :: $word:tt $($rest:tt)*) => {
        $crate::__ptx! { @words $s ($($words)* . $level::$word) $effect $cas $space $($rest)* }
    };
    (@words $s:tt ($($words:tt)*) $effect:ident $cas:ident $space:ident . $word:tt $($rest:tt)*) => {
        $crate::__ptx! { @words $s ($($words)* . $word) $effect $cas $space $($rest)* }
    };
    // The words have ended, and no address follows.
    (@words $s:tt ($($words:tt)+) $effect:ident $cas:ident $space:ident) => {
        ::core::compile_error!("the address is missing: `[p]` comes after the type")
    };
    (@words $s:tt ($($words:tt)+) $effect:ident $cas:ident $space:ident $p:ident $(, $($rest:tt)*)?) => {
        ::core::compile_error!(::core::concat!("PTX writes an address in brackets: `[", ::core::stringify!($p), "]`"))
    };
    (@words $s:tt ($($words:tt)+) $effect:ident $cas:ident $space:ident : $($rest:tt)*) => {
        ::core::compile_error!("the parts of a word are joined by `::`, as in `.L1::evict_last`")
    };
    (@words { __with_atomic_type $($s:tt)* } $($other:tt)*) => {
        ::core::compile_error!("`ptx!` takes `atom….type [p], value` or `red….type [p], value`: PTX's words, then the operands")
    };
    (@words { __with_multimem_type $($s:tt)* } $($other:tt)*) => {
        ::core::compile_error!("`ptx!` takes `multimem.ld_reduce….type [p]`, `multimem.st….type [p], value` and `multimem.red….type [p], value`")
    };
    (@words $($other:tt)*) => {
        ::core::compile_error!("`ptx!` takes `ld….type [p]`, `ldu….type [p]`, `st….type [p], value`, and `atom` and `red` as `st`: PTX's words, then the operands")
    };

    // After the type of a load or store.
    (@type ld $($rest:tt)*) => { $crate::__ptx! { @loaded ld $($rest)* } };
    (@type ldu $($rest:tt)*) => { $crate::__ptx! { @loaded ldu $($rest)* } };
    (@loaded $op:ident $t:tt $registers:tt $guard:tt $words:tt $effect:ident $cas:ident $space:ident $($operands:tt)*) => {
        $crate::__ptx! { @load $guard { ($op $words) $effect $space $t $registers } $($operands)* }
    };
    (@type st $t:tt $registers:tt $guard:tt $words:tt $effect:ident $cas:ident $space:ident $($operands:tt)*) => {
        $crate::__ptx! { @store $guard { (st $words) $space $t $registers } $($operands)* }
    };
    (@type $($other:tt)*) => {
        ::core::compile_error!("`ptx!` has `ld`, `ldu`, `st`, `atom`, `red` and `multimem`; any other instruction is a function with the name of its PTX: `prefetch_global_l2`")
    };

    (@load [] $s:tt [$p:expr] $(, $policy:expr)?) => {
        $crate::__ptx! { @read $s false [] $p, [$(policy __ptx_policy = $policy)?] [] }
    };
    (@load [] $s:tt [$p:expr].unified $(, $policy:expr)?) => {
        $crate::__ptx! { @read $s true [] $p, [$(policy __ptx_policy = $policy)?] [] }
    };
    (@load [@ $cond:tt] $s:tt [$p:expr], else $($or:tt)+) => {
        $crate::__ptx! { @read $s false [__ptx_cond = $cond] $p, [] [__ptx_or = $($or)+] }
    };
    (@load [@ $cond:tt] $s:tt [$p:expr], $policy:expr, else $($or:tt)+) => {
        $crate::__ptx! { @read $s false [__ptx_cond = $cond] $p, [policy __ptx_policy = $policy] [__ptx_or = $($or)+] }
    };
    (@load [@ $cond:tt] $s:tt [$p:expr].unified, else $($or:tt)+) => {
        $crate::__ptx! { @read $s true [__ptx_cond = $cond] $p, [] [__ptx_or = $($or)+] }
    };
    (@load [@ $cond:tt] $s:tt [$p:expr].unified, $policy:expr, else $($or:tt)+) => {
        $crate::__ptx! { @read $s true [__ptx_cond = $cond] $p, [policy __ptx_policy = $policy] [__ptx_or = $($or)+] }
    };
    (@load [] $s:tt {$($lane:tt),* $(,)?}, [$p:expr] $(, $policy:expr)?) => {
        $crate::__ptx_lanes! { load $s [$($lane)*] $p, [$(policy __ptx_policy = $policy)?] false }
    };
    (@load [] $s:tt {$($lane:tt),* $(,)?}, [$p:expr].unified $(, $policy:expr)?) => {
        $crate::__ptx_lanes! { load $s [$($lane)*] $p, [$(policy __ptx_policy = $policy)?] true }
    };
    (@load [@ $($cond:tt)*] $s:tt [$p:expr] $($rest:tt)*) => {
        ::core::compile_error!("a load under a predicate says what the value is where it is false: `ptx!(@cond ld….type [p], else value)`, or `else _` if it does not matter")
    };
    (@load $guard:tt $s:tt . $($rest:tt)*) => { $crate::__ptx! { @after } };
    (@load $($other:tt)*) => {
        ::core::compile_error!("the operands of a load are `[p]`, `[p].unified` or `{d, _, …}, [p]`, then a policy if it has `.L2::cache_hint`")
    };

    (@store [] $s:tt [$p:expr], {$($lane:tt),* $(,)?} $(, $policy:expr)?) => {
        $crate::__ptx_lanes! { store $s [$($lane)*] $p, [$(policy __ptx_policy = $policy)?] }
    };
    (@store [] $s:tt [$p:expr], $value:expr $(, $policy:expr)?) => {
        $crate::__ptx! { @write $s [] $p, [__ptx_value = $value] [$(policy __ptx_policy = $policy)?] }
    };
    (@store [@ $cond:tt] $s:tt [$p:expr], $value:expr $(, $policy:expr)?) => {
        $crate::__ptx! { @write $s [__ptx_cond = $cond] $p, [__ptx_value = $value] [$(policy __ptx_policy = $policy)?] }
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

    // A whole value: what is checked, and what is bound to variables.
    (@read $s:tt $unified:tt $cond:tt $p:expr, $policy:tt [$or:ident = _]) => {
        $crate::__ptx! { @read $s $unified $cond $p, $policy [] }
    };
    (@read { $said:tt $effect:ident $space:ident $t:tt $registers:tt } $unified:tt $cond:tt $p:expr, $policy:tt $or:tt) => {
        $crate::__ptx! { @begin
            {
                const _: $crate::grammar::access::Spelling = $crate::grammar::access::demand(
                    $crate::__ptx!(@text $said), $crate::__ptx!(@has $policy), $unified, $crate::grammar::access::Lanes::All
                );
            }
            $cond __ptx_p = $crate::__ptx!(@from $space $t $p), [$policy $or]
            load { $said $effect $space $registers } $unified $cond $policy $or __ptx_p
        }
    };
    (@write { $said:tt $space:ident $t:tt $registers:tt } $cond:tt $p:expr, [$name:ident = $value:expr] $policy:tt) => {
        $crate::__ptx! { @begin
            {
                const _: $crate::grammar::access::Spelling = $crate::grammar::access::demand(
                    $crate::__ptx!(@text $said), $crate::__ptx!(@has $policy), false, $crate::grammar::access::Lanes::All
                );
            }
            $cond __ptx_p = $crate::__ptx!(@to $space $t $p), [[$name = $value] $policy]
            store { $said $space $registers } $cond $policy $name __ptx_p
        }
    };

    // What every access begins with: the check, the predicate, the address and the other operands. Then the access.
    (@begin { $($check:tt)* } $cond:tt $p:ident = $address:expr, [$($operand:tt)*] $($access:tt)*) => {{
        $($check)*
        $crate::__ptx! { @condition $cond }
        let $p = $address;
        $($crate::__ptx! { @bind $p $operand })*
        unsafe { $crate::__access! { $($access)* } }
    }};
    (@condition []) => {};
    (@condition [$cond:ident = $value:expr]) => { let ($cond,): ($crate::ptx::types::bool,) = ($value,); };
    (@bind $p:ident []) => {};
    (@bind $p:ident [policy $name:ident = $value:expr]) => { let $name: $crate::CachePolicy = $value; };
    (@bind $p:ident [$name:ident = $value:expr]) => { let $name = $crate::ptx::like($p, $value); };
    (@bind $p:ident (sink $d:ident $r:ident)) => {};
    (@bind $p:ident (lane $d:ident $r:ident $value:tt)) => { let $d: $crate::ptx::types::$r = $crate::ptx::lane($p, $value); };

    // A type by its path.
    (@named ($vector:ident<$scalar:ident>) ($($registers:tt)*) $op:ident $($rest:tt)*) => {
        $crate::__ptx! { @type $op ($crate::ptx::types::$vector<$crate::ptx::types::$scalar>) ($($registers)*) $($rest)* }
    };
    (@named ($scalar:ident) ($($registers:tt)*) $op:ident $($rest:tt)*) => {
        $crate::__ptx! { @type $op ($crate::ptx::types::$scalar) ($($registers)*) $($rest)* }
    };
    (@text ($op:ident ($($word:tt)*))) => { ::core::concat!(::core::stringify!($op) $(, ::core::stringify!($word))*) };
    (@meaning $said:tt) => { const { $crate::ptx::meaning($crate::__ptx!(@text $said)) } };
    (@from shared ($t:ty) $p:expr) => { $crate::ptx::load_from_shared::<_, $t>($p) };
    (@from shared_cluster ($t:ty) $p:expr) => { $crate::ptx::load_from_shared_cluster::<_, $t>($p) };
    (@from $other:ident ($t:ty) $p:expr) => { $crate::ptx::load_from::<_, $t>($p) };
    (@to shared ($t:ty) $p:expr) => { $crate::ptx::store_to_shared::<_, $t>($p) };
    (@to shared_cluster ($t:ty) $p:expr) => { $crate::ptx::store_to_shared_cluster::<_, $t>($p) };
    (@to $other:ident ($t:ty) $p:expr) => { $crate::ptx::store_to::<_, $t>($p) };
    (@address shared $p:ident) => { $crate::ptx::shared_address($p) };
    (@address shared_cluster $p:ident) => { $crate::ptx::shared_address($p) };
    (@address $other:ident $p:ident) => { $p };
    (@pointer shared $p:ident) => { $crate::ptx::shared_pointer($p) };
    (@pointer shared_cluster $p:ident) => { $crate::ptx::shared_pointer($p) };
    (@pointer $other:ident $p:ident) => { $p };
    (@has []) => { false };
    (@has $policy:tt) => { true };
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
            ($d other:tt $d op:ident $d guard:tt $d words:tt
                $d effect:ident $d cas:ident $d space:ident $d($d operands:tt)*) => {{
                const _: $d crate::grammar::access::Spelling = $d crate::grammar::access::demand(
                    $d crate::__ptx!(@text ($d op $d words)), false, false, $d crate::grammar::access::Lanes::All
                );
                $d crate::__ptx!(@refused $d($d operands)*)
            }};
        }
    };
}
for_each_element! { with_element ($) }
