//! A load or store of a whole value, always or under a predicate.

/// A load of a whole value, or under a predicate.
#[doc(hidden)]
#[macro_export]
macro_rules! __ptx_load {
    ({ $op:ident ($($word:tt)*) $effect:ident $space:ident ($t:ty) ({$X:ident $($data:tt)*} $class:ident $r:ident) }
        [] $p:expr, [$($policy:expr)?] $unified:tt) => {{
        const _: $crate::grammar::access::Spelling = $crate::grammar::access::demand(
            $crate::__ptx!(@text $op $($word)*), $crate::__ptx!(@has $($policy)?), $unified, $crate::grammar::access::Lanes::All
        );
        let __ptx_p = $crate::__ptx!(@from $space $t, $p);
        #[cfg(target_arch = "nvptx64")]
        let __ptx_value = {
            let mut __ptx_d: $crate::emit::registers::$X<::core::mem::MaybeUninit<$crate::ptx::types::$r>> = $crate::ptx::registers();
            let __ptx_a = $crate::__ptx!(@address $space __ptx_p);
            $crate::__ptx_asm! { @unified $unified { $op $effect ($($word)*) } [$($policy)?] [] (out $class __ptx_d $($data)*) $space __ptx_a () }
            $crate::ptx::value(__ptx_p, __ptx_d)
        };
        #[cfg(not(target_arch = "nvptx64"))]
        let __ptx_value = {
            $crate::__ptx!(@drop $($policy)?);
            $crate::ptx::load($crate::__ptx!(@meaning $op $($word)*), $crate::__ptx!(@pointer $space __ptx_p))
        };
        __ptx_value
    }};
    ({ $op:ident ($($word:tt)*) $effect:ident $space:ident ($t:ty) ({$X:ident $($data:tt)*} $class:ident $r:ident) }
        [@ $cond:tt, $or:expr] $p:expr, [$($policy:expr)?] $unified:tt) => {{
        const _: $crate::grammar::access::Spelling = $crate::grammar::access::demand(
            $crate::__ptx!(@text $op $($word)*), $crate::__ptx!(@has $($policy)?), $unified, $crate::grammar::access::Lanes::All
        );
        let (__ptx_cond, __ptx_p) = ($cond, $crate::__ptx!(@from $space $t, $p));
        let __ptx_or = $crate::ptx::like(__ptx_p, $or);
        #[cfg(target_arch = "nvptx64")]
        let __ptx_value = {
            let mut __ptx_d: $crate::emit::registers::$X<::core::mem::MaybeUninit<$crate::ptx::types::$r>> = $crate::ptx::registers_of(__ptx_or);
            let __ptx_a = $crate::__ptx!(@address $space __ptx_p);
            $crate::__ptx_asm! { @unified $unified { $op $effect ($($word)*) } [$($policy)?] [@] (inout $class __ptx_d $($data)*) $space __ptx_a
                (cond = in(reg32) $crate::emit::registers::bit(__ptx_cond),) }
            $crate::ptx::value(__ptx_p, __ptx_d)
        };
        #[cfg(not(target_arch = "nvptx64"))]
        let __ptx_value = {
            $crate::__ptx!(@drop $($policy)?);
            if __ptx_cond { $crate::ptx::load($crate::__ptx!(@meaning $op $($word)*), $crate::__ptx!(@pointer $space __ptx_p)) } else { __ptx_or }
        };
        __ptx_value
    }};
}

/// A store of a whole value, or under a predicate.
#[doc(hidden)]
#[macro_export]
macro_rules! __ptx_store {
    ([] { st ($($word:tt)*) $effect:ident $space:ident ($t:ty) ({$X:ident $($data:tt)*} $class:ident $r:ident) }
        $p:expr, $value:expr, [$($policy:expr)?]) => {{
        const _: $crate::grammar::access::Spelling = $crate::grammar::access::demand(
            $crate::__ptx!(@text st $($word)*), $crate::__ptx!(@has $($policy)?), false, $crate::grammar::access::Lanes::All
        );
        let __ptx_p = $crate::__ptx!(@to $space $t, $p);
        let __ptx_value = $crate::ptx::like(__ptx_p, $value);
        #[cfg(target_arch = "nvptx64")]
        {
            let __ptx_d: $crate::emit::registers::$X<$crate::ptx::types::$r> = $crate::ptx::registers_of(__ptx_value);
            let __ptx_a = $crate::__ptx!(@address $space __ptx_p);
            $crate::__ptx_asm! { @unified false { st $effect ($($word)*) } [$($policy)?] [] (in $class __ptx_d $($data)*) $space __ptx_a () }
        }
        #[cfg(not(target_arch = "nvptx64"))]
        {
            $crate::__ptx!(@drop $($policy)?);
            $crate::ptx::store($crate::__ptx!(@meaning st $($word)*), $crate::__ptx!(@pointer $space __ptx_p), __ptx_value);
        }
    }};
    ([@ $cond:tt] { st ($($word:tt)*) $effect:ident $space:ident ($t:ty) ({$X:ident $($data:tt)*} $class:ident $r:ident) }
        $p:expr, $value:expr, [$($policy:expr)?]) => {{
        const _: $crate::grammar::access::Spelling = $crate::grammar::access::demand(
            $crate::__ptx!(@text st $($word)*), $crate::__ptx!(@has $($policy)?), false, $crate::grammar::access::Lanes::All
        );
        let (__ptx_cond, __ptx_p) = ($cond, $crate::__ptx!(@to $space $t, $p));
        let __ptx_value = $crate::ptx::like(__ptx_p, $value);
        #[cfg(target_arch = "nvptx64")]
        {
            let __ptx_d: $crate::emit::registers::$X<$crate::ptx::types::$r> = $crate::ptx::registers_of(__ptx_value);
            let __ptx_a = $crate::__ptx!(@address $space __ptx_p);
            $crate::__ptx_asm! { @unified false { st $effect ($($word)*) } [$($policy)?] [@] (in $class __ptx_d $($data)*) $space __ptx_a
                (cond = in(reg32) $crate::emit::registers::bit(__ptx_cond),) }
        }
        #[cfg(not(target_arch = "nvptx64"))]
        {
            $crate::__ptx!(@drop $($policy)?);
            if __ptx_cond {
                $crate::ptx::store($crate::__ptx!(@meaning st $($word)*), $crate::__ptx!(@pointer $space __ptx_p), __ptx_value);
            }
        }
    }};
}
