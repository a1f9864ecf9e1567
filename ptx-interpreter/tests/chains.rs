//! Atomics that continue each other: whoever acquires the last one is told which of them releases nothing.

use ptx_interpreter::{Kind, Program, Trial};

/// The kinds and titles that eight orders of four blocks of a thread find. `%data` is the word of a block, `%next` that of the next one,
/// and `%flag` is in another buffer.
fn findings(body: &str) -> Vec<(Kind, String)> {
    let text = format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n\
         .visible .entry k(.param .u64 words, .param .u64 flag) {{\n\
         .reg .b32 %r<5>, %block; .reg .b64 %words, %flag, %data, %next, %o; .reg .pred %p;\n\
         ld.param.u64 %words, [words]; ld.param.u64 %flag, [flag]; mov.u32 %block, %ctaid.x;\n\
         mul.wide.u32 %o, %block, 4; add.u64 %data, %words, %o;\n\
         add.u32 %r1, %block, 1; and.b32 %r1, %r1, 3; mul.wide.u32 %o, %r1, 4; add.u64 %next, %words, %o;\n\
         {body}\nret;\n}}\n"
    );
    let program = Program::parse(&text);
    let mut all = Vec::new();
    for seed in 0..8 {
        let mut trial = Trial::new(&program, "k");
        trial.grid([4, 1, 1]).block([1, 1, 1]).seed(seed);
        trial.buffer(&[0; 16]).expect("a little memory");
        trial.buffer(&[0; 4]).expect("a little memory");
        let report = trial.check();
        assert!(report.stop.is_none(), "{report}");
        all.extend(report.findings.iter().map(|finding| (finding.kind, finding.title.clone())));
    }
    all.sort();
    all.dedup();
    all
}

const UNRELEASED: &str = "a flag says that bytes are ready, but its write does not release them";

/// The block that comes last reads its own atomic, which continues those of the others.
#[test]
fn a_counter_releases_nothing() {
    let barrier = "st.global.u32 [%data], 7;\n\
                   atom.add.relaxed.gpu.global.u32 %r2, [%flag], 1;\n\
                   WAIT: ld.acquire.gpu.global.u32 %r3, [%flag]; setp.ne.u32 %p, %r3, 4; @%p bra WAIT;\n\
                   ld.global.u32 %r4, [%next];";
    assert_eq!(findings(barrier), [(Kind::Order, UNRELEASED.to_owned())]);
    assert_eq!(findings(&barrier.replace(".relaxed", ".release")), []);
}

/// The acquire of a lock by `.acq_rel` also releases, but what comes before it.
#[test]
fn a_lock_is_given_back_without_a_release() {
    let lock = "TAKE: atom.cas.acq_rel.gpu.global.b32 %r2, [%flag], 0, 1; setp.ne.u32 %p, %r2, 0; @%p bra TAKE;\n\
                ld.global.u32 %r3, [%words]; add.u32 %r3, %r3, 1; st.global.u32 [%words], %r3;\n\
                atom.exch.relaxed.gpu.global.b32 %r4, [%flag], 0;";
    assert_eq!(findings(lock), [(Kind::Order, UNRELEASED.to_owned())]);
    assert_eq!(findings(&lock.replace(".relaxed", ".release")), []);
}
