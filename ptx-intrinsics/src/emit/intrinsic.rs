//! A collective: a call of LLVM's intrinsic, of which LLVM knows that all threads of a warp come along. Of `asm!` it does not.

/// Declares LLVM's intrinsics. rustc 1.100 has another name for what gives LLVM the types as they are.
#[doc(hidden)]
#[macro_export]
#[cfg_attr(target_arch = "nvptx64", cfg(not(version("1.100"))))]
macro_rules! __llvm {
    ($(#[$attribute:meta])* { $($item:tt)* }) => {
        $(#[$attribute])*
        unsafe extern "unadjusted" { $($item)* }
    };
}

/// The same.
#[doc(hidden)]
#[macro_export]
#[cfg(target_arch = "nvptx64")]
#[cfg_attr(target_arch = "nvptx64", cfg(version("1.100")))]
macro_rules! __llvm {
    ($(#[$attribute:meta])* { $($item:tt)* }) => {
        $(#[$attribute])*
        unsafe extern "llvm-intrinsic" { $($item)* }
    };
}

/// `{ "llvm.nvvm.redux.sync" O (value: u32, mask: u32) }`: its name, with the words of axes, and what it takes. What it gives is
/// the class of the result.
#[cfg(not(ptx_by_markers))]
macro_rules! intrinsic {
    ($variant:ident $words:tt [$($out:ident: $class:ident)?]
        { $name:literal $($word:ident $($more:literal)?)* ($($value:tt: $type:ty),*) }) => {{
        $crate::__llvm! { {
            #[link_name = concat!($name $(, word!($variant $word $words) $(, $more)?)*)]
            fn intrinsic($(_: $type),*) $(-> $class)?;
        } }
        $($out =)? intrinsic($($value),*);
    }};
}

/// No call gets here: `isa/collective.rs` refuses it.
#[cfg(ptx_by_markers)]
macro_rules! intrinsic {
    ($variant:ident $words:tt [] $call:tt) => {
        unreachable!()
    };
    ($variant:ident $words:tt [$out:ident: $class:ident] $call:tt) => {
        $out = (|| -> $class { unreachable!() })();
    };
}
