//! The gates: at which SM and PTX ISA version something begins. Each gate is defined here, once, and has a name.
//!
//! A type that is gated names its gate, a function has it as a bound, and a [form](crate::catalogue::Form) knows all of
//! its gates. A gate begins at an SM, or it names targets with a suffix, of which one is enough: `[sm_90a sm_100f]`. The sentence "Needs sm_80 and ptx74." of the documentation, the flags of
//! [`Features`](crate::features::Features) and the numbers in error messages come from the same line.

use super::specific;
use super::target::{self, HasPtx, HasSm, Isa, Sm};

mod sealed {
    pub trait Sealed {}
}

/// A gate: the SM and the PTX ISA version at which something begins.
pub trait Gate: sealed::Sealed {
    /// The oldest SM, or the targets of which one is needed.
    type Sm: Sm;
    /// The oldest PTX ISA version.
    type Isa: Isa;
    /// This gate alone.
    #[doc(hidden)]
    const NEEDS: Needs;
}

/// The build's target passes the gate `Self`, as `What` needs. `At` is never read; it ties the bound to the call.
pub trait OnTarget<What: ?Sized, At: ?Sized = ()>: Gate {}

impl<G: Gate, What: ?Sized, At: ?Sized> OnTarget<What, At> for G
where
    G::Sm: HasSm<What, At, G::Isa>,
    G::Isa: HasPtx<What, At>,
{
}

/// A number as a type: `At` of a function that is generic over a number alone.
#[doc(hidden)]
pub struct Count<const N: u32>;

/// What something needs of a target: the gates that it has to pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Needs(u128);

/// What a gate is as data.
struct GateRow {
    sm: u32,
    ptx: u32,
    /// Where a number is not enough: the targets of which one is needed.
    targets: &'static [&'static str],
    has_sm: bool,
    has_ptx: bool,
}

impl Needs {
    /// What every target has.
    pub(crate) const NOTHING: Self = Self(0);

    #[inline]
    pub(crate) const fn of<G: Gate>() -> Self {
        G::NEEDS
    }

    #[inline]
    pub(crate) const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    #[inline]
    pub(crate) const fn and_if(self, condition: bool, other: Self) -> Self {
        if condition { self.and(other) } else { self }
    }

    /// One bit for each gate, in the order of the table.
    #[cfg(not(ptx_device))]
    pub(crate) const fn bits(self) -> u128 {
        self.0
    }

    /// The oldest SM: 80 for sm_80.
    #[inline]
    pub const fn sm(self) -> u32 {
        self.newest().0
    }

    /// The oldest PTX ISA version: 74 for 7.4.
    #[inline]
    pub const fn ptx(self) -> u32 {
        self.newest().1
    }

    /// The newest SM and the newest PTX ISA version of its gates.
    #[inline]
    const fn newest(self) -> (u32, u32) {
        let (mut sm, mut ptx, mut at) = (20, 20, 0);
        while at < GATES.len() {
            if self.has(at) {
                let gate = &GATES[at];
                sm = if gate.sm > sm { gate.sm } else { sm };
                ptx = if gate.ptx > ptx { gate.ptx } else { ptx };
            }
            at += 1;
        }
        (sm, ptx)
    }

    /// The targets of which it needs one, where the number of an SM is not enough: `["sm_90a", "sm_100f"]`. Of its gates one has
    /// some.
    #[inline]
    pub const fn targets(self) -> &'static [&'static str] {
        let mut at = 0;
        while at < GATES.len() {
            if self.has(at) && !GATES[at].targets.is_empty() {
                return GATES[at].targets;
            }
            at += 1;
        }
        &[]
    }

    /// Whether the build's GPU is new enough.
    #[inline]
    pub(crate) const fn has_sm(self) -> bool {
        self.0 & !OPEN.0 == 0
    }

    /// Whether the build's PTX ISA version is new enough.
    #[inline]
    pub(crate) const fn has_ptx(self) -> bool {
        self.0 & !OPEN.1 == 0
    }

    #[inline]
    const fn has(self, gate: usize) -> bool {
        self.0 >> gate & 1 == 1
    }
}

/// The gates that the build's SM passes, and those that its PTX ISA version passes. They are put together once, since `ptx!` asks
/// for each access.
const OPEN: (u128, u128) = {
    let (mut sms, mut versions, mut at) = (0, 0, 0);
    while at < GATES.len() {
        sms |= (GATES[at].has_sm as u128) << at;
        versions |= (GATES[at].has_ptx as u128) << at;
        at += 1;
    }
    (sms, versions)
};

/// What has no gate: sm_20 and PTX ISA 2.0, with which all of it began.
pub enum Always {}
impl sealed::Sealed for Always {}
impl Gate for Always {
    type Sm = target::sm_20;
    type Isa = target::ptx20;
    const NEEDS: Needs = Needs::NOTHING;
}

