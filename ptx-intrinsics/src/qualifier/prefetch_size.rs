//! How much a load brings into L2 beside what it asks for.

use super::target::{self, ptx20, ptx74, sm_20, sm_75, sm_80};

/// The second parameter of a load: `.level::prefetch_size`.
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
    type Sm: target::Sm;
    #[doc(hidden)]
    type Isa: target::Isa;
}

mod sealed {
    pub trait Sealed {}
}

/// No prefetch beside the load.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NoPrefetch;

/// Bring `BYTES` bytes into L2 beside what is loaded: `.L2::64B`, `.L2::128B` (sm_75) or `.L2::256B` (sm_80);
/// PTX ISA 7.4. A hint: it changes no value.
///
/// On sm_80 alone, `.L2::256B` together with `.nc` or a cache operator is encoded as 128 bytes by the assembler.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Prefetch<const BYTES: u32>;

/// `.L2::64B`: needs sm_75 and PTX ISA 7.4.
#[doc(alias = "L2::64B")]
pub type Prefetch64 = Prefetch<64>;
/// `.L2::128B`: needs sm_75 and PTX ISA 7.4.
#[doc(alias = "L2::128B")]
pub type Prefetch128 = Prefetch<128>;
/// `.L2::256B`: needs sm_80 and PTX ISA 7.4.
#[doc(alias = "L2::256B")]
pub type Prefetch256 = Prefetch<256>;

macro_rules! prefetch_size {
    ($($t:ty, $bytes:literal $sm:ident $ptx:ident;)*) => { $(
        impl sealed::Sealed for $t {}
        #[diagnostic::do_not_recommend]
        impl PrefetchSize for $t {
            const BYTES: u32 = $bytes;
            type Sm = $sm;
            type Isa = $ptx;
        }
    )* };
}
prefetch_size! {
    NoPrefetch, 0 sm_20 ptx20;
    Prefetch<64>, 64 sm_75 ptx74;
    Prefetch<128>, 128 sm_75 ptx74;
    Prefetch<256>, 256 sm_80 ptx74;
}
