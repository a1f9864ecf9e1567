//! Threads that wait for each other, calls, branches, and what ends a launch early.

use std::collections::BTreeSet;

use ptx_interpreter::{Launch, Outside, Program, Stop, Why};

/// Runs a kernel that takes one buffer of words, and gives what is in them then.
fn run(ptx: &str, blocks: u32, threads: u32, words: usize, seed: u64) -> Result<Vec<u32>, Stop> {
    let buffer = vec![0u32; words];
    let place = buffer.as_ptr() as u64;
    let holds = |start: u64, bytes: usize| place <= start && start + bytes as u64 <= place + 4 * words as u64;
    let outside = Outside { holds: &holds, variable: &|_| None };
    let arguments = [(&raw const place).cast::<u8>()];
    let launch = Launch {
        blocks: [blocks, 1, 1],
        threads: [threads, 1, 1],
        seed,
        steps: 3_000_000,
        ..Launch::new("k", &arguments)
    };
    // SAFETY: one pointer is as long as the parameter, and the buffer is held here.
    unsafe { Program::parse(ptx).run(&outside, &launch) }?;
    Ok(std::hint::black_box(buffer))
}

/// A kernel `k`; `%t` is the thread, `%b` the block, `%g` both as one number, `%own` its word.
fn kernel(directives: &str, body: &str) -> String {
    format!(
        ".version 9.0\n.target sm_121\n.address_size 64\n.shared .align 8 .b8 room[256];\n\
         .visible .entry k(.param .u64 p) {directives} {{\n.reg .pred %p<4>; .reg .b32 %r<8>, %t, %b, %n, %g; \
         .reg .b64 %base, %at, %own, %d<8>;\n ld.param.u64 %base, [p]; mov.u32 %t, %tid.x; mov.u32 %b, %ctaid.x;\n\
         mov.u32 %n, %ntid.x; mad.lo.u32 %g, %b, %n, %t; mul.wide.u32 %at, %g, 4; add.u64 %own, %base, %at;\n{body}\nret;\n}}\n"
    )
}

/// Each kernel here is legal PTX.
fn assembled(ptx: &str) -> String {
    assert_eq!(crate::interpreter::assembler().refused_lines(ptx).unwrap(), [0; 0], "{ptx}");
    ptx.to_owned()
}

/// Block 0 waits for block 1 and the other way round, so neither may run to its end first.
#[test]
fn blocks_wait_for_each_other() {
    let ptx = assembled(&kernel(
        "",
        "xor.b32 %r1, %b, 1; mul.wide.u32 %at, %r1, 4; add.u64 %at, %base, %at;\n\
         mov.u32 %r3, 1;\n\
         next: st.release.gpu.global.u32 [%own], %r3;\n\
         spin: ld.acquire.gpu.global.u32 %r2, [%at]; setp.lo.u32 %p1, %r2, %r3; @%p1 bra spin;\n\
         add.u32 %r3, %r3, 1; setp.le.u32 %p1, %r3, 100; @%p1 bra next;",
    ));
    for seed in 0..20 {
        assert_eq!(run(&ptx, 2, 1, 2, seed).unwrap(), [100, 100], "seed {seed}");
    }
}

/// The order of threads depends on the seed, and on nothing else.
#[test]
fn a_seed_makes_the_order() {
    let ptx = assembled(&kernel(
        "",
        "atom.relaxed.gpu.global.add.u32 %r1, [%base], 1; @%p1 bra end; st.global.u32 [%own+4], %r1; end:",
    ));
    let orders: BTreeSet<Vec<u32>> = (0..20).map(|seed| run(&ptx, 4, 8, 33, seed).unwrap()).collect();
    assert!(orders.len() > 10, "only {} orders", orders.len());
    assert_eq!(run(&ptx, 4, 8, 33, 7).unwrap(), run(&ptx, 4, 8, 33, 7).unwrap());
}

#[test]
fn threads_meet_at_barriers() {
    // Each thread reads what its neighbour wrote, over and over; then the block counts, and half of it meets alone.
    let ptx = assembled(&kernel(
        "",
        "shl.b32 %r1, %t, 2; mov.u32 %r2, room; add.u32 %r3, %r1, %r2; add.u32 %r4, %t, 1; rem.u32 %r4, %r4, %n;\n\
         shl.b32 %r4, %r4, 2; add.u32 %r4, %r4, %r2; mov.u32 %r5, %t; mov.u32 %r6, 0;\n\
         next: st.shared.u32 [%r3], %r5; bar.sync 0; ld.shared.u32 %r5, [%r4]; barrier.sync 1;\n\
         add.u32 %r6, %r6, 1; setp.lt.u32 %p1, %r6, 10; @%p1 bra next;\n\
         setp.lt.u32 %p2, %t, 5; bar.red.popc.u32 %r7, 2, %p2; mad.lo.u32 %r5, %r7, 100, %r5; st.global.u32 [%own], %r5;",
    ));
    let expected: Vec<u32> = (0..3).flat_map(|_| (0..40).map(|thread| (thread + 10) % 40 + 500)).collect();
    assert_eq!(run(&ptx, 3, 40, 120, 1).unwrap(), expected);
}

