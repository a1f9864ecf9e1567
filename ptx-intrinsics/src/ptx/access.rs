//! A load or store of a whole value, always or under a predicate.

/// A load of a whole value, or under a predicate.
#[doc(hidden)]
#[macro_export]
macro_rules! __ptx_load {
    ($s:tt [] $p:expr, [$($name:ident = $policy:expr)?] $unified:tt) => {
        $crate::__ptx_load! { @go $s [] (uninit) (out) $p, [$($name = $policy)?] $unified }
    };
    ($s:tt [@ $cond:tt, _] $p:expr, [$($name:ident = $policy:expr)?] $unified:tt) => {
        $crate::__ptx_load! { @go $s [@ __ptx_cond $cond] (uninit) (out) $p, [$($name = $policy)?] $unified }
    };
    ($s:tt [@ $cond:tt, $or:expr] $p:expr, [$($name:ident = $policy:expr)?] $unified:tt) => {
        $crate::__ptx_load! { @go $s [@ __ptx_cond $cond] (value __ptx_or $or) (inout) $p, [$($name = $policy)?] $unified }
    };
    (@go { $op:ident ($($word:tt)*) $effect:ident $space:ident ($t:ty) ({$X:ident $($data:tt)*} $class:ident $r:ident) }
        [$(@ $cond_name:ident $cond:tt)?] ($kind:ident $($or_name:ident $or:expr)?) ($way:ident)
        $p:expr, [$($name:ident = $policy:expr)?] $unified:tt) => {{
        const _: $crate::grammar::access::Spelling = $crate::grammar::access::demand(
            $crate::__ptx!(@text $op $($word)*), $crate::__ptx!(@has $($policy)?), $unified, $crate::grammar::access::Lanes::All
        );
        $(let ($cond_name,): ($crate::ptx::types::bool,) = ($cond,);)?
        let __ptx_p = $crate::__ptx!(@from $space $t, $p);
        $(let $name: $crate::CachePolicy = $policy;)?
        $(let $or_name = $crate::ptx::like(__ptx_p, $or);)?
        #[cfg(target_arch = "nvptx64")]
        let __ptx_value = unsafe {
            let mut __ptx_d: $crate::emit::registers::$X<$crate::__ptx_load!(@register $kind $crate::ptx::types::$r)> =
                $crate::__ptx_load!(@registers $kind $($or_name)?);
            let __ptx_a = $crate::__ptx!(@address $space __ptx_p);
            $crate::__ptx_asm! { @unified $unified { $op $effect ($($word)*) } [$($name)?] [$(@ $cond_name)?]
                ($way $class __ptx_d $($data)*) $space __ptx_a () }
            $crate::ptx::value(__ptx_p, __ptx_d)
        };
        #[cfg(not(target_arch = "nvptx64"))]
        let __ptx_value = unsafe {
            let __ptx_load = || $crate::ptx::load($crate::__ptx!(@meaning $op $($word)*), $crate::__ptx!(@pointer $space __ptx_p));
            $crate::__ptx_load! { @if [$($cond_name)?] __ptx_load __ptx_p $kind $($or_name)? }
        };
        __ptx_value
    }};
    (@register uninit $r:ty) => { ::core::mem::MaybeUninit<$r> };
    (@register value $r:ty) => { $r };
    (@registers uninit) => { $crate::ptx::registers() };
    (@registers value $or:ident) => { $crate::ptx::registers_of($or) };
    (@if [] $load:ident $p:ident $($rest:tt)*) => { $load() };
    (@if [$cond:ident] $load:ident $p:ident uninit) => { if $cond { $load() } else { $crate::ptx::unset($p) } };
    (@if [$cond:ident] $load:ident $p:ident value $or:ident) => { if $cond { $load() } else { $or } };
}

/// A store of a whole value, or under a predicate.
#[doc(hidden)]
#[macro_export]
macro_rules! __ptx_store {
    ([] $($rest:tt)*) => { $crate::__ptx_store! { @go [] $($rest)* } };
    ([@ $cond:tt] $($rest:tt)*) => { $crate::__ptx_store! { @go [@ __ptx_cond $cond] $($rest)* } };
    (@go [$(@ $cond_name:ident $cond:tt)?]
        { st ($($word:tt)*) $effect:ident $space:ident ($t:ty) ({$X:ident $($data:tt)*} $class:ident $r:ident) }
        $p:expr, $value:expr, [$($name:ident = $policy:expr)?]) => {{
        const _: $crate::grammar::access::Spelling = $crate::grammar::access::demand(
            $crate::__ptx!(@text st $($word)*), $crate::__ptx!(@has $($policy)?), false, $crate::grammar::access::Lanes::All
        );
        $(let ($cond_name,): ($crate::ptx::types::bool,) = ($cond,);)?
        let __ptx_p = $crate::__ptx!(@to $space $t, $p);
        let __ptx_value = $crate::ptx::like(__ptx_p, $value);
        $(let $name: $crate::CachePolicy = $policy;)?
        #[cfg(target_arch = "nvptx64")]
        unsafe {
            let __ptx_d: $crate::emit::registers::$X<$crate::ptx::types::$r> = $crate::ptx::registers_of(__ptx_value);
            let __ptx_a = $crate::__ptx!(@address $space __ptx_p);
            $crate::__ptx_asm! { @unified false { st $effect ($($word)*) } [$($name)?] [$(@ $cond_name)?]
                (in $class __ptx_d $($data)*) $space __ptx_a () }
        }
        #[cfg(not(target_arch = "nvptx64"))]
        if true $(&& $cond_name)? {
            unsafe { $crate::ptx::store($crate::__ptx!(@meaning st $($word)*), $crate::__ptx!(@pointer $space __ptx_p), __ptx_value) }
        }
    }};
}
