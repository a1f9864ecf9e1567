//! Where an address points: PTX's state spaces.

use super::target;
use crate::element::*;

mod sealed {
    pub trait Sealed {}
}

/// A state space.
#[diagnostic::on_unimplemented(message = "`{Self}` is not a state space")]
pub trait Space: Copy + 'static + sealed::Sealed {
    #[doc(hidden)]
    type Sm: target::Sm;
    #[doc(hidden)]
    type Isa: target::Isa;
}

/// One access to the space `S` can move a `Self`.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "one access to `{S}` cannot move a `{Self}`: 256 bits at a time go only to global memory",
    label = "`{Self}` is 256 bits wide",
    note = "use two halves of 128 bits, or a generic or global address"
)]
pub trait Fits<S>: PtxType {}

macro_rules! spaces {
    ($($(#[$doc:meta])* $name:ident $sm:ident $isa:ident;)*) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct $name;

        impl sealed::Sealed for $name {}
        #[diagnostic::do_not_recommend]
        impl Space for $name {
            type Sm = target::$sm;
            type Isa = target::$isa;
        }
    )* };
}
spaces! {
    /// Any space: the address says which.
    Generic sm_20 ptx20;
    /// `.global`: memory that all threads share.
    Global sm_20 ptx20;
    /// `.shared`, which is `.shared::cta`: memory of this block.
    #[doc(alias = "shared::cta")]
    Shared sm_20 ptx20;
    /// `.shared::cluster`: memory of a block in this cluster.
    #[doc(alias = "shared::cluster")]
    SharedCluster sm_90 ptx78;
    /// `.const`: the constant bank.
    Const sm_20 ptx20;
    /// `.local`: this thread's own memory.
    Local sm_20 ptx20;
    /// `.param::entry`: a parameter of the kernel.
    #[doc(alias = "param::entry")]
    ParamEntry sm_70 ptx83;
    /// `.param::func`: a parameter of a device function.
    #[doc(alias = "param::func")]
    ParamFunc sm_20 ptx83;
}

macro_rules! fits {
    (() $({($t:ty) $word:tt $text:tt $shape:ident $class:ident $register:ident $width:ident})*) => {
        $(fits! { @$width $t })*
    };
    (@wide $t:ty) => {
        #[diagnostic::do_not_recommend]
        impl Fits<Generic> for $t {}
        #[diagnostic::do_not_recommend]
        impl Fits<Global> for $t {}
    };
    (@$narrow:ident $t:ty) => {
        #[diagnostic::do_not_recommend]
        impl<S: Space> Fits<S> for $t {}
    };
}
for_each_element! { fits () }