/// What a gate needs of the GPU, as a type.
macro_rules! gpu {
    ([$only:ident]) => { specific::OneOf<specific::$only> };
    ([$($target:ident)+]) => { specific::OneOf<($(specific::$target),+)> };
    ($sm:ident) => { target::$sm };
}

/// The sentence of the documentation.
macro_rules! sentence {
    ([$only:ident] $isa:ident) => { sentence!($only $isa) };
    ([$($target:ident)+] $isa:ident) => { concat!("Needs ", sentence!(@or $($target)+), ", and ", stringify!($isa), ".") };
    ($sm:ident $isa:ident) => { concat!("Needs ", stringify!($sm), " and ", stringify!($isa), ".") };
    (@or $one:ident $last:ident) => { concat!(stringify!($one), " or ", stringify!($last)) };
    (@or $one:ident $($other:ident)+) => { concat!(stringify!($one), ", ", sentence!(@or $($other)+)) };
}

macro_rules! gates {
    ($($(#[$($doc:tt)*])* $gate:ident $flag:ident $sm:tt $isa:ident;)*) => {
        /// The number of each gate.
        #[derive(Clone, Copy)]
        enum Number { $($gate),* }

        const GATES: &[GateRow] = &[$(GateRow {
            sm: <gpu!($sm) as Sm>::NUMBER,
            ptx: <target::$isa as Isa>::NUMBER,
            targets: <gpu!($sm) as Sm>::TARGETS,
            has_sm: <gpu!($sm) as Sm>::REACHED,
            has_ptx: <target::$isa as Isa>::REACHED,
        }),*];

        $(
            $(#[$($doc)*])*
            ///
            #[doc = sentence!($sm $isa)]
            pub enum $gate {}
            impl sealed::Sealed for $gate {}
            impl Gate for $gate {
                type Sm = gpu!($sm);
                type Isa = target::$isa;
                const NEEDS: Needs = Needs(1 << Number::$gate as u32);
            }
        )*

        /// What a gate needs, as a text: `needs!(CacheHint)` is `"Needs sm_80 and ptx74."`.
        macro_rules! needs {
            (Always) => { "Needs sm_20 and ptx20." };
            $(($gate) => { sentence!($sm $isa) };)*
        }

        /// Calls `$callback! { {#[doc] FLAG Gate sm isa} … }` with every gate.
        #[cfg(not(ptx_device))]
        macro_rules! for_each_gate {
            ($callback:ident) => { $callback! { $({$(#[$($doc)*])* $flag $gate $sm $isa})* } };
        }
    };
}

gates! {
    /// `ld.global.nc`.
    NonCoherent NON_COHERENT sm_32 ptx31;
    /// L1 eviction priorities, `.L1::evict_…` and `.L1::no_allocate`.
    L1Priorities L1_PRIORITY sm_70 ptx74;
    /// Prefetch sizes `.L2::64B` and `.L2::128B`.
    PrefetchSizes PREFETCH_SIZE sm_75 ptx74;
    /// Prefetch size `.L2::256B`.
    PrefetchSize256 PREFETCH_256 sm_80 ptx74;
    /// Cache policies, `.L2::cache_hint`, `createpolicy`, `applypriority` and `discard`.
    CacheHint CACHE_HINT sm_80 ptx74;
    /// `prefetch.global` with an L2 eviction priority.
    PrefetchPriorities PREFETCH_PRIORITY sm_80 ptx74;
    /// `prefetch.tensormap`.
    TensorMap TENSORMAP sm_90 ptx80;
    /// `.b128`.
    Bits128 B128 sm_70 ptx83;
    /// 256-bit types, L2 eviction priorities and sinks on them.
    Bits256 WIDE sm_100 ptx88;
    /// `.relaxed`, `.acquire` and `.release`.
    Orders ORDER sm_70 ptx60;
    /// The scope `.cluster` and the space `.shared::cluster`.
    Clusters CLUSTER sm_90 ptx78;
    /// `.mmio.relaxed.sys`.
    MemoryMapped MMIO sm_70 ptx82;
    /// `.b128` at the scope of the system.
    Bits128System B128_SYS sm_70 ptx84;
    /// `.param::func`.
    FuncParams PARAM sm_20 ptx83;
    /// `.param::entry` through a generic pointer.
    EntryParams PARAM_ENTRY sm_70 ptx83;
    /// `.volatile` on local memory.
    VolatileLocal VOLATILE_LOCAL sm_20 ptx91;
    /// `and`, `or`, `xor`, `min` and `max` of 64 bits by `atom` and `red`.
    Atomic64 ATOMIC_64 sm_32 ptx31;
    /// A scope on `atom` and `red`, and `.add.f64`.
    AtomicScopes ATOMIC_SCOPE sm_60 ptx50;
    /// Atomic `.add.noftz.f16x2`.
    AtomicF16x2 ATOMIC_F16X2 sm_60 ptx62;
    /// Atomic `.add.noftz.f16` and `.cas.b16`.
    Atomic16 ATOMIC_16 sm_70 ptx63;
    /// Atomic `.add.noftz.bf16` and `.bf16x2`.
    AtomicBf16 ATOMIC_BF16 sm_90 ptx78;
    /// Vectors by `atom` and `red`.
    AtomicVectors ATOMIC_VECTOR sm_90 ptx81;
    /// Atomic `.exch.b128` and `.cas.b128`.
    Atomic128 ATOMIC_128 sm_90 ptx83;
    /// Atomic `.add.noftz.f32`.
    AtomicF32Noftz ATOMIC_F32_NOFTZ sm_90 ptx94;
    /// `cp.async`, `mbarrier`.
    AsyncCopies ASYNC_COPY sm_80 ptx70;
    /// `mbarrier.test_wait.parity`.
    Parity PARITY sm_80 ptx71;
    /// `cp.async` that ignores its source under a predicate.
    AsyncIgnore ASYNC_IGNORE sm_80 ptx75;
    /// `mbarrier.try_wait`, and arrivals by a count.
    TryWait TRY_WAIT sm_90 ptx78;
    /// `mbarrier.init` with a layout.
    BarrierLayouts BARRIER_LAYOUT sm_90 ptx93;
    /// Barriers that expect bytes, barriers of the cluster, `cp.async.bulk`.
    BulkCopies BULK_COPY sm_90 ptx80;
    /// `.relaxed` at a barrier, `cp.async.bulk.shared::cta`.
    BulkCopiesCta BULK_COPY_CTA sm_90 ptx86;
    /// `cp.async.bulk.tensor` of four rows, `.tile::gather4`.
    GatherRows GATHER_ROWS sm_100 ptx86;
    /// `cp.async.bulk.tensor` along the width of an image, `.im2col::w`.
    WidthColumns WIDTH_COLUMNS sm_100 ptx86;
    /// `cp.async.bulk.tensor` with `.cta_group`, with `.tile::scatter4`, with `.im2col::w::128`, and of four rows or along the width of an
    /// image into the cluster or into L2.
    FamilyTensorCopies TENSOR_COPY_FAMILY [sm_100f sm_110f] ptx86;
    /// `tensormap.replace`.
    TensorMapChanges TENSORMAP_REPLACE [sm_90a sm_100f sm_110f sm_120f] ptx83;
    /// `tensormap.replace` of what a swizzle moves.
    TensorMapAtomicity TENSORMAP_ATOMICITY [sm_100f sm_110f sm_120f] ptx86;
    /// `cp.async.bulk` of some bytes of each 16, `.cp_mask`.
    BulkCopyMask BULK_COPY_MASK sm_100 ptx86;
    /// `st.bulk`.
    BulkStores BULK_STORE sm_100 ptx86;
    /// `st.async` and `red.async` that a barrier waits for.
    AsyncStores ASYNC_STORE sm_90 ptx81;
    /// `st.async` and `red.async` that release.
    AsyncReleases ASYNC_RELEASE sm_100 ptx87;
    /// `multimem.st.async` and `multimem.red.async`.
    MultimemReleases MULTIMEM_RELEASE sm_100 ptx93;
    /// `cp.async.bulk` without what lies outside, `.ignore_oob`.
    BulkCopyPart BULK_COPY_PART sm_90 ptx92;
    /// `fence.sc` and `fence.acq_rel`.
    Fences FENCE sm_70 ptx60;
    /// `fence.acquire` and `fence.release`.
    OneWayFences FENCE_ONE_WAY sm_90 ptx86;
    /// `fence.proxy.alias` one way, and fences of reads alone, `::read`.
    ReadFences FENCE_READ sm_90 ptx94;
    /// `fence.proxy.alias`.
    ProxyAlias FENCE_PROXY sm_70 ptx75;
    /// `membar.proxy.alias`.
    MembarProxy MEMBAR_PROXY sm_60 ptx75;
    /// Fences of barriers and of asynchronous copies.
    AsyncFences FENCE_ASYNC sm_90 ptx80;
    /// Fences of tensor maps.
    TensorMapFences FENCE_TENSORMAP sm_90 ptx83;
    /// `isspacep` and `cvta` of constant memory.
    ConstAddresses CONST_ADDRESS sm_20 ptx31;
    /// `isspacep` and `cvta` of a kernel's parameters.
    ParamAddresses PARAM_ADDRESS sm_70 ptx77;
    /// `.shared::cta`.
    SharedCta SHARED_CTA sm_30 ptx78;
    /// `barrier`.
    Barriers BARRIER sm_30 ptx60;
    /// `barrier.cluster.arrive.relaxed`.
    RelaxedArrivals CLUSTER_ARRIVE_RELAXED sm_90 ptx80;
    /// `multimem`.
    Multimems MULTIMEM sm_90 ptx81;
    /// `multimem.ld_reduce` with sums in `f32`, `.acc::f32`.
    MultimemSums MULTIMEM_SUM sm_90 ptx82;
    /// `multimem` of floats of 8 bits, and `.acc::f16`.
    MultimemFp8 MULTIMEM_FP8 [sm_100f sm_110f sm_120a sm_121a] ptx86;
    /// `elect.sync`.
    Election ELECTION sm_90 ptx80;
    /// `redux.sync`.
    Reductions REDUX sm_80 ptx70;
    /// `redux.sync` of floats. A target with a suffix has them, from sm_100 to sm_107.
    FloatReductions REDUX_FLOAT [sm_100f] ptx86;
    /// `setmaxnreg`.
    RegisterCounts SETMAXNREG [sm_90a sm_100f sm_110f sm_120f] ptx80;
    /// `match.sync`.
    Matches MATCH sm_70 ptx60;
    /// `griddepcontrol`.
    GridControl GRIDDEPCONTROL sm_90 ptx78;
    /// `clusterlaunchcontrol`.
    LaunchControl LAUNCH_CONTROL sm_100 ptx86;
    /// `clusterlaunchcontrol.try_cancel` for all blocks of a cluster.
    LaunchControlCluster LAUNCH_CONTROL_CLUSTER [sm_100f sm_110f sm_120f] ptx86;
    /// `nanosleep`. The assembler has it since PTX ISA 6.2, the page says 6.3.
    Sleep NANOSLEEP sm_70 ptx62;
    /// `activemask`.
    ActiveMask ACTIVEMASK sm_30 ptx62;
    /// `%globaltimer`.
    GlobalTimer GLOBALTIMER sm_30 ptx31;
    /// `tanh.approx`, and `ex2.approx` of `f16x2`, of ptx-kernel.
    TanhApprox TANH_APPROX sm_75 ptx70;
    /// Two floats of 16 bits made of two of 32 bits, in ptx-kernel.
    PackedFloats PACKED_FLOATS sm_80 ptx70;
    /// `fma` of `bf16x2`, `min` and `max` of pairs, and `cvt.rn.bf16.f32`, in ptx-kernel.
    PackedMath PACKED_MATH sm_80 ptx70;
    /// `add`, `sub`, `mul`, `ex2` and `tanh` of `bf16x2`, in ptx-kernel.
    PackedBf16 PACKED_BF16 sm_90 ptx78;
    /// Conversions of pairs of FP8, in ptx-kernel.
    Fp8Conversions FP8 sm_89 ptx81;
    /// `bmsk` of ptx-kernel.
    BitMasks BMSK sm_70 ptx76;
    /// `%aggr_smem_size` of ptx-kernel.
    AllShared AGGR_SMEM sm_90 ptx81;
    /// `%current_graph_exec` of ptx-kernel. The page says sm_50, which Rust does not build for.
    GraphExec GRAPH_EXEC sm_30 ptx80;
    /// `dp4a` and `dp2a` of ptx-kernel.
    Dp4a DP4A sm_61 ptx50;
    /// `mma.sync` of `m8n8k4` and `f16`, in ptx-kernel.
    QuadMatrices MMA_QUAD sm_70 ptx64;
    /// `ldmatrix`, and `mma.sync` of `m8n8` and integers, and of `m16n8k8` and `f16`, in ptx-kernel.
    Matrices MATRIX sm_75 ptx65;
    /// `mma.sync` of `f64`, `tf32`, `bf16`, and of `m16n8`, in ptx-kernel.
    WideMatrices MMA_WIDE sm_80 ptx70;
    /// `mma.sync` of bits that are both set, in ptx-kernel.
    BitMatricesAnd MMA_BITS_AND sm_80 ptx71;
    /// `mma.sync` of `m16n8k32` and FP8 with sums of `f32`, in ptx-kernel.
    Fp8Matrices MMA_FP8 sm_89 ptx84;
    /// `mma.sync` of FP8 with sums of `f16`, or of `m16n8k16`, in ptx-kernel.
    ShortFp8Matrices MMA_FP8_SHORT sm_89 ptx87;
    /// `stmatrix`, and `mma.sync` of `m16n8` and `f64`, in ptx-kernel.
    MatrixStores MATRIX_STORE sm_90 ptx78;
    /// `ldmatrix` and `stmatrix` of 8 bits and less, in ptx-kernel.
    ByteMatrices MATRIX_BYTES [sm_100f sm_110f sm_120f] ptx86;
}
