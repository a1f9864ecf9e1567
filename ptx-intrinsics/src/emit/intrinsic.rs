//! A collective: a call of LLVM's intrinsic, of which LLVM knows that all threads of a warp come along. Of `asm!` it does not.

/// `{ "llvm.nvvm.redux.sync" O (value: u32, mask: u32) }`: its name, with the words of axes, and what it takes. What it gives is
/// the class of the result.
#[cfg(not(ptx_by_markers))]
macro_rules! intrinsic {
    ($manner:ident $words:tt [$($out:ident: $class:ident)?]
        { $name:literal $($word:ident $($more:literal)?)* ($($value:tt: $type:ty),*) }) => {{
        unsafe extern "unadjusted" {
            #[link_name = concat!($name $(, word!($manner $word $words) $(, $more)?)*)]
            fn intrinsic($(_: $type),*) $(-> $class)?;
        }
        $($out =)? intrinsic($($value),*);
    }};
}

/// No call gets here: `isa/collective.rs` refuses it.
#[cfg(ptx_by_markers)]
macro_rules! intrinsic {
    ($manner:ident $words:tt [] $call:tt) => {
        unreachable!()
    };
    ($manner:ident $words:tt [$out:ident: $class:ident] $call:tt) => {
        $out = (|| -> $class { unreachable!() })();
    };
}
