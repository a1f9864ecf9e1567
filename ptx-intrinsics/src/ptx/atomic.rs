//! What `ptx!` makes of an atomic: its operands sorted.

use crate::isa::element::MovedAs;

/// An atomic after its type: `@type` has the type's registers and sorts the operands, which are predicate, address, value,
/// what it is compared with, policy.
#[doc(hidden)]
#[macro_export]
macro_rules! __atomic {
    (@at shared $kind:ident $p:expr) => { $crate::__ptx!(@to shared ($crate::ptx::kinds::$kind) $p) };
    (@at shared_cluster $kind:ident $p:expr) => { $crate::__ptx!(@to shared_cluster ($crate::ptx::kinds::$kind) $p) };
    (@at $other:ident $kind:ident $p:expr) => { $crate::ptx::atomic::change_at::<_, $crate::ptx::kinds::$kind>($p) };

    (@type red [] $cas:ident $s:tt [$p:expr], $v:expr $(, $policy:expr)?) => {
        $crate::__atomic! { @begin $s [] [] [] [$(policy __ptx_policy = $policy)?] $p, $v }
    };
    (@type red [@ $cond:tt] $cas:ident $s:tt [$p:expr], $v:expr $(, $policy:expr)?) => {
        $crate::__atomic! { @begin $s [__ptx_cond = $cond] [] [] [$(policy __ptx_policy = $policy)?] $p, $v }
    };
    (@type $op:ident $guard:tt $cas:ident $s:tt . $($rest:tt)*) => { $crate::__ptx! { @after } };
    (@type red $($other:tt)*) => {
        ::core::compile_error!("the operands of `red` are `[p], value`, then a policy if it has `.L2::cache_hint`")
    };
    (@type atom [] cas $s:tt [$p:expr], $compare:expr, $v:expr $(, $policy:expr)?) => {
        $crate::__atomic! { @begin $s [] [__ptx_compare = $compare] [] [$(policy __ptx_policy = $policy)?] $p, $v }
    };
    (@type atom [] any $s:tt [$p:expr], $v:expr $(, $policy:expr)?) => {
        $crate::__atomic! { @begin $s [] [] [] [$(policy __ptx_policy = $policy)?] $p, $v }
    };
    (@type atom [@ $cond:tt] cas $s:tt [$p:expr], $compare:expr, $v:expr, else $($or:tt)+) => {
        $crate::__atomic! { @begin $s [__ptx_cond = $cond] [__ptx_compare = $compare] [__ptx_or = $($or)+] [] $p, $v }
    };
    (@type atom [@ $cond:tt] any $s:tt [$p:expr], $v:expr, else $($or:tt)+) => {
        $crate::__atomic! { @begin $s [__ptx_cond = $cond] [] [__ptx_or = $($or)+] [] $p, $v }
    };
    (@type atom [@ $cond:tt] any $s:tt [$p:expr], $v:expr, $policy:expr, else $($or:tt)+) => {
        $crate::__atomic! { @begin $s [__ptx_cond = $cond] [] [__ptx_or = $($or)+] [policy __ptx_policy = $policy] $p, $v }
    };
    (@type atom $($other:tt)*) => {
        ::core::compile_error!("the operands of `atom` are `[p], value`, of `.cas` `[p], compare, value`, then a policy if it has `.L2::cache_hint`, then `else value` under a predicate")
    };

    // Predicate, what is compared, value where the predicate is false, policy, address, value.
    (@begin $s:tt $cond:tt $compare:tt [$or:ident = _] $policy:tt $p:expr, $v:expr) => {
        $crate::__atomic! { @begin $s $cond $compare [] $policy $p, $v }
    };
    (@begin { $said:tt $space:ident $kind:ident $registers:tt } $cond:tt $compare:tt $or:tt $policy:tt $p:expr, $v:expr) => {
        $crate::__ptx! { @begin
            {
                const __PTX_WORDS: $crate::grammar::atomic::Atomic =
                    $crate::grammar::atomic::demand_atomic($crate::__ptx!(@text $said), $crate::__ptx!(@has $policy));
            }
            $cond __ptx_p = $crate::__atomic!(@at $space $kind $p), [$compare [__ptx_v = $v] $policy $or]
            change { $said $space $registers } $cond $compare $or $policy __ptx_p __ptx_v
        }
    };
}

macro_rules! with_atomic_type {
    (($d:tt) $({$kind:ident $same:ident $t:tt ($($word:ident)*) $text:tt $shape:ident $class:ident $register:ident $($row:tt)*})*) => {
        /// Goes on with the type that PTX's words name, and its registers.
        #[doc(hidden)]
        #[macro_export]
        macro_rules! __with_atomic_type {
            $((($($word)*) $d op:ident $d guard:tt $d words:tt $d effect:ident $d cas:ident $d space:ident $d($d operands:tt)*) => {
                $d crate::__atomic! { @type $d op $d guard $d cas
                    { ($d op $d words) $d space $kind ($shape $class $register) } $d($d operands)* }
            };)*
            // No such type: reading the words says why.
            ($d other:tt $d op:ident $d guard:tt $d words:tt
                $d effect:ident $d cas:ident $d space:ident $d($d operands:tt)*) => {{
                const _: $d crate::grammar::atomic::Atomic =
                    $d crate::grammar::atomic::demand_atomic($d crate::__ptx!(@text ($d op $d words)), false);
                $d crate::__ptx!(@refused $d($d operands)*)
            }};
        }
    };
}
for_each_atomic! { with_atomic_type ($) }

/// The address of an atomic on what counts as a `K`.
///
/// # Safety
/// As for the instruction that the words spell. It is the one call that is not in an `unsafe` block of the macros' own.
#[doc(hidden)]
#[inline(always)]
pub const unsafe fn change_at<T: MovedAs<K>, K>(p: *mut T) -> *mut T {
    p
}
