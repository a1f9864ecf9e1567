//! Bits of a mask are counted by whole words, of which nobody has written the end.

use ptx_interpreter::{Kind, Program, Trial};

/// Where and of what kind something is found, in 32 threads that each load a word of 16 bytes as `%w`, of which the first 13 are written. The word
/// has `%left` bits that count, and `body` makes the count `%n` of it, which is added up.
fn found(body: &str) -> Vec<(Kind, String)> {
    let program = Program::parse(&format!(
        ".version 8.6\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 bits, .param .u64 out) {{\n\
         .reg .b64 %b, %o, %a;\n.reg .b32 %t, %w, %n, %left, %mask, %i;\n.reg .pred %p, %q;\n\
         ld.param.u64 %b, [bits]; ld.param.u64 %o, [out]; mov.u32 %t, %tid.x; cvt.u64.u32 %a, %t; add.u64 %a, %a, %b;\n\
         setp.lt.u32 %p, %t, 13; mov.u32 %n, 255; @%p st.global.u8 [%a], %n; bar.sync 0;\n\
         mad.wide.u32 %a, %t, 4, %b; mov.u32 %w, 0; setp.lt.u32 %p, %t, 4; @%p ld.global.u32 %w, [%a];\n\
         mul.lo.u32 %left, %t, 32; sub.u32 %left, 100, %left; min.s32 %left, %left, 32; max.s32 %left, %left, 0;\n\
         shl.b32 %mask, 1, %left; sub.u32 %mask, %mask, 1;\n{body}\n\
         red.relaxed.gpu.global.add.u32 [%o], %n;\nret;\n}}\n"
    ));
    let mut trial = Trial::new(&program, "k");
    trial.block([32, 1, 1]).unwritten(16).and_then(|trial| trial.buffer(&[0; 4])).expect("a little memory");
    let report = trial.check();
    assert_eq!((report.stop, trial.content(1)), (None, &100u32.to_le_bytes()[..]));
    report.findings.iter().map(|finding| (finding.kind, finding.places[1].instruction.clone())).collect()
}

/// What a mask or a shift takes away is not used, nor what a thread takes off again itself.
#[test]
fn bits_that_are_taken_away_are_no_finding() {
    assert_eq!(found("and.b32 %w, %w, %mask; popc.b32 %n, %w;"), []);
    assert_eq!(found("sub.u32 %i, 32, %left; shl.b32 %w, %w, %i; popc.b32 %n, %w;"), []);
    let off = "popc.b32 %n, %w; not.b32 %mask, %mask; and.b32 %w, %w, %mask; popc.b32 %i, %w; sub.u32 %n, %n, %i;";
    assert_eq!(found(off), []);
}

/// One thread counts them, and another one takes them off: both use them, and only memory that stays as it is makes the sum right.
#[test]
fn bits_that_another_thread_takes_off_are_used() {
    let other = "popc.b32 %n, %w; setp.eq.u32 %q, %t, 0; @%q ld.global.u32 %w, [%b+12]; @%q and.b32 %w, %w, -16;\n\
                 @%q popc.b32 %i, %w; @%q sub.u32 %n, %n, %i;";
    assert_eq!(found(other), [(Kind::Uninitialised, "red.relaxed.gpu.global.add.u32 [%o], %n".to_owned())]);
}
