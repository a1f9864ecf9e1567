//! What a GPU and a PTX ISA version offer, as flags: for host programs that choose which kernel image to load.

use bitflags::bitflags;

use crate::catalogue::{Form, Operation};

bitflags! {
    /// Parts of the instructions that not every target has.
    ///
    /// ```
    /// use ptx_intrinsics::features::Features;
    ///
    /// let h100 = Features::of(90, 78);
    /// assert!(h100.contains(Features::CACHE_HINT | Features::PREFETCH_256));
    /// assert!(!h100.contains(Features::WIDE));
    /// ```
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub struct Features: u64 {
        /// `ld.global.nc`: sm_32, PTX ISA 3.1.
        const NON_COHERENT = 1 << 0;
        /// L1 eviction priorities, `.L1::evict_…` and `.L1::no_allocate`: sm_70, PTX ISA 7.4.
        const L1_PRIORITY = 1 << 1;
        /// Prefetch sizes `.L2::64B` and `.L2::128B`: sm_75, PTX ISA 7.4.
        const PREFETCH_SIZE = 1 << 2;
        /// Prefetch size `.L2::256B`: sm_80, PTX ISA 7.4.
        const PREFETCH_256 = 1 << 3;
        /// Cache policies, `.L2::cache_hint`: sm_80, PTX ISA 7.4.
        const CACHE_HINT = 1 << 4;
        /// `prefetch.global` with an L2 eviction priority: sm_80, PTX ISA 7.4.
        const PREFETCH_PRIORITY = 1 << 5;
        /// `prefetch.tensormap`: sm_90, PTX ISA 8.0.
        const TENSORMAP = 1 << 6;
        /// `.b128`: sm_70, PTX ISA 8.3.
        const B128 = 1 << 7;
        /// 256-bit types, L2 eviction priorities and sinks on them: sm_100, PTX ISA 8.8.
        const WIDE = 1 << 8;
        /// `.relaxed`, `.acquire` and `.release`: sm_70, PTX ISA 6.0.
        const ORDER = 1 << 9;
        /// The scope `.cluster` and the space `.shared::cluster`: sm_90, PTX ISA 7.8.
        const CLUSTER = 1 << 10;
        /// `.mmio.relaxed.sys`: sm_70, PTX ISA 8.2.
        const MMIO = 1 << 11;
        /// `.b128` at the scope of the system: sm_70, PTX ISA 8.4.
        const B128_SYS = 1 << 12;
        /// `.param::func`: PTX ISA 8.3.
        const PARAM = 1 << 13;
        /// `.param::entry` through a generic pointer: sm_70, PTX ISA 8.3.
        const PARAM_ENTRY = 1 << 14;
        /// `.volatile` on local memory: PTX ISA 9.1.
        const VOLATILE_LOCAL = 1 << 15;
        /// `and`, `or`, `xor`, `min` and `max` of 64 bits by `atom` and `red`: sm_32, PTX ISA 3.1.
        const ATOMIC_64 = 1 << 16;
        /// A scope on `atom` and `red`, and `.add.f64`: sm_60, PTX ISA 5.0.
        const ATOMIC_SCOPE = 1 << 17;
        /// Atomic `.add.noftz.f16x2`: sm_60, PTX ISA 6.2.
        const ATOMIC_F16X2 = 1 << 18;
        /// Atomic `.add.noftz.f16` and `.cas.b16`: sm_70, PTX ISA 6.3.
        const ATOMIC_16 = 1 << 19;
        /// Atomic `.add.noftz.bf16` and `.bf16x2`: sm_90, PTX ISA 7.8.
        const ATOMIC_BF16 = 1 << 20;
        /// Vectors by `atom` and `red`: sm_90, PTX ISA 8.1.
        const ATOMIC_VECTOR = 1 << 21;
        /// Atomic `.exch.b128` and `.cas.b128`: sm_90, PTX ISA 8.3.
        const ATOMIC_128 = 1 << 22;
        /// Atomic `.add.noftz.f32`: sm_90, PTX ISA 9.4.
        const ATOMIC_F32_NOFTZ = 1 << 23;
        /// `cp.async`, `mbarrier`: sm_80, PTX ISA 7.0.
        const ASYNC_COPY = 1 << 24;
        /// `mbarrier.test_wait.parity`: sm_80, PTX ISA 7.1.
        const PARITY = 1 << 25;
        /// `cp.async` that ignores its source under a predicate: sm_80, PTX ISA 7.5.
        const ASYNC_IGNORE = 1 << 26;
        /// `mbarrier.try_wait`, and arrivals by a count: sm_90, PTX ISA 7.8.
        const TRY_WAIT = 1 << 27;
        /// Barriers that expect bytes, barriers of the cluster, `cp.async.bulk`: sm_90, PTX ISA 8.0.
        const BULK_COPY = 1 << 28;
        /// `.relaxed` at a barrier, `cp.async.bulk.shared::cta`: sm_90, PTX ISA 8.6.
        const BULK_COPY_CTA = 1 << 29;
        /// `cp.async.bulk` of some bytes of each 16, `.cp_mask`: sm_100, PTX ISA 8.6.
        const BULK_COPY_MASK = 1 << 30;
        /// `cp.async.bulk` without what lies outside, `.ignore_oob`: sm_90, PTX ISA 9.2.
        const BULK_COPY_PART = 1 << 31;
        /// `fence.sc` and `fence.acq_rel`: sm_70, PTX ISA 6.0.
        const FENCE = 1 << 32;
        /// `fence.acquire` and `fence.release`: sm_90, PTX ISA 8.6.
        const FENCE_ONE_WAY = 1 << 33;
        /// `fence.proxy.alias`: sm_70, PTX ISA 7.5.
        const FENCE_PROXY = 1 << 34;
        /// `membar.proxy.alias`: sm_60, PTX ISA 7.5.
        const MEMBAR_PROXY = 1 << 35;
        /// Fences of barriers and of asynchronous copies: sm_90, PTX ISA 8.0.
        const FENCE_ASYNC = 1 << 36;
        /// Fences of tensor maps: sm_90, PTX ISA 8.3.
        const FENCE_TENSORMAP = 1 << 37;
        /// `isspacep` and `cvta` of constant memory: sm_20, PTX ISA 3.1.
        const CONST_ADDRESS = 1 << 38;
        /// `isspacep` and `cvta` of a kernel's parameters: sm_70, PTX ISA 7.7.
        const PARAM_ADDRESS = 1 << 39;
        /// `.shared::cta`: sm_30, PTX ISA 7.8.
        const SHARED_CTA = 1 << 40;
    }
}