#[test]
fn clusters_share_their_memory() {
    let ptx = assembled(&kernel(
        ".explicitcluster .reqnctapercluster 2, 1, 1",
        "mov.u32 %r1, room; add.u32 %r2, %g, 1000; st.shared.u32 [%r1], %r2; mov.u32 %r3, %cluster_ctarank;\n\
         xor.b32 %r4, %r3, 1; mapa.shared::cluster.u32 %r5, %r1, %r4;\n\
         barrier.cluster.arrive.release; barrier.cluster.wait.acquire; ld.shared::cluster.u32 %r6, [%r5];\n\
         barrier.cluster.arrive.release; barrier.cluster.wait.acquire;\n\
         getctarank.shared::cluster.u32 %r7, %r5; mad.lo.u32 %r6, %r7, 10000, %r6; st.global.u32 [%own], %r6;",
    ));
    assert_eq!(run(&ptx, 4, 1, 4, 3).unwrap(), [11001, 1000, 11003, 1002]);
    // The own window ends at the neighbour's memory.
    let astray = ptx.replace("ld.shared::cluster.u32", "ld.shared.u32");
    assert_eq!(run(&astray, 4, 1, 4, 3).unwrap_err().why, Why::Astray);
}

#[test]
fn warps_vote_and_shuffle() {
    let ptx = assembled(&kernel(
        "",
        "setp.eq.u32 %p1, %t, 3; vote.sync.ballot.b32 %r1, %p1, -1; shfl.sync.idx.b32 %r2|%p2, %t, 5, 31, -1;\n\
         shfl.sync.down.b32 %r3, %t, 1, 31, -1; shfl.sync.bfly.b32 %r4, %t, 16, 31, -1; redux.sync.add.u32 %r5, %t, -1;\n\
         add.u32 %r1, %r1, %r2; mad.lo.u32 %r1, %r3, 100, %r1; mad.lo.u32 %r1, %r4, 10000, %r1;\n\
         mad.lo.u32 %r1, %r5, 1000000, %r1; st.global.u32 [%own], %r1;",
    ));
    let expected = |lane: u32| 8 + 5 + (lane + 1).min(31) * 100 + (lane ^ 16) * 10000 + 496 * 1_000_000;
    assert_eq!(run(&ptx, 1, 32, 32, 5).unwrap(), (0..32).map(expected).collect::<Vec<_>>());
}

#[test]
fn calls_and_tables() {
    let ptx = ".version 9.0\n.target sm_121\n.address_size 64\n.global .align 4 .u32 table[4] = {7, 8, 9, 10};\n\
         .func (.param .b32 out) twice(.param .b32 in) {\n.reg .b32 %r<3>; .local .align 4 .b8 own[8];\n\
         ld.param.b32 %r1, [in]; st.local.b32 [own+4], %r1; ld.local.b32 %r2, [own+4]; add.u32 %r2, %r2, %r1;\n\
         st.param.b32 [out], %r2; ret;\n}\n\
         .visible .entry k(.param .u64 p) {\n.reg .b32 %r<8>; .reg .b64 %d<4>;\n\
         ld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x;\n\
         ts: .branchtargets A, B, C;\n brx.idx %r1, ts;\n\
         A: mov.u32 %r2, 1; bra done;\nB: mov.u32 %r2, 2; bra done;\nC: ld.global.u32 %r2, [table+8];\n\
         done: { .param .b32 a; .param .b32 r; st.param.b32 [a], %r2; call.uni (r), twice, (a); ld.param.b32 %r3, [r]; }\n\
         mul.wide.u32 %d2, %r1, 4; add.u64 %d1, %d1, %d2; st.global.u32 [%d1], %r3; ret;\n}\n";
    let lines = assembled(ptx);
    assert_eq!(run(&lines, 1, 3, 3, 9).unwrap(), [2, 4, 18]);
}

#[test]
fn what_ends_a_launch_is_said() {
    let cases = [
        ("spin: bra spin;", Why::Endless, "no end after 3000000 instructions"),
        ("setp.eq.u32 %p1, %t, 0; @%p1 bar.sync 0, 64;", Why::Endless, "every thread waits"),
        ("trap;", Why::Trap, "trap"),
        ("ld.global.u32 %r1, [%own+1];", Why::Misaligned, "is no multiple of 4"),
        ("ld.global.u32 %r1, [%own+4096];", Why::Astray, "no memory"),
        ("tcgen05.shift.cta_group::1.down [0];", Why::Gap, "the interpreter does not know tcgen05.shift"),
    ];
    for (body, why, text) in cases {
        let stop = run(&kernel("", body), 1, 32, 32, 0).unwrap_err();
        assert_eq!(stop.why, why, "{stop}");
        assert!(stop.to_string().starts_with("k: ") && stop.to_string().contains(text), "{stop}");
    }
    let gaps = Program::parse(&kernel("", "tcgen05.shift.cta_group::1.down [0]; add.u32 %r1, %r2, %r3;")).gaps();
    assert_eq!(gaps, BTreeSet::from(["tcgen05.shift.cta_group::1.down".to_owned()]));
}
