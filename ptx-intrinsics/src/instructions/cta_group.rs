//! Whose barrier a copy may tell: that of the destination's block alone, or of its pair.

mod sealed {
    pub trait Sealed {}
}

/// How many blocks have the barrier among them that a copy tells: [`CtaGroup1`] or [`CtaGroup2`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a group of blocks",
    label = "PTX has `.cta_group::1` and `.cta_group::2`",
    note = "use `CtaGroup1` or `CtaGroup2`"
)]
pub trait CtaGroup: Copy + 'static + sealed::Sealed {
    /// 1 or 2.
    #[doc(hidden)]
    #[cfg(ptx_device)]
    const BLOCKS: u32;
}

macro_rules! groups {
    ($($(#[$doc:meta])* $name:ident $blocks:literal;)*) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct $name;

        impl sealed::Sealed for $name {}
        #[diagnostic::do_not_recommend]
        impl CtaGroup for $name {
            #[cfg(ptx_device)]
            const BLOCKS: u32 = $blocks;
        }
    )* };
}
groups! {
    /// The barrier is in the block of the destination. PTX: `.cta_group::1`.
    #[doc(alias = "cta_group::1")]
    CtaGroup1 1;
    /// The barrier is in the block of the destination, or in the other block of its pair: the blocks of a cluster whose numbers
    /// differ in the last bit are a pair. PTX: `.cta_group::2`.
    #[doc(alias = "cta_group::2")]
    CtaGroup2 2;
}

/// The groups as words of `instructions!`: `<G in cta_group>`.
macro_rules! cta_group {
    ($callback:ident $parameter:ident $row:tt) => {
        $callback! {
            @words $parameter [$crate::instructions::cta_group::CtaGroup]
            [$parameter::BLOCKS; (1 => ".cta_group::1" "CtaGroup1", Always) (_ => ".cta_group::2" "CtaGroup2", Always)]
            ".cta_group" "", $row
        }
    };
}
