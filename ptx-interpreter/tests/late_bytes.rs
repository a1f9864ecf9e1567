//! Bytes that a thread tells a barrier of without an arrival, and copies that come when their block has ended.

mod found;

/// The findings of a kernel whose blocks have 64 threads each. `%first` is true in thread 0, and `%other` in thread 32. A block has one barrier,
/// which waits for `arrivals` arrivals.
fn findings(blocks: u32, arrivals: u32, body: &str) -> Vec<String> {
    let text = format!(
        ".version 8.6\n.target sm_90\n.address_size 64\n\
         .visible .entry k(.param .u64 p) {{\n\
         .reg .b32 %t, %r<5>, %to, %bar; .reg .b64 %p; .reg .pred %first, %other, %done;\n\
         .shared .align 16 .b8 words[32];\n.shared .align 8 .b64 bar;\n\
         ld.param.u64 %p, [p]; mov.u32 %t, %tid.x; mov.u32 %bar, bar; mov.u32 %to, words;\n\
         setp.eq.u32 %first, %t, 0; setp.eq.u32 %other, %t, 32;\n\
         @%first mbarrier.init.shared.b64 [%bar], {arrivals};\nbar.sync 0;\n{body}\nret;\n}}\n"
    );
    found::in_blocks(blocks, &text)
}

const LATE: &str = "Async: a phase of a barrier may be over before it is told of bytes that it has to wait for";
const OTHERS: &str = "@%other mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%bar], 16;\n";
const OTHERS_COPY: &str =
    "@%other cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%to+16], [%p], 16, [%bar];\n";
const ARRIVES: &str = "@%first mbarrier.arrive.expect_tx.shared.b64 _, [%bar], 16;\n";
const EXPECTS: &str = "@%first mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%bar], 16;\n";
const COPY: &str =
    "@%first cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%to], [%p], 16, [%bar];\n";
const BARRIER: &str = "bar.sync 0;\n";
const WAIT: &str = "WAIT: mbarrier.try_wait.parity.shared.b64 %done, [%bar], 0; @!%done bra WAIT;\n";

/// The first thread copies to the second half.
fn again() -> String {
    COPY.replace("[%to]", "[%to+16]")
}

#[test]
fn nobody_arrives_after_the_bytes_are_told() {
    assert_eq!(findings(1, 1, &[ARRIVES, COPY, OTHERS, OTHERS_COPY, WAIT].concat()), [LATE]);
    assert_eq!(findings(1, 1, &[ARRIVES, COPY, EXPECTS, &again(), WAIT].concat()), [LATE]);
}

#[test]
fn an_arrival_or_a_copy_comes_after_that() {
    let none: [&str; 0] = [];
    assert_eq!(findings(1, 1, &[OTHERS, BARRIER, ARRIVES, COPY, OTHERS_COPY, WAIT].concat()), none);
    let arrives = "@%other mbarrier.arrive.shared.b64 _, [%bar];\n";
    assert_eq!(findings(1, 2, &[ARRIVES, COPY, OTHERS, OTHERS_COPY, arrives, WAIT].concat()), none);
    // The bytes of the first copy are still to come when the thread tells of more.
    assert_eq!(findings(1, 1, &[ARRIVES, EXPECTS, COPY, &again(), WAIT].concat()), none);
}

#[test]
fn a_copy_that_comes_after_its_block_is_told_once() {
    let turns = "mov.u32 %r1, %ctaid.x; shl.b32 %r1, %r1, 6; NEXT: sub.u32 %r1, %r1, 1; setp.gt.s32 %done, %r1, 0; @%done bra NEXT;\n";
    let ends = "Async: a block ends before a copy into its shared memory is known to be done";
    assert_eq!(findings(6, 1, &[ARRIVES, COPY, turns].concat()), [ends]);
    assert_eq!(findings(6, 1, &[ARRIVES, COPY, turns, WAIT].concat()), [""; 0]);
}
