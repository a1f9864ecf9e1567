//! The last block reads what the others have stored. An atomic of each block says which one is the last.

use ptx_interpreter::{Kind, Program, Trial};

/// Every thread stores a word, and those of the last block load all words of theirs. The fences stand before the barrier in front
/// of the atomic, on both sides of the atomic, and after the barrier behind it. Tells whether an order is missing.
fn lacks_an_order(blocks: u32, [all_before, one_before, one_after, all_after]: [&str; 4]) -> bool {
    let module = format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n\
         .visible .entry k(.param .u64 p) {{ .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .pred %p<9>; .shared .align 4 .b8 last[4];\n\
         ld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; setp.ne.u32 %p1, %r1, 0;\n\
         mul.wide.u32 %d2, %r1, 4; add.u64 %d2, %d2, %d1; mul.wide.u32 %d3, %r2, 256; add.u64 %d3, %d3, %d2;\n\
         st.global.u32 [%d3+256], %r1;\n{all_before}\nbar.sync 0;\n@%p1 bra BEHIND;\n\
         {one_before}\natom.global.add.u32 %r3, [%d1], 1;\nst.shared.u32 [last], %r3;\n{one_after}\nBEHIND: bar.sync 0;\n\
         ld.shared.u32 %r3, [last]; setp.ne.u32 %p2, %r3, {last}; @%p2 bra DONE;\n{all_after}\nmov.u32 %r4, 0;\n\
         NEXT: ld.global.u32 %r5, [%d2+256]; add.u64 %d2, %d2, 256; add.u32 %r4, %r4, 1;\n\
         setp.lt.u32 %p3, %r4, {blocks}; @%p3 bra NEXT;\nDONE: ret; }}\n",
        last = blocks - 1
    );
    let program = Program::parse(&module);
    let mut trial = Trial::new(&program, "k");
    let memory = vec![0; 256 * (1 + blocks as usize)];
    trial.grid([blocks, 1, 1]).block([64, 1, 1]).buffer(&memory).expect("a little memory");
    let report = trial.check();
    assert_eq!(report.stop, None);
    report.findings.iter().any(|finding| finding.kind == Kind::Order)
}

const NONE: &str = "";
const SC: &str = "fence.sc.gpu;";
const WEAKER: &str = "fence.acq_rel.gpu;";

/// Of more than eight atomics of a word the newest stands for the others.
const BLOCKS: [u32; 3] = [3, 12, 70];

#[test]
fn fences_of_all_threads_order_what_they_have_stored() {
    for blocks in BLOCKS {
        assert!(!lacks_an_order(blocks, [NONE, SC, SC, NONE]));
        assert!(!lacks_an_order(blocks, [SC, NONE, SC, NONE]));
        assert!(!lacks_an_order(blocks, [NONE, SC, NONE, SC]));
        assert!(!lacks_an_order(blocks, [SC, NONE, NONE, SC]));
        assert!(!lacks_an_order(blocks, [NONE, WEAKER, WEAKER, NONE]));
    }
}

#[test]
fn a_side_without_a_fence_is_found() {
    for blocks in BLOCKS {
        assert!(lacks_an_order(blocks, [SC, SC, NONE, NONE]));
        assert!(lacks_an_order(blocks, [NONE, NONE, SC, SC]));
    }
}

#[test]
fn weaker_fences_order_nothing_across_the_barrier() {
    for blocks in BLOCKS {
        assert!(lacks_an_order(blocks, [WEAKER, NONE, WEAKER, NONE]));
        assert!(lacks_an_order(blocks, [NONE, WEAKER, NONE, WEAKER]));
    }
}
