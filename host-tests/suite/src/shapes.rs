//! The litmus tests of the suite: their threads, their questions, their scopes.

use litmus::Scope;

pub(super) const SCOPES: [Scope; 4] = [Scope::Cta, Scope::Cluster, Scope::Gpu, Scope::Sys];

/// The tests of every scope, `S`: a name, what each thread does, and what is looked at.
pub(super) const SHAPES: [(&str, &[&[&str]], &str); 12] = [
    ("mp_release_acquire", &[&["st.weak x, 1", "st.release.S f, 1"], &["ld.acquire.S r0, f", "ld.weak r1, x"]], MP),
    (
        "mp_fence_acq_rel",
        &[
            &["st.weak x, 1", "fence.acq_rel.S", "st.relaxed.S f, 1"],
            &["ld.relaxed.S r0, f", "fence.acq_rel.S", "ld.weak r1, x"],
        ],
        MP,
    ),
    (
        "mp_fence_sc",
        &[&["st.weak x, 1", "fence.sc.S", "st.relaxed.S f, 1"], &["ld.relaxed.S r0, f", "fence.sc.S", "ld.weak r1, x"]],
        MP,
    ),
    (
        "mp_atomic",
        &[&["st.weak x, 1", "atom.release.S.exch r2, f, 1"], &["atom.acquire.S.add r0, f, 0", "ld.weak r1, x"]],
        MP,
    ),
    (
        "mp_async",
        &[&["st.weak x, 1", "st.release.S f, 1"], &["ld.acquire.S r0, f", "fence.proxy.async", "ald.weak r1, x"]],
        MP,
    ),
    (
        "lb_release_acquire",
        &[&["ld.acquire.S r0, x", "st.release.S y, 1"], &["ld.acquire.S r0, y", "st.release.S x, 1"]],
        BOTH,
    ),
    (
        "sb_fence_sc",
        &[
            &["st.relaxed.S x, 1", "fence.sc.S", "ld.relaxed.S r0, y"],
            &["st.relaxed.S y, 1", "fence.sc.S", "ld.relaxed.S r0, x"],
        ],
        BOTH,
    ),
    (
        "sb_weak_fence_sc",
        &[&["st.weak x, 1", "fence.sc.S", "ld.weak r0, y"], &["st.weak y, 1", "fence.sc.S", "ld.weak r0, x"]],
        BOTH,
    ),
    ("corr_relaxed", &[&["st.relaxed.S x, 1"], &["ld.relaxed.S r0, x", "ld.relaxed.S r1, x"]], MP),
    (
        "2_2w_fence_sc",
        &[
            &["st.relaxed.S x, 1", "fence.sc.S", "st.relaxed.S y, 2"],
            &["st.relaxed.S y, 1", "fence.sc.S", "st.relaxed.S x, 2"],
        ],
        "x == 1 /\\ y == 1",
    ),
    (
        "isa2_release_acquire",
        &[
            &["st.weak x, 1", "st.release.S f, 1"],
            &["ld.acquire.S r0, f", "st.release.S g, 1"],
            &["ld.acquire.S r0, g", "ld.weak r1, x"],
        ],
        "P1:r0 == 1 /\\ P2:r0 == 1 /\\ P2:r1 == 0",
    ),
    (
        "iriw_fence_sc",
        &[
            &["st.relaxed.S x, 1"],
            &["st.relaxed.S y, 1"],
            &["ld.relaxed.S r0, x", "fence.sc.S", "ld.relaxed.S r1, y"],
            &["ld.relaxed.S r0, y", "fence.sc.S", "ld.relaxed.S r1, x"],
        ],
        "P2:r0 == 1 /\\ P2:r1 == 0 /\\ P3:r0 == 1 /\\ P3:r1 == 0",
    ),
];

pub(super) const MP: &str = "P1:r0 == 1 /\\ P1:r1 == 0";
pub(super) const BOTH: &str = "P0:r0 == 1 /\\ P1:r0 == 1";

/// Volatile accesses have the scope of the system.
pub(super) const VOLATILE: [(&str, &[&[&str]], &str); 2] = [
    (
        "mp_volatile",
        &[
            &["st.weak x, 1", "fence.acq_rel.S", "st.volatile f, 1"],
            &["ld.volatile r0, f", "fence.acq_rel.S", "ld.weak r1, x"],
        ],
        MP,
    ),
    ("corr_volatile", &[&["st.volatile x, 1"], &["ld.volatile r0, x", "ld.volatile r1, x"]], MP),
];

/// A barrier in shared memory is the block's; in the cluster's scope it is that of the block that waits, and another one
/// arrives there.
pub(super) const MBARRIER: (&str, &[&[&str]], &str) =
    ("mp_mbarrier", &[&["st.weak x, 1", "red.release.S.add f, 1"], &["ld.acquire.S r0, f", "ld.weak r1, x"]], MP);

/// The same, where the load does not depend on the barrier's answer.
pub(super) const AT_ONCE: (&str, &[&[&str]], &str) = ("mp_mbarrier_at_once", MBARRIER.1, MP);
