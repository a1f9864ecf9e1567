//! Where an address points: PTX's state spaces.

use super::element::*;
use super::gate::{self, Gate};

mod sealed {
    pub trait Sealed {}
}

/// A state space. As a value it is a [`SpaceWord`].
#[diagnostic::on_unimplemented(message = "`{Self}` is not a state space")]
pub trait Space: Copy + 'static + sealed::Sealed {
    #[doc(hidden)]
    type Gate: Gate;
}

/// Global memory as `ld.global.nc` sees it, for the types of its loads: no space of its own.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub enum GlobalNc {}

/// A space of which one access can move a `T`.
#[diagnostic::on_unimplemented(
    message = "one access to `{Self}` cannot move a `{T}`: only global memory takes 256 bits at a time",
    label = "`{T}` is 256 bits wide",
    note = "use two halves of 128 bits, or a generic or global address"
)]
pub trait Holds<T>: Space {}

/// Each space: its name, PTX's word, what it means, what functions are called after it, its gate, its example. `word` ones are other words for a
/// space that has a marker.
macro_rules! spaces {
    ($($(#[$doc:meta])* $kind:ident $name:ident $text:literal $says:literal $suffix:literal $gate:ident $([$parameters:literal] $shown:tt)?;)*) => {
        $(spaces! { @$kind $(#[$doc])* $name $text ($says) $suffix $gate $([$parameters] $shown)? })*

        words! {
            /// The [`Space`] that an address is in, as a value; none for a generic address.
            SpaceWord { $($name $text $suffix $gate $says;)* }
        }
    };
    (@space $(#[$doc:meta])* $name:ident $text:literal ($($says:literal)?) $suffix:literal $gate:ident [$parameters:literal] $shown:tt) => {
        $(#[doc = concat!("`", $text, "`: ", $says, ".")])?
        $(#[$doc])*
        #[doc = page! { load concat!("ld", $suffix, $parameters, "()"), concat!("ld", $text), $shown }]
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct $name;

        impl sealed::Sealed for $name {}
        #[diagnostic::do_not_recommend]
        impl Space for $name {
            type Gate = gate::$gate;
        }
    };
    (@word $name:ident $text:literal $says:tt $suffix:literal $gate:ident) => {};
}
spaces! { @space
    /// Any space: the address says which.
    Generic "" () "" Always [""] {"LD.E" sm_90, ld st}
}
spaces! {
    space Global ".global" "global memory" "_global" Always ["::<NoHint, NoPrefetch>"] {"LDG.E" sm_90, ld_global ld_global_nc st_global};
    #[doc(alias = "shared::cta")]
    space Shared ".shared" "this block's shared memory" "_shared" Always [""] {"LDS" sm_90, ld_shared st_shared};
    word SharedCta ".shared::cta" "this block's shared memory" "_shared" SharedCta;
    #[doc(alias = "shared::cluster")]
    space SharedCluster ".shared::cluster" "shared memory of a block of the cluster" "_shared_cluster" Clusters [""] {"LD.E" sm_90, ld_shared_cluster st_shared_cluster};
    space Const ".const" "a constant bank" "_const" Always [""] {"LDC" sm_90, ld_const};
    space Local ".local" "the thread's own memory" "_local" Always [""] {"LDL" sm_90, ld_local st_local};
    word Param ".param" "the kernel's parameters" "_param_entry" ParamAddresses;
    #[doc(alias = "param::entry")]
    space ParamEntry ".param::entry" "a parameter of the kernel" "_param_entry" EntryParams [""] {"LDC" sm_90, ld_param_entry};
    #[doc(alias = "param::func")]
    space ParamFunc ".param::func" "a parameter of the function" "_param_func" FuncParams [""] {"LDL" sm_90, ld_param_func};
}

impl SpaceWord {
    /// Whether it is shared memory, of this block or of the cluster.
    #[inline]
    pub(crate) const fn is_shared(space: Option<Self>) -> bool {
        matches!(space, Some(Self::Shared | Self::SharedCta | Self::SharedCluster))
    }
}

macro_rules! holds {
    (() $({($t:ty) $word:tt $text:tt $class:ident $register:ident $width:ident $registers:tt})*) => {
        $(holds! { @$width $t })*
    };
    (@wide $t:ty) => {
        #[diagnostic::do_not_recommend]
        impl Holds<$t> for Generic {}
        #[diagnostic::do_not_recommend]
        impl Holds<$t> for Global {}
    };
    (@$narrow:ident $t:ty) => {
        #[diagnostic::do_not_recommend]
        impl<S: Space> Holds<$t> for S {}
    };
}
for_each_element! { holds () }