/// Where each begins: SM and PTX ISA version.
const BEGINS: [(Features, u32, u32); 41] = [
    (Features::NON_COHERENT, 32, 31),
    (Features::L1_PRIORITY, 70, 74),
    (Features::PREFETCH_SIZE, 75, 74),
    (Features::PREFETCH_256, 80, 74),
    (Features::CACHE_HINT, 80, 74),
    (Features::PREFETCH_PRIORITY, 80, 74),
    (Features::TENSORMAP, 90, 80),
    (Features::B128, 70, 83),
    (Features::WIDE, 100, 88),
    (Features::ORDER, 70, 60),
    (Features::CLUSTER, 90, 78),
    (Features::MMIO, 70, 82),
    (Features::B128_SYS, 70, 84),
    (Features::PARAM, 20, 83),
    (Features::PARAM_ENTRY, 70, 83),
    (Features::VOLATILE_LOCAL, 20, 91),
    (Features::ATOMIC_64, 32, 31),
    (Features::ATOMIC_SCOPE, 60, 50),
    (Features::ATOMIC_F16X2, 60, 62),
    (Features::ATOMIC_16, 70, 63),
    (Features::ATOMIC_BF16, 90, 78),
    (Features::ATOMIC_VECTOR, 90, 81),
    (Features::ATOMIC_128, 90, 83),
    (Features::ATOMIC_F32_NOFTZ, 90, 94),
    (Features::ASYNC_COPY, 80, 70),
    (Features::PARITY, 80, 71),
    (Features::ASYNC_IGNORE, 80, 75),
    (Features::TRY_WAIT, 90, 78),
    (Features::BULK_COPY, 90, 80),
    (Features::BULK_COPY_CTA, 90, 86),
    (Features::BULK_COPY_MASK, 100, 86),
    (Features::BULK_COPY_PART, 90, 92),
    (Features::FENCE, 70, 60),
    (Features::FENCE_ONE_WAY, 90, 86),
    (Features::FENCE_PROXY, 70, 75),
    (Features::MEMBAR_PROXY, 60, 75),
    (Features::FENCE_ASYNC, 90, 80),
    (Features::FENCE_TENSORMAP, 90, 83),
    (Features::CONST_ADDRESS, 20, 31),
    (Features::PARAM_ADDRESS, 70, 77),
    (Features::SHARED_CTA, 30, 78),
];

impl Features {
    /// What SM `sm` (80 for sm_80) offers in PTX ISA version `ptx` (74 for 7.4).
    #[must_use]
    pub const fn of(sm: u32, ptx: u32) -> Self {
        let mut features = Self::empty();
        let mut at = 0;
        while at < BEGINS.len() {
            let (feature, first_sm, first_ptx) = BEGINS[at];
            if sm >= first_sm && ptx >= first_ptx {
                features = features.union(feature);
            }
            at += 1;
        }
        features
    }
}

