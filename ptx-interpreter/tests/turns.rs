//! Threads of a warp that came apart have their turns.

use ptx_interpreter::{Program, Trial};

/// The first thread looks 400 times at a flag, which the second one sets after 150 instructions farther on.
const WAITS: &str = ".version 8.0\n.target sm_80\n.address_size 64\n\
    .visible .entry k(.param .u64 p) {\n\
    .reg .pred %p<3>; .reg .b32 %r<6>; .reg .b64 %d<2>;\n\
    ld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x; mov.u32 %r2, 0;\n\
    setp.ne.u32 %p1, %r1, 0; @%p1 bra OTHER;\n\
    LOOK: ld.relaxed.gpu.global.u32 %r3, [%d1]; add.u32 %r2, %r2, 1;\n\
    setp.ge.u32 %p2, %r2, 400; setp.ne.or.u32 %p2, %r3, 0, %p2; @!%p2 bra LOOK;\n\
    st.global.u32 [%d1+4], %r3; ret;\n\
    OTHER: setp.ne.u32 %p1, %r1, 1; @%p1 ret;\n\
    WORK: add.u32 %r2, %r2, 1; setp.lt.u32 %p2, %r2, 50; @%p2 bra WORK;\n\
    mov.u32 %r4, 1; st.relaxed.gpu.global.u32 [%d1], %r4; ret;\n}\n";

/// What a kernel leaves of zeros in the orders of so many seeds, in none of which it has a finding.
fn ends<const BYTES: usize>(text: &str, seeds: u64) -> impl Iterator<Item = (u64, Vec<u8>)> {
    let program = Program::parse(text);
    (0..seeds).map(move |seed| {
        let mut trial = Trial::new(&program, "k");
        trial.seed(seed).buffer(&[0; BYTES]).expect("a little memory");
        let report = trial.check();
        assert_eq!((report.findings, report.stop), (vec![], None), "seed {seed}");
        (seed, trial.content(0).to_vec())
    })
}

/// A thread of one warp writes what a thread of another one reads, behind a flag that the writer sets, if the reader has seen the
/// flag: only in an order in which the reader comes late it reads at all. Counts say how often the kernel ran in this memory.
const LATE: &str = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .global .u32 runs = 5;\n\
    .visible .entry k(.param .u64 p) {\n\
    .reg .pred %p<2>; .reg .b32 %r<5>; .reg .b64 %d<2>;\n\
    ld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 0; @%p1 bra WRITE;\n\
    setp.ne.u32 %p1, %r1, 32; @%p1 ret;\n\
    ld.relaxed.gpu.global.u32 %r2, [%d1]; setp.eq.u32 %p1, %r2, 0; @%p1 ret;\n\
    ld.global.u32 %r3, [%d1+4]; st.global.u32 [%d1+8], %r3; ret;\n\
    WRITE: add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 6; @%p1 bra WRITE;\n\
    atom.global.add.u32 %r4, [%d1+12], 1; atom.global.add.u32 %r4, [runs], 1; st.global.u32 [%d1+16], %r4;\n\
    st.global.u32 [%d1+4], 7;\n\
    st.relaxed.gpu.global.u32 [%d1], 1; ret;\n}\n";

fn late(program: &Program) -> Trial<'_> {
    let mut trial = Trial::new(program, "k");
    trial.block([64, 1, 1]).buffer(&[0; 20]).expect("a little memory");
    trial
}

#[test]
fn orders_begin_with_the_same_memory_and_end_with_the_first_finding() {
    let alone = |seed| late(&Program::parse(LATE)).seed(seed).check().is_clean();
    let first = (0..200).find(|seed| !alone(*seed)).expect("some order has the race");
    let clean: Vec<u64> = (0..first).collect();
    assert!(clean.len() > 1, "{first}");
    let program = Program::parse(LATE);
    let mut all = late(&program);
    let (report, seed) = all.check_orders(0..200);
    assert_eq!((seed, report.findings.len()), (first, 1), "{report}");
    assert_eq!(all.content(0)[12..], [1, 0, 0, 0, 5, 0, 0, 0]);
    let program = Program::parse(LATE);
    let mut silent = late(&program);
    assert!(silent.check_orders(clean).0.is_clean());
    assert_eq!(silent.content(0)[12..], [1, 0, 0, 0, 5, 0, 0, 0]);
    assert_eq!(silent.check_orders([]).1, first - 1);
}

#[test]
fn a_thread_that_others_wait_for_has_its_turn() {
    for (seed, left) in ends::<8>(WAITS, 50) {
        assert_eq!(left, [1, 0, 0, 0, 1, 0, 0, 0], "seed {seed}");
    }
}

