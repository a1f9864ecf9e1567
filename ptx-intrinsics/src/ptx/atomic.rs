//! What `ptx!` makes of an atomic: its operands sorted.

use super::PointsTo;
use crate::emit::registers::same_bits;
use crate::isa::element::MovedAs;

/// An atomic after its type: `@type` has the type's registers and sorts the operands, which are predicate, address, value,
/// what it is compared with, policy.
#[doc(hidden)]
#[macro_export]
macro_rules! __atomic {
    (@at shared $kind:ident $p:expr) => { $crate::__ptx!(@to shared $crate::ptx::kinds::$kind, $p) };
    (@at shared_cluster $kind:ident $p:expr) => { $crate::__ptx!(@to shared_cluster $crate::ptx::kinds::$kind, $p) };
    (@at $other:ident $kind:ident $p:expr) => { $crate::ptx::atomic::change_at::<_, $crate::ptx::kinds::$kind>($p) };

    (@type red [] $cas:ident $s:tt [$p:expr], $v:expr $(, $policy:expr)?) => {
        $crate::__atomic_go! { red $s () () () ($(__ptx_policy = $policy)?) $p, $v }
    };
    (@type red [@ $cond:tt] $cas:ident $s:tt [$p:expr], $v:expr $(, $policy:expr)?) => {
        $crate::__atomic_go! { red $s (__ptx_cond = $cond) () () ($(__ptx_policy = $policy)?) $p, $v }
    };
    (@type $op:ident $guard:tt $cas:ident $s:tt . $($rest:tt)*) => { $crate::__ptx! { @after } };
    (@type red $($other:tt)*) => {
        ::core::compile_error!("the operands of `red` are `[p], value`, then a policy if it has `.L2::cache_hint`")
    };
    (@type atom [] cas $s:tt [$p:expr], $compare:expr, $v:expr $(, $policy:expr)?) => {
        $crate::__atomic_go! { atom $s () () (__ptx_compare = $compare) ($(__ptx_policy = $policy)?) $p, $v }
    };
    (@type atom [] any $s:tt [$p:expr], $v:expr $(, $policy:expr)?) => {
        $crate::__atomic_go! { atom $s () () () ($(__ptx_policy = $policy)?) $p, $v }
    };
    (@type atom [@ $cond:tt] cas $s:tt [$p:expr], $compare:expr, $v:expr, else $($or:tt)+) => {
        $crate::__atomic_go! { atom $s (__ptx_cond = $cond) (__ptx_or = $($or)+) (__ptx_compare = $compare) () $p, $v }
    };
    (@type atom [@ $cond:tt] any $s:tt [$p:expr], $v:expr, else $($or:tt)+) => {
        $crate::__atomic_go! { atom $s (__ptx_cond = $cond) (__ptx_or = $($or)+) () () $p, $v }
    };
    (@type atom [@ $cond:tt] any $s:tt [$p:expr], $v:expr, $policy:expr, else $($or:tt)+) => {
        $crate::__atomic_go! { atom $s (__ptx_cond = $cond) (__ptx_or = $($or)+) () (__ptx_policy = $policy) $p, $v }
    };
    (@type atom $($other:tt)*) => {
        ::core::compile_error!("the operands of `atom` are `[p], value`, of `.cas` `[p], compare, value`, then a policy if it has `.L2::cache_hint`, then `else value` under a predicate")
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
                    { $d words $d space $kind $shape $class $register } $d($d operands)* }
            };)*
            // No such type: reading the words says why.
            ($d other:tt $d op:ident $d guard:tt ($d($d word:tt)*)
                $d effect:ident $d cas:ident $d space:ident $d($d operands:tt)*) => {{
                const _: $d crate::grammar::atomic::Atomic =
                    $d crate::grammar::atomic::demand_atomic($d crate::__ptx!(@text $d op $d($d word)*), false);
                $d crate::__ptx!(@refused $d($d operands)*)
            }};
        }
    };
}
for_each_atomic! { with_atomic_type ($) }

