//! The threads that an access synchronises with.

use super::gate::{self, Gate};

mod sealed {
    pub trait Sealed {}
}

/// The threads that an ordered access synchronises with. As a value it is a [`ScopeWord`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a scope",
    label = "PTX has `.cta`, `.cluster`, `.gpu` and `.sys`",
    note = "use `Cta`, `Cluster`, `Gpu` or `Sys`"
)]
pub trait Scope: Copy + 'static + sealed::Sealed {
    /// The same scope as a value.
    #[doc(hidden)]
    const WORD: ScopeWord;
    #[doc(hidden)]
    type Gate: Gate;
    /// What an ordered `.b128` of this scope needs.
    #[doc(hidden)]
    type Gate128: Gate;
}

/// Each scope: its name, PTX's word, what it means, its gate, that of an ordered `.b128`, and the machine code of its example.
macro_rules! scopes {
    ($($name:ident $text:literal $says:literal $gate:ident, of_128_bits $gate128:ident, shown $sass:literal;)*) => {
        $(
            #[doc = concat!("`", $text, "`: ", $says, ".")]
            #[doc = ""]
            #[doc = concat!("PTX: `", $text, "`. ", needs!($gate))]
            #[doc = page! {
                atomic load concat!("ld_global::<NoHint, NoPrefetch>().relaxed::<", stringify!($name), ">()"),
                concat!("ld.relaxed", $text, ".global"),
                {$sass sm_90, ld ld_global ld_shared ld_shared_cluster st st_global st_shared st_shared_cluster}
            }]
            #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
            pub struct $name;

            impl sealed::Sealed for $name {}
            #[diagnostic::do_not_recommend]
            impl Scope for $name {
                const WORD: ScopeWord = ScopeWord::$name;
                type Gate = gate::$gate;
                type Gate128 = gate::$gate128;
            }
        )*

        words! {
            /// A [`Scope`] as a value.
            ScopeWord { $($name $text (stringify!($name)) $gate $says;)* }
        }

        /// The scopes as words of `instructions!`: `<S in scope>`.
        macro_rules! scope {
            ($callback:ident $parameter:ident $row:tt) => { $callback! {
                @words $parameter [$crate::isa::scope::Scope<Gate: $crate::isa::gate::OnTarget<$parameter>>]
                [$parameter::WORD; $(($crate::isa::scope::ScopeWord::$name => $text stringify!($name), $gate))*]
                ".scope" concat!(" `.cluster`: ", needs!(Clusters)), $row
            } };
        }
    };
}
scopes! {
    Cta ".cta" "among the threads of the block" Orders, of_128_bits Bits128, shown "LDG.E.STRONG.SM";
    Cluster ".cluster" "among the threads of the cluster" Clusters, of_128_bits Bits128, shown "LDG.E.STRONG.GPU";
    Gpu ".gpu" "among all threads on this GPU" Orders, of_128_bits Bits128, shown "LDG.E.STRONG.GPU";
    Sys ".sys" "among all threads on all GPUs and the host" Orders, of_128_bits Bits128System, shown "LDG.E.STRONG.SYS";
}

/// [`Gpu`], by the name that CUDA C++ gives it: so that the compiler knows the name, and says the right one.
#[deprecated = "PTX calls the threads of a device `.gpu`: write `Gpu`"]
pub type Device = Gpu;

/// The scope of an asynchronous release: `Gpu` or `Sys`.
#[diagnostic::on_unimplemented(
    message = "an asynchronous release cannot have the scope `{Self}`",
    label = "not a scope of this instruction",
    note = "it takes `Gpu` or `Sys`"
)]
pub trait AsyncScope: Scope {}
#[diagnostic::do_not_recommend]
impl AsyncScope for Gpu {}
#[diagnostic::do_not_recommend]
impl AsyncScope for Sys {}

/// Those scopes as words of `instructions!`: `<S in async_scope>`.
macro_rules! async_scope {
    ($callback:ident $parameter:ident $row:tt) => {
        $callback! {
            @words $parameter [$crate::isa::scope::AsyncScope]
            [$parameter::WORD; ($crate::isa::scope::ScopeWord::Gpu => ".gpu" "Gpu", Always) (_ => ".sys" "Sys", Always)]
            ".scope" "", $row
        }
    };
}