impl Form {
    /// What the form needs of a target. A target has the form exactly if it offers all of these.
    #[must_use]
    pub fn features(&self) -> Features {
        let says = |text: &str| self.ptx().contains(text);
        let is = |instructions: &[&str]| instructions.contains(&self.instruction());
        let moves = self.operation() != Operation::Other;
        let prefetch = says("prefetch");
        let atomic = self.is_atomic();
        let vector = says(".v2.") || says(".v4.") || says(".v8.");
        let long = [".b64", ".u64", ".s64"].iter().any(|ty| says(ty));
        let scope = [".cta", ".cluster", ".gpu", ".sys"].iter().any(|scope| says(scope));
        let old_long = says(".exch") || says(".cas") || says(".add");
        // What came together with the policies.
        let policy = is(&["createpolicy", "applypriority", "discard"]);
        let operands = self.signature().map_or("", |signature| signature.operands);
        let mbarrier = self.instruction() == "mbarrier";
        let transfers = mbarrier && (says("_tx") || says("cluster"));
        let counts_bytes = says("mbarrier.expect_tx") || says("mbarrier.complete_tx");
        let relaxed = mbarrier && says(".relaxed") && !counts_bytes;
        // An arrival by a count, or a wait for a time.
        let counts = mbarrier && !says(".noComplete") && says(".arrive") && operands.ends_with("], %");
        let spelled = [
            (Features::NON_COHERENT, says(".nc")),
            (Features::L1_PRIORITY, moves && says(".L1::")),
            (Features::PREFETCH_SIZE, says(".L2::64B") || says(".L2::128B")),
            (Features::PREFETCH_256, says(".L2::256B")),
            (Features::CACHE_HINT, says(".L2::cache_hint") || policy),
            (Features::PREFETCH_PRIORITY, prefetch && says(".L2::evict")),
            (Features::TENSORMAP, says(".tensormap")),
            (Features::B128, says(".b128")),
            (Features::WIDE, self.bytes() == 32),
            (Features::ORDER, [".relaxed", ".acquire", ".release", ".acq_rel"].iter().any(|order| says(order))),
            (Features::CLUSTER, says("cluster") || is(&["mapa", "getctarank"])),
            (Features::MMIO, says(".mmio")),
            (Features::B128_SYS, says(".sys") && says(".b128")),
            (Features::PARAM, says(".param::func")),
            (Features::PARAM_ENTRY, says(".param::entry")),
            (Features::VOLATILE_LOCAL, says(".volatile.local")),
            (Features::ATOMIC_64, atomic && long && !old_long),
            (Features::ATOMIC_SCOPE, atomic && (scope || says(".f64"))),
            (Features::ATOMIC_F16X2, atomic && says(".f16x2")),
            (Features::ATOMIC_16, atomic && (says(".f16") && !says(".f16x2") || says(".b16"))),
            (Features::ATOMIC_BF16, atomic && says(".bf16")),
            (Features::ATOMIC_VECTOR, atomic && vector),
            (Features::ATOMIC_128, atomic && says(".b128")),
            (Features::ATOMIC_F32_NOFTZ, atomic && says(".noftz") && says(".f32")),
            (Features::ASYNC_COPY, mbarrier || says("cp.async")),
            (Features::PARITY, says(".parity")),
            (Features::ASYNC_IGNORE, operands.contains("%ignore")),
            (Features::TRY_WAIT, says(".try_wait") || counts),
            (Features::BULK_COPY, transfers || says("cp.async.bulk")),
            (Features::BULK_COPY_CTA, relaxed || says(".bulk.shared::cta")),
            (Features::BULK_COPY_MASK, says(".cp_mask")),
            (Features::BULK_COPY_PART, says(".ignore_oob")),
            (Features::FENCE, says("fence.sc") || says("fence.acq_rel")),
            (
                Features::FENCE_ONE_WAY,
                ["fence.acquire", "fence.release", "fence.proxy.async::generic"].iter().any(|fence| says(fence)),
            ),
            (Features::FENCE_PROXY, says("fence.proxy.alias")),
            (Features::MEMBAR_PROXY, says("membar.proxy.alias")),
            (Features::FENCE_ASYNC, says(".proxy.async") || says("fence.mbarrier_init")),
            (Features::FENCE_TENSORMAP, says("fence.proxy.tensormap")),
            (Features::CONST_ADDRESS, is(&["isspacep", "cvta"]) && says(".const")),
            (Features::PARAM_ADDRESS, is(&["isspacep", "cvta"]) && says(".param")),
            (Features::SHARED_CTA, is(&["isspacep", "cvta"]) && says(".shared::cta")),
        ];
        let needed = spelled.into_iter().filter(|&(_, says)| says);
        needed.map(|(feature, ..)| feature).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_has_a_form_exactly_if_it_offers_its_features() {
        let mut asked = 0;
        for form in crate::catalogue::forms() {
            let features = form.features();
            for sm in [30, 32, 50, 61, 70, 75, 80, 89, 90, 100, 121] {
                for ptx in
                    [30, 31, 50, 60, 62, 63, 70, 71, 73, 74, 75, 77, 78, 80, 81, 82, 83, 84, 86, 87, 88, 90, 91, 92, 94]
                {
                    let has = form.min_sm() <= sm && form.min_ptx() <= ptx;
                    assert_eq!(Features::of(sm, ptx).contains(features), has, "{} on {sm}, {ptx}", form.ptx());
                    asked += 1;
                }
            }
        }
        assert_eq!(asked, 80_704 * 275);
    }
}
