//! Blocks that take over the work of blocks that have not begun.

use ptx_interpreter::{Finding, Program, Trial};

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
fn a_response_is_read_after_the_barrier_completes() {
    let (_, findings) = run(&kernel(false, ".shared::cta", ""), 1);
    let early = "error[async]: the destination of an asynchronous copy is read before the copy is known to be done";
    assert!(findings.iter().any(|finding| finding.starts_with(early)), "{findings:?}");
}

const FENCE: &str = "fence.proxy.async.shared::cta;\n";
const ACQUIRE: &str = "fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster;\n";
const RELEASE: &str = "fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster;\n";
const READ: &str = "ld.shared.b128 %q, [%to];\n";

/// The readers of a response release it to the asynchronous proxy, or the one who asks again fences.
#[test]
fn a_response_is_overwritten_after_a_proxy_fence() {
    let right = kernel(true, ".shared::cta", "");
    let released = right.replace(FENCE, ACQUIRE).replace(READ, &format!("{READ}{RELEASE}"));
    assert_eq!(run(&released, 2).1, [""; 0]);
    for (wrong, what) in [
        (right.replace(FENCE, "fence.mbarrier_init.release.cluster;\n"), "no fence"),
        (right.replace(FENCE, ACQUIRE), "acquire alone"),
    ] {
        let (_, findings) = run(&wrong, 2);
        let unfenced = "error[proxy]: the asynchronous proxy overwrites bytes that were read through the generic proxy";
        assert!(
            findings.iter().all(|finding| finding.starts_with(unfenced)) && !findings.is_empty(),
            "{what}: {findings:?}"
        );
        assert!(findings[0].contains("clusterlaunchcontrol.try_cancel.async"), "{findings:?}");
    }
}

/// A block without others asks twice. Its responses are at 0 and 16.
fn twice(between: &str, behind: &str) -> Vec<String> {
    let ask = |at: u32, parity: u32| {
        format!(
            "mbarrier.arrive.expect_tx.shared.b64 _, [answered], 16;
    clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [responses+{at}], [answered];
WAIT{at}: mbarrier.try_wait.parity.shared.b64 %p1, [answered], {parity}; @!%p1 bra WAIT{at};
    ld.shared.b128 %q, [responses+{at}];"
        )
    };
    let text = format!(
        ".version 8.8\n.target sm_100a\n.address_size 64
.visible .entry twice()
{{
    .reg .b128 %q;
    .reg .b32 %x, %y, %z;
    .reg .pred %p<3>;
    .shared .align 16 .b8 responses[32];
    .shared .align 8 .b64 answered;
    mbarrier.init.shared.b64 [answered], 1;
    fence.mbarrier_init.release.cluster;
    {}
    {between}
    {}
    {behind}
    ret;
}}",
        ask(0, 0),
        ask(16, 1)
    );
    let program = Program::parse(&text);
    let mut trial = Trial::new(&program, "twice");
    let report = trial.block([1, 1, 1]).check();
    assert_eq!(report.stop, None);
    assert!(report.findings.iter().all(Finding::went_on));
    report.findings.iter().map(ToString::to_string).collect()
}

#[test]
fn nobody_asks_again_who_has_seen_a_refusal() {
    let query = "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p2, %q;";
    assert_eq!(twice("", query), [""; 0], "nobody looks between the two requests");
    let findings = twice(query, "");
    let again =
        "error[launch]: a cluster asks to cancel a launch after it has seen that an earlier request cancelled nothing";
    assert!(findings.len() == 1 && findings[0].starts_with(again), "{findings:?}");
    assert!(
        findings[0].contains("sees that nothing was cancelled") && findings[0].contains("asks again"),
        "{findings:?}"
    );
}

#[test]
fn a_refusal_has_no_block() {
    for number in [".v4.b32.b128 {%x, %y, %z, _}", "::y.b32.b128 %y"] {
        let findings = twice("", &format!("clusterlaunchcontrol.query_cancel.get_first_ctaid{number}, %q;"));
        let none = "error[launch]: the number of a block is taken from a response that says that nothing was cancelled";
        assert!(findings.len() == 1 && findings[0].starts_with(none), "{findings:?}");
    }
}

/// Blocks of a cluster that know nothing of each other's responses may each ask until it is refused.
#[test]
fn a_refusal_that_nobody_told_of_forbids_nothing() {
    let program = Program::parse(&kernel(true, ".shared::cta", ""));
    for seed in 0..4 {
        let mut trial = Trial::new(&program, "steal");
        trial
            .grid([4, 3, 2])
            .block([64, 1, 1])
            .cluster([2, 1, 1])
            .seed(seed)
            .buffer(&[0; 100])
            .expect("a little memory");
        let report = trial.check();
        assert_eq!((report.stop, report.findings), (None, vec![]), "seed {seed}");
    }
}
