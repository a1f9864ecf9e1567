//! A load or store of some lanes of a 256-bit vector.

/// An access of some lanes of a 256-bit vector: `@each` sorts them into texts, operands and variables.
#[doc(hidden)]
#[macro_export]
macro_rules! __ptx_lanes {
    ({ $op:ident $words:tt $effect:ident $space:ident $t:tt ($registers:tt $class:ident $r:ident) } $lanes:tt $($rest:tt)*) => {
        $crate::__ptx_lanes! { @each $op $class $r $lanes [] [] [] [
            "" "{__ptx_d0}" __ptx_d0; ", " "{__ptx_d1}" __ptx_d1; ", " "{__ptx_d2}" __ptx_d2; ", " "{__ptx_d3}" __ptx_d3;
            ", " "{__ptx_d4}" __ptx_d4; ", " "{__ptx_d5}" __ptx_d5; ", " "{__ptx_d6}" __ptx_d6; ", " "{__ptx_d7}" __ptx_d7;
        ] { $words $effect $space $t } $($rest)* }
    };
    (@each $op:ident $class:ident $r:ident [] $texts:tt $operands:tt $lanes:tt $left:tt $($rest:tt)*) => {
        $crate::__ptx_lanes! { @$op $class $r $texts $operands $lanes $($rest)* }
    };
    (@each $op:ident $class:ident $r:ident [_ $($lane:tt)*] [$($text:literal)*] $operands:tt [$($lanes:tt)*]
        [$comma:literal $place:literal $d:ident; $($left:tt)*] $($rest:tt)*) => {
        $crate::__ptx_lanes! { @each $op $class $r [$($lane)*] [$($text)* $comma "_"] $operands [$($lanes)* (sink $d _)]
            [$($left)*] $($rest)* }
    };
    (@each st $class:ident $r:ident [$value:tt $($lane:tt)*] [$($text:literal)*] [$($operands:tt)*] [$($lanes:tt)*]
        [$comma:literal $place:literal $d:ident; $($left:tt)*] $($rest:tt)*) => {
        $crate::__ptx_lanes! { @each st $class $r [$($lane)*] [$($text)* $comma $place] [$($operands)* $d = in($class) $d,]
            [$($lanes)* (named $d $value)] [$($left)*] $($rest)* }
    };
    (@each $op:ident $class:ident $r:ident [$name:ident $($lane:tt)*] [$($text:literal)*] [$($operands:tt)*] [$($lanes:tt)*]
        [$comma:literal $place:literal $d:ident; $($left:tt)*] $($rest:tt)*) => {
        $crate::__ptx_lanes! { @each $op $class $r [$($lane)*] [$($text)* $comma $place] [$($operands)* $d = out($class) $d,]
            [$($lanes)* (named $d _)] [$($left)*] $($rest)* }
    };
    (@each $($other:tt)*) => { ::core::compile_error!("a vector has at most eight lanes, each a name or `_`") };

    (@st $class:ident $r:ident $texts:tt [$($operands:tt)*] [$(($kind:ident $d:ident $value:tt))*]
        { ($($word:tt)*) $effect:ident $space:ident ($t:ty) } $p:expr, [$($name:ident = $policy:expr)?] $unified:tt) => {{
        const _: $crate::grammar::access::Spelling = $crate::grammar::access::demand(
            $crate::__ptx!(@text st $($word)*), $crate::__ptx!(@has $($policy)?), false,
            $crate::grammar::access::Lanes::Some(&[$($crate::__ptx_lanes!(@is $kind)),*])
        );
        let __ptx_p = $crate::__ptx!(@to $space $t, $p);
        $($crate::__ptx_lanes! { @value $kind $d $r __ptx_p $value })*
        $(let $name: $crate::CachePolicy = $policy;)?
        #[cfg(target_arch = "nvptx64")]
        unsafe {
            let __ptx_a = $crate::__ptx!(@address $space __ptx_p);
            $crate::__ptx_asm! { @unified false { st memory ($($word)*) } [$($name)?] [] $texts $space __ptx_a ($($operands)*) }
        }
        #[cfg(not(target_arch = "nvptx64"))]
        unsafe {
            $crate::ptx::store_lanes($crate::__ptx!(@meaning st $($word)*), $crate::__ptx!(@pointer $space __ptx_p), &[$($crate::__ptx_lanes!(@option $kind $d)),*]);
        }
    }};
    (@$op:ident $class:ident $r:ident $texts:tt [$($operands:tt)*] [$(($kind:ident $d:ident $nothing:tt))*]
        { ($($word:tt)*) $effect:ident $space:ident ($t:ty) } $p:expr, [$($name:ident = $policy:expr)?] $unified:tt) => {{
        const __PTX_LANES: &[$crate::ptx::types::bool] = &[$($crate::__ptx_lanes!(@is $kind)),*];
        const _: $crate::grammar::access::Spelling = $crate::grammar::access::demand(
            $crate::__ptx!(@text $op $($word)*), $crate::__ptx!(@has $($policy)?), $unified, $crate::grammar::access::Lanes::Some(__PTX_LANES)
        );
        let __ptx_p = $crate::__ptx!(@from $space $t, $p);
        $(let $name: $crate::CachePolicy = $policy;)?
        #[cfg(target_arch = "nvptx64")]
        let __ptx_value = unsafe {
            $($crate::__ptx_lanes! { @declare $kind $d $r })*
            let __ptx_a = $crate::__ptx!(@address $space __ptx_p);
            $crate::__ptx_asm! { @unified $unified { $op $effect ($($word)*) } [$($name)?] [] $texts $space __ptx_a ($($operands)*) }
            $crate::ptx::vector_of(__ptx_p, [$($d),*])
        };
        #[cfg(not(target_arch = "nvptx64"))]
        let __ptx_value = unsafe {
            $crate::ptx::load_lanes($crate::__ptx!(@meaning $op $($word)*), $crate::__ptx!(@pointer $space __ptx_p), __PTX_LANES)
        };
        __ptx_value
    }};

    (@is named) => { true };
    (@is sink) => { false };
    (@declare named $d:ident $r:ident) => { let $d: $crate::ptx::types::$r; };
    (@declare sink $d:ident $r:ident) => { let $d: $crate::ptx::types::$r = 0 as $crate::ptx::types::$r; };
    (@value named $d:ident $r:ident $p:ident $value:tt) => { let $d: $crate::ptx::types::$r = $crate::ptx::lane($p, $value); };
    (@value sink $d:ident $r:ident $p:ident $value:tt) => {};
    (@option named $d:ident) => { ::core::option::Option::Some($d) };
    (@option sink $d:ident) => { ::core::option::Option::None };
}