/// The atomic, its operands sorted: predicate, value where that is false, what is compared, policy, address, value.
#[doc(hidden)]
#[macro_export]
macro_rules! __atomic_go {
    (atom $s:tt ($cond:ident = $cond_value:expr) ($or:ident = _) $($rest:tt)*) => {
        $crate::__atomic_go! { atom $s ($cond = $cond_value) () $($rest)* }
    };
    ($op:ident { ($($word:tt)*) $space:ident $kind:ident $shape:ident $class:ident $r:ident }
        ($($cond:ident = $cond_value:expr)?) ($($or:ident = $or_value:expr)?) ($($compare:ident = $compare_value:expr)?)
        ($($policy:ident = $policy_value:expr)?) $p:expr, $v:expr) => {{
        const __PTX_WORDS: $crate::grammar::atomic::Atomic =
            $crate::grammar::atomic::demand_atomic($crate::__ptx!(@text $op $($word)*), $crate::__ptx!(@has $($policy_value)?));
        $(let ($cond,): (::core::primitive::bool,) = ($cond_value,);)?
        let __ptx_p = $crate::__atomic!(@at $space $kind $p);
        $(let $compare = $crate::ptx::like(__ptx_p, $compare_value);)?
        let __ptx_v = $crate::ptx::like(__ptx_p, $v);
        $(let $policy: $crate::CachePolicy = $policy_value;)?
        $(let $or = $crate::ptx::like(__ptx_p, $or_value);)?
        $crate::__on_gpu! {
            let __ptx_old = unsafe {
                let _ = __PTX_WORDS;
                let __ptx_a = $crate::__ptx!(@address $space __ptx_p);
                let __ptx_v: $crate::__registers!($shape $crate::ptx::types::$r) = $crate::ptx::atomic::registers(__ptx_v);
                $(let $compare: $crate::__registers!($shape $crate::ptx::types::$r) = $crate::ptx::atomic::registers($compare);)?
                $crate::__atomic_value! { @$op __ptx_a __ptx_p $shape $class $r __ptx_v [$($compare)?] [$($or)?] [$($cond)?] [$($policy)?] $space ($($word)*) }
            };
        }
        $crate::__on_cpu! {
            let __ptx_old = unsafe {
                let __ptx_p = $crate::__ptx!(@pointer $space __ptx_p);
                $crate::__atomic_host! { $op __PTX_WORDS __ptx_p __ptx_v [$($compare)?] [$($or)?] [$($cond)?] [$($policy)?] }
            };
        }
        __ptx_old
    }};
}

/// On a GPU: the registers of the result, where it has one, and the instruction.
#[doc(hidden)]
#[macro_export]
macro_rules! __atomic_value {
    (@red $a:ident $p:ident $shape:ident $class:ident $r:ident $v:ident [] [] $($rest:tt)*) => {
        $crate::__atomic_asm! { @registers $shape $class $v [] [] $a red $($rest)* }
    };
    (@atom $a:ident $p:ident $shape:ident $class:ident $r:ident $v:ident $compare:tt [] $($rest:tt)*) => {{
        let mut __ptx_d: $crate::__registers!($shape $crate::emit::registers::Unset<$crate::ptx::types::$r>) = $crate::ptx::registers();
        $crate::__atomic_asm! { @registers $shape $class $v $compare [out __ptx_d] $a atom $($rest)* }
        $crate::ptx::atomic::value($p, __ptx_d)
    }};
    (@atom $a:ident $p:ident $shape:ident $class:ident $r:ident $v:ident $compare:tt [$or:ident] $($rest:tt)*) => {{
        let mut __ptx_d: $crate::__registers!($shape $crate::ptx::types::$r) = $crate::ptx::atomic::registers($or);
        $crate::__atomic_asm! { @registers $shape $class $v $compare [inout __ptx_d] $a atom $($rest)* }
        $crate::ptx::atomic::value($p, __ptx_d)
    }};
}

/// On a CPU.
#[cfg(not(ptx_device))]
#[doc(hidden)]
#[macro_export]
macro_rules! __atomic_host {
    ($op:ident $words:ident $p:ident $v:ident $compare:tt $or:tt $cond:tt [$policy:ident]) => {{
        let _ = $policy;
        $crate::__atomic_host! { $op $words $p $v $compare $or $cond [] }
    }};
    ($op:ident $words:ident $p:ident $v:ident $compare:tt $or:tt [$cond:ident] []) => {
        if $cond { $crate::__atomic_host! { $op $words $p $v $compare $or [] [] } } else { $crate::__atomic_host! { @or $op $p $or } }
    };
    (red $words:ident $p:ident $v:ident [] [] [] []) => {{
        $crate::ptx::change($words, $p, $v, ::core::option::Option::None);
    }};
    (atom $words:ident $p:ident $v:ident [$($compare:ident)?] $or:tt [] []) => {
        $crate::ptx::change($words, $p, $v, $crate::__atomic_host!(@option $($compare)?))
    };
    (@or $op:ident $p:ident [$or:ident]) => { $or };
    (@or atom $p:ident []) => { $crate::ptx::unset($p) };
    (@or red $p:ident []) => { () };
    (@option $compare:ident) => { ::core::option::Option::Some($compare) };
    (@option) => { ::core::option::Option::None };
}

/// The address of an atomic on what counts as a `K`.
///
/// # Safety
/// As for the words. It is the one call that is not in an `unsafe` block of the macros' own.
#[doc(hidden)]
#[inline(always)]
pub const unsafe fn change_at<T: MovedAs<K>, K>(p: *mut T) -> *mut T {
    p
}

/// The registers of a value.
///
/// # Safety
/// Every bit pattern is a `D`.
#[doc(hidden)]
#[inline(always)]
pub const unsafe fn registers<T: Copy, D: Copy>(value: T) -> D {
    same_bits(value)
}

/// What stood at `p`, out of its registers.
///
/// # Safety
/// The registers are initialised, and hold a `T`.
#[doc(hidden)]
#[inline(always)]
pub const unsafe fn value<T: Copy, D: Copy>(_: impl PointsTo<T>, registers: D) -> T {
    same_bits(registers)
}
