//! How much a load brings into L2 beside what it asks for.

use super::gate::{self, Gate};

mod sealed {
    pub trait Sealed {}
}

/// The second parameter of a load: `.level::prefetch_size`. As a value it is a [`PrefetchSizeWord`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a prefetch size",
    label = "PTX has `.L2::64B`, `.L2::128B` and `.L2::256B`",
    note = "use `NoPrefetch`, `Prefetch64`, `Prefetch128` or `Prefetch256`"
)]
pub trait PrefetchSize: Copy + 'static + sealed::Sealed {
    /// Bytes; 0 where nothing is said.
    #[doc(hidden)]
    const BYTES: u32;
    #[doc(hidden)]
    type Gate: Gate;
}

/// No prefetch beside the load.
#[doc = page! { load "ld_global::<NoHint, NoPrefetch>()", "ld.global", {"LDG.E" sm_90, ld_global ld_global_nc} }]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NoPrefetch;

impl sealed::Sealed for NoPrefetch {}
#[diagnostic::do_not_recommend]
impl PrefetchSize for NoPrefetch {
    const BYTES: u32 = 0;
    type Gate = gate::Always;
}

/// Bring `BYTES` bytes into L2 beside what is loaded: [`Prefetch64`], [`Prefetch128`] or [`Prefetch256`]. A hint: it changes
/// no value.
///
/// On sm_80 alone, `.L2::256B` together with `.nc` or a cache operator is encoded as 128 bytes by the assembler.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Prefetch<const BYTES: u32>;

/// Each size: its name, the number of bytes, PTX's word, what it means, its gate, its example.
macro_rules! prefetch_sizes {
    ($($(#[$doc:meta])* $name:ident $bytes:literal $text:literal $says:literal $gate:ident $shown:tt;)*) => {
        $(
            #[doc = concat!("`", $text, "`: ", $says, ". ", needs!($gate))]
            #[doc = page! { load concat!("ld_global::<NoHint, ", stringify!($name), ">()"), concat!("ld.global", $text), $shown }]
            #[doc = when_it_pays!($name)]
            $(#[$doc])*
            pub type $name = Prefetch<$bytes>;

            impl sealed::Sealed for $name {}
            #[diagnostic::do_not_recommend]
            impl PrefetchSize for $name {
                const BYTES: u32 = $bytes;
                type Gate = gate::$gate;
            }
        )*

        words! {
            /// A [`PrefetchSize`] as a value.
            PrefetchSizeWord { $($name $text (stringify!($name)) $gate $says;)* }
        }

        /// The sizes as words of `instructions!`: `<P in prefetch_size>`.
        macro_rules! prefetch_size {
            ($callback:ident $parameter:ident $row:tt) => { $callback! {
                @words $parameter [$crate::isa::prefetch_size::PrefetchSize<Gate: $crate::isa::gate::OnTarget<$parameter>>]
                [$parameter::BYTES; (0 => "" "NoPrefetch", Always) $(($bytes => $text stringify!($name), $gate))* (_ => "" $crate::isa::row::SAME, Always)] // There is no other.
                "{.L2::prefetch_size}" concat!(" With a prefetch size: ", needs!(PrefetchSizes)), $row
            } };
        }
    };
}
prefetch_sizes! {
    #[doc(alias = "L2::64B")]
    Prefetch64 64 ".L2::64B" "L2 fetches the 64 bytes around it" PrefetchSizes {"LDG.E.LTC64B" sm_90, ld_global ld_global_nc};
    #[doc(alias = "L2::128B")]
    Prefetch128 128 ".L2::128B" "L2 fetches the 128 bytes around it" PrefetchSizes {"LDG.E.LTC128B" sm_90, ld_global ld_global_nc};
    #[doc(alias = "L2::256B")]
    Prefetch256 256 ".L2::256B" "L2 fetches the 256 bytes around it" PrefetchSize256 {"LDG.E.LTC256B" sm_90, ld_global ld_global_nc};
}
