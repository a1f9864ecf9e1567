//! A GPU has only so many blocks at one time. The others begin when some have ended.

use ptx_interpreter::{Kind, Program, Trial};

/// Every block counts itself, and waits until so many are counted.
fn findings(blocks: u32, waits_for: u32, resident: usize) -> Vec<(Kind, String)> {
    let module = format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p) {{\n\
         .reg .b32 %r<3>; .reg .b64 %d<2>; .reg .pred %p<2>; ld.param.u64 %d1, [p]; atom.acq_rel.gpu.global.add.u32 %r1, [%d1], 1;\n\
         WAIT: ld.acquire.gpu.global.u32 %r2, [%d1]; setp.lt.u32 %p1, %r2, {waits_for}; @%p1 bra WAIT; ret; }}\n"
    );
    let program = Program::parse(&module);
    let mut trial = Trial::new(&program, "k");
    trial.grid([blocks, 1, 1]).block([1, 1, 1]).resident(resident).buffer(&[0; 4]).expect("a little memory");
    let report = trial.check();
    report.findings.into_iter().map(|finding| (finding.kind, finding.to_string())).collect()
}

#[test]
fn a_block_that_waits_for_one_without_room_is_found() {
    let found = findings(9, 9, 8);
    assert!(matches!(found.as_slice(), [(Kind::Deadlock, text)] if text.contains("no room for block 8")), "{found:?}");
}

#[test]
fn blocks_that_have_room_may_wait_for_each_other() {
    assert_eq!(findings(9, 9, 9), []);
    // The last ones begin when the first ones have ended.
    assert_eq!(findings(100, 8, 8), []);
}
