//! Atomics of which `ptxas` makes a loop without their order.

use ptx_interpreter::{Kind, Program, Report, Trial};

/// 64 threads execute an atomic on shared memory and store what it gives, and then the sum.
fn check(atomic: &str, bits: u32) -> (Report, Vec<u8>) {
    let program = Program::parse(&format!(
        ".version 8.6\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p) {{\n\
         .reg .b64 %o, %w;\n.reg .b32 %t;\n.reg .b{bits} %old, %one;\n.reg .pred %p;\n.shared .align 8 .b8 s[8];\n\
         ld.param.u64 %o, [p]; mov.u32 %t, %tid.x; mov.b{bits} %one, 1; setp.ne.u32 %p, %t, 0;\n\
         @!%p st.shared.b64 [s], 0; bar.sync 0;\n{atomic}\nbar.sync 0;\n\
         @!%p ld.shared.b{bits} %old, [s]; @!%p st.global.b{bits} [%o], %old;\nret;\n}}\n"
    ));
    let mut trial = Trial::new(&program, "k");
    trial.block([64, 1, 1]).buffer(&[0; 8]).expect("a little memory");
    let report = trial.check();
    (report, trial.content(0).to_vec())
}

#[test]
fn a_loop_that_loses_its_order_is_told() {
    let sum = 64u64.to_le_bytes();
    for order in ["acq_rel.gpu", "release.gpu", "acquire.gpu", "acq_rel.cta", "release.cta"] {
        for space in ["shared", "shared::cta"] {
            let (report, content) = check(&format!("atom.{order}.{space}.add.u64 %old, [s], %one;"), 64);
            let [finding] = &report.findings[..] else { panic!("{order}: {report}") };
            assert_eq!((finding.kind, report.stop.is_none()), (Kind::Gpu, true), "{order}: {report}");
            assert_eq!(
                finding.title,
                "`ptxas` makes a loop of an atomic in shared memory, and leaves out its release or acquire"
            );
            assert_eq!(finding.places[0].what, "changes byte 0 of `s` in the shared memory of block 0");
            assert_eq!(content, sum);
        }
    }
    let (report, _) = check("red.release.gpu.shared.add.u64 [s], %one;", 64);
    assert!(report.findings.len() == 1 && report.findings[0].kind == Kind::Gpu, "{report}");
}

/// What is one instruction has its order, as `ptxas` 13.5 shows, and so has what asks for none.
#[test]
fn what_is_no_loop_keeps_its_order() {
    for (atomic, bits) in [
        ("atom.acq_rel.gpu.shared.add.u32 %old, [s], %one;", 32),
        ("atom.acq_rel.gpu.shared.exch.b64 %old, [s], %one;", 64),
        ("atom.relaxed.gpu.shared.add.u64 %old, [s], %one;", 64),
        ("atom.acquire.cta.shared.add.u64 %old, [s], %one;", 64),
        ("atom.acq_rel.gpu.add.u64 %old, [%o], %one;", 64),
    ] {
        let (report, _) = check(atomic, bits);
        assert!(
            report.findings.iter().all(|finding| finding.kind != Kind::Gpu) && report.stop.is_none(),
            "{atomic}: {report}"
        );
    }
}

/// What PTX does not have is refused as before.
#[test]
fn what_is_no_atomic_is_not_known() {
    for atomic in ["red.acquire.gpu.shared.add.u64 [s], %one;", "atom.acq_rel.gpu.shared.inc.u64 %old, [s], %one;"] {
        let (report, _) = check(atomic, 64);
        assert!(report.stop.is_some(), "{atomic}: {report}");
    }
}
