//! A copy accesses its mbarrier through the generic proxy: the initialisation has to come before it, and no proxy fence.

mod found;

/// The findings of two blocks of a cluster. Thread 0 of each initialises a barrier, all of them do `between`, and thread 32 then does
/// `copy`: of its words at `%own` to `%to`, and it tells `%bar`, which are those of the other block, if there is one.
fn findings(blocks: u32, between: &str, copy: &str) -> Vec<String> {
    let text = format!(
        ".version 8.6\n.target sm_90\n.address_size 64\n\
         .visible .entry k(.param .u64 p) .reqnctapercluster {blocks}, 1, 1 {{\n\
         .reg .b32 %t, %rank, %own, %here, %to, %bar, %a; .reg .b64 %p; .reg .pred %first, %copies, %done;\n\
         .shared .align 16 .b8 own[128];\n.shared .align 16 .b8 received[128];\n.shared .align 8 .b64 bar;\n\
         ld.param.u64 %p, [p]; mov.u32 %t, %tid.x; mov.u32 %own, own; mov.u32 %here, bar; mov.u32 %to, received;\n\
         setp.eq.u32 %first, %t, 0; setp.eq.u32 %copies, %t, 32;\n\
         mov.u32 %rank, %cluster_ctarank; add.u32 %rank, %rank, 1; rem.u32 %rank, %rank, {blocks};\n\
         mapa.shared::cluster.u32 %to, %to, %rank; mapa.shared::cluster.u32 %bar, %here, %rank;\n\
         shl.b32 %a, %t, 2; @%copies st.shared.v4.b32 [%own], {{%t, %t, %t, %t}};\n\
         @%copies fence.proxy.async.shared::cta;\n\
         @%first mbarrier.init.shared.b64 [%here], 1;\n\
         {between}\n\
         @%first mbarrier.arrive.expect_tx.shared.b64 _, [%here], 16;\n\
         @%copies {copy}\n\
         WAIT: mbarrier.try_wait.parity.acquire.cluster.shared.b64 %done, [%here], 0; @!%done bra WAIT;\n\
         barrier.cluster.arrive; barrier.cluster.wait; ret;\n}}\n"
    );
    found::in_blocks(blocks, &text)
}

const LOAD: &str = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%to], [%p], 16, [%bar];";
const SEND: &str = "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%to], [%own], 16, [%bar];";
const STORE: &str = "st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%to], {%t, %t, %t, %t}, [%bar];";
const RELAXED: &str = "barrier.cluster.arrive.relaxed; barrier.cluster.wait;";

#[test]
fn within_a_block_a_barrier_is_enough() {
    assert_eq!(findings(1, "bar.sync 0;", LOAD), [""; 0]);
    let unordered = findings(1, "", LOAD);
    assert_eq!(unordered[0], "Race: a thread uses a barrier, and nothing orders that after its `mbarrier.init`");
}

#[test]
fn a_cluster_is_told_by_a_release_or_by_the_fence_for_barriers() {
    for copy in [SEND, STORE, LOAD] {
        assert_eq!(findings(2, "barrier.cluster.arrive; barrier.cluster.wait;", copy), [""; 0], "{copy}");
        let fenced = format!("@%first fence.mbarrier_init.release.cluster;\n{RELAXED}");
        assert_eq!(findings(2, &fenced, copy), [""; 0], "{copy}");
        let mut relaxed = findings(2, RELAXED, copy);
        relaxed.dedup();
        let unreleased = "Order: threads meet at the barrier of their cluster, and one arrives without a release";
        assert_eq!(relaxed, [unreleased], "{copy}");
    }
}
