//! Blocks that take over the work of blocks that have not begun.

use ptx_interpreter::{Program, Trial};

/// Adds 1 to the number of its block, and to that of each block whose launch it cancels; beside them it counts the blocks that
/// have begun. `{wait}` and `{space}` may be left out.
fn kernel(waits: bool, space: &str, multicast: &str) -> String {
    let wait = "WAIT: mbarrier.try_wait.parity.shared.b64 %p1, [%bar], %phase; @!%p1 bra WAIT;";
    let address = if space.is_empty() { ["%d6", "%d7"] } else { ["%to", "%bar"] };
    format!(
        "
.version 8.8
.target sm_100a
.address_size 64
.visible .entry steal(.param .u64 counts)
{{
    .reg .b64 %d<9>;
    .reg .b32 %r<9>, %to, %bar, %phase, %x, %y, %z, %nx, %tid;
    .reg .b128 %q;
    .reg .pred %p<4>;
    .shared .align 16 .b8 response[16];
    .shared .align 8 .b64 answered;
    ld.param.u64 %d1, [counts];
    mov.u32 %to, response;
    mov.u32 %bar, answered;
    cvt.u64.u32 %d6, %to;
    cvta.shared.u64 %d6, %d6;
    cvt.u64.u32 %d7, %bar;
    cvta.shared.u64 %d7, %d7;
    mov.u32 %phase, 0;
    mov.u32 %x, %ctaid.x;
    mov.u32 %y, %ctaid.y;
    mov.u32 %z, %ctaid.z;
    mov.u32 %nx, %nctaid.x;
    mov.u32 %tid, %tid.x;
    setp.ne.u32 %p2, %tid, 0;
    @%p2 bra BEGUN;
    mbarrier.init.shared.b64 [%bar], 1;
    fence.mbarrier_init.release.cluster;
    red.relaxed.gpu.global.add.u32 [%d1+96], 1;
BEGUN:
    bar.sync 0;
AGAIN:
    @%p2 bra WORK;
    fence.proxy.async.shared::cta;
    mbarrier.arrive.expect_tx.shared.b64 _, [%bar], 16;
    clusterlaunchcontrol.try_cancel.async{space}.mbarrier::complete_tx::bytes{multicast}.b128 [{to}], [{bar}];
WORK:
    mad.lo.u32 %r1, %z, 3, %y;
    mad.lo.u32 %r1, %r1, %nx, %x;
    mul.wide.u32 %d2, %r1, 4;
    add.u64 %d2, %d1, %d2;
    red.relaxed.gpu.global.add.u32 [%d2], 1;
    {wait}
    ld.shared.b128 %q, [%to];
    bar.sync 0;
    xor.b32 %phase, %phase, 1;
    clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p3, %q;
    @!%p3 bra END;
    clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {{%x, %y, _, _}}, %q;
    clusterlaunchcontrol.query_cancel.get_first_ctaid::z.b32.b128 %z, %q;
    bra AGAIN;
END:
    ret;
}}",
        to = address[0],
        bar = address[1],
        wait = if waits { wait } else { "" },
    )
}

/// A grid of 4 by 3 by 2 blocks, of two warps each: the counts, and what was found.
fn run(text: &str, seed: u64) -> (Vec<u32>, Vec<String>) {
    let program = Program::parse(text);
    let mut trial = Trial::new(&program, "steal");
    trial.grid([4, 3, 2]).block([64, 1, 1]).seed(seed).buffer(&[0; 100]).expect("a little memory");
    let report = trial.check();
    assert_eq!(report.stop, None);
    let counts = trial.content(0).chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().expect("four bytes")));
    (counts.collect(), report.findings.iter().map(ToString::to_string).collect())
}

#[test]
fn each_block_is_worked_for_once() {
    let mut begun = Vec::new();
    for (seed, (space, multicast)) in [("", ""), (".shared::cta", ""), (".shared::cta", ".multicast::cluster::all")]
        .into_iter()
        .cycle()
        .take(9)
        .enumerate()
    {
        let (counts, findings) = run(&kernel(true, space, multicast), seed as u64);
        assert_eq!((&counts[..24], findings), (&[64; 24][..], vec![]), "seed {seed}");
        begun.push(counts[24]);
    }
    assert!(begun.iter().all(|begun| (2..24).contains(begun)), "some begin, and some are taken over: {begun:?}");
}

#[test]
fn a_response_that_nobody_waits_for_is_a_race() {
    let (_, findings) = run(&kernel(false, ".shared::cta", ""), 1);
    assert!(findings.iter().any(|finding| finding.contains("clusterlaunchcontrol.try_cancel")), "{findings:?}");
}