/// A thread waits for 20 million ticks of the clock.
#[test]
fn a_thread_that_waits_for_a_time_to_come_waits_a_short_time() {
    let text = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() {\n.reg .pred %p1; .reg .b64 %d<4>;\n\
        mov.u64 %d1, %clock64;\n\
        LOOK: mov.u64 %d2, %clock64; sub.u64 %d3, %d2, %d1; setp.lt.u64 %p1, %d3, 20000000; @%p1 bra LOOK;\n\
        ret;\n}\n";
    let program = Program::parse(text);
    let report = Trial::new(&program, "k").check();
    assert!(report.is_clean() && report.instructions < 2_000_000, "{} instructions: {report}", report.instructions);
}

/// Each lane's number is added up by a mask of those that are active, after a branch that parts them.
const ACTIVE: &str = ".version 8.0\n.target sm_80\n.address_size 64\n\
    .visible .entry k(.param .u64 p) {\n\
    .reg .pred %p<2>; .reg .b32 %r<6>; .reg .b64 %d<3>;\n\
    ld.param .u64 %d1, [p]; mov.u32 %r1, %tid.x; mov.u32 %r2, 0;\n\
    and.b32 %r3, %r1, 1; setp.eq.u32 %p1, %r3, 0; @%p1 bra EVEN;\n\
    WORK: add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, %r1; @%p1 bra WORK;\n\
    EVEN: activemask.b32 %r4;\n\
    mul.wide.u32 %d2, %r1, 4; add.u64 %d2, %d1, %d2; st.global .u32 [%d2], %r4; ret;\n}\n";

#[test]
fn the_mask_of_active_threads_waits_for_those_that_are_behind() {
    for (seed, left) in ends::<128>(ACTIVE, 4000) {
        assert_eq!(left, [0xff; 128], "seed {seed}");
    }
}

/// The first thread waits for a flag that another one sets after it has asked which threads are active.
const BEHIND: &str = ".version 8.0\n.target sm_80\n.address_size 64\n\
    .visible .entry k(.param .u64 p) {\n\
    .reg .pred %p<2>; .reg .b32 %r<6>; .reg .b64 %d<2>;\n\
    ld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x;\n\
    setp.ne.u32 %p1, %r1, 0; @%p1 bra OTHERS;\n\
    LOOK: ld.relaxed.gpu.global.u32 %r2, [%d1]; setp.eq.u32 %p1, %r2, 0; @%p1 bra LOOK;\n\
    ret;\n\
    OTHERS: activemask.b32 %r3; setp.ne.u32 %p1, %r1, 1; @%p1 ret;\n\
    mov.u32 %r4, 1; st.relaxed.gpu.global.u32 [%d1], %r4; ret;\n}\n";

#[test]
fn a_thread_that_is_behind_may_wait_for_those_that_are_active() {
    assert_eq!(ends::<4>(BEHIND, 50).count(), 50);
}

/// A loop that calls a function is no circle, though the function has the same registers in each turn.
#[test]
fn a_loop_that_calls_a_function_ends() {
    let module = ".version 8.6\n.target sm_90\n.address_size 64\n\
        .func (.param .b32 to) next (.param .b32 from) { .reg .b32 %r<4>; .reg .pred %p<2>; ld.param.u32 %r1, [from]; mov.u32 %r2, 0;\n\
        AGAIN: add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 4; @%p1 bra AGAIN; st.param.u32 [to], 1; ret; }\n\
        .visible .entry k(.param .u64 p) { .reg .b32 %r<4>; .reg .b64 %d<2>; .reg .pred %p<2>; ld.param.u64 %d1, [p]; mov.u32 %r1, 0;\n\
        AGAIN: { .param .b32 x; .param .b32 y; st.param.b32 [x], 7; call.uni (y), next, (x); ld.param.b32 %r2, [y]; }\n\
        add.u32 %r1, %r1, %r2; setp.lt.u32 %p1, %r1, 400; @%p1 bra AGAIN; st.global.u32 [%d1], %r1; ret; }\n";
    let program = ptx_interpreter::Program::parse(module);
    for seed in 0..4 {
        let mut trial = ptx_interpreter::Trial::new(&program, "k");
        trial.seed(seed).buffer(&[0; 4]).expect("a little memory");
        let report = trial.check();
        assert!(report.is_clean(), "{report}");
        assert_eq!(trial.content(0), 400u32.to_le_bytes());
    }
}
