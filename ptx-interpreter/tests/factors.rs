//! The registers of A that a product of `wgmma` reads, in a loop that writes them before the wait.

use ptx_interpreter::{Kind, Program, Report, Trial};

const TITLE: &str = "a register is overwritten before `wgmma` is known to have read it";
const MOVES: &str = "mov.b32 %r0, %n0; mov.b32 %r1, %n1; mov.b32 %r2, %n2; mov.b32 %r3, %n3;";

/// A loop of three products, each after one turn's instructions.
fn run(version: &str, before: &str) -> Report {
    let module = format!(
        ".version {version}\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 from) .reqntid 128 {{\n\
         .shared .align 1024 .b8 b[256]; .reg .b64 %rd<4>; .reg .b32 %r<9>, %n<4>; .reg .f32 %f<4>; .reg .pred %p<1>; .reg .b16 %h;\n\
         ld.param.u64 %rd0, [from]; mov.u32 %r8, %tid.x; mul.wide.u32 %rd1, %r8, 16; add.u64 %rd0, %rd0, %rd1;\n\
         shl.b32 %r7, %r8, 1; mov.u32 %r6, b; add.u32 %r6, %r6, %r7; mov.b16 %h, 0; st.shared.b16 [%r6], %h;\n\
         fence.proxy.async.shared::cta; bar.sync 0; mov.u32 %r6, b; shr.b32 %r6, %r6, 4; cvt.u64.u32 %rd2, %r6;\n\
         or.b64 %rd2, %rd2, 0x1000080000; mov.u32 %r5, 3;\n\
         mov.f32 %f0, 0.0; mov.f32 %f1, 0.0; mov.f32 %f2, 0.0; mov.f32 %f3, 0.0;\n\
         LOOP:\n{before}\nwgmma.fence.sync.aligned;\n\
         wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {{%f0,%f1,%f2,%f3}}, {{%r0,%r1,%r2,%r3}}, %rd2, 1, 1, 1;\n\
         wgmma.commit_group.sync.aligned; sub.u32 %r5, %r5, 1; setp.ne.u32 %p0, %r5, 0; @%p0 bra LOOP;\n\
         wgmma.wait_group.sync.aligned 0; ret; }}\n"
    );
    let program = Program::parse(&module);
    let mut trial = Trial::new(&program, "k");
    trial.grid([1; 3]).block([128, 1, 1]).buffer(&[0; 2048]).expect("a little memory");
    let report = trial.check();
    assert_eq!(report.stop, None, "{report}");
    report
}

fn found(version: &str, before: &str) -> Vec<Kind> {
    let report = run(version, before);
    assert!(report.findings.iter().all(|finding| finding.title == TITLE), "{report}");
    report.findings.iter().map(|finding| finding.kind).collect()
}

const WAIT: &str = "wgmma.wait_group.sync.aligned 0;";

#[test]
fn registers_are_not_written_before_the_wait() {
    let load = "ld.global.v4.b32 {%r0,%r1,%r2,%r3}, [%rd0];";
    for version in ["8.0", "9.5"] {
        assert_eq!(found(version, &format!("{load} {WAIT}")), [Kind::Async]);
        assert_eq!(found(version, &format!("{WAIT} {load}")), []);
    }
}

/// ptxas 13.3, the first that reads PTX 9.3, keeps apart what is moved after the wait.
#[test]
fn what_is_moved_after_the_wait_is_told_of_ptx_that_an_older_ptxas_reads() {
    let load = "ld.global.v4.b32 {%n0,%n1,%n2,%n3}, [%rd0];";
    for (version, kinds) in [("8.0", vec![Kind::Gpu]), ("9.2", vec![Kind::Gpu]), ("9.3", vec![]), ("10.0", vec![])] {
        assert_eq!(found(version, &format!("{load} {WAIT} {MOVES}")), kinds, "{version}");
        assert_eq!(found(version, &format!("{WAIT} {load} {MOVES}")), [], "{version}");
    }
}
