//! Orders in kernels of several accesses: what the assembler loses is told, and what it moves or joins is not.

use host_tests::tools::target::Sm;
use ptx_audit::finding::Kind;

use crate::audit::audited;

/// The orders that are said to be lost in a kernel of these lines.
fn lost(lines: &[&str], number: u32) -> Vec<String> {
    let sm = Sm::new(number);
    let text = format!(
        ".version 9.4\n.target {sm}\n.address_size 64\n.visible .entry k(.param .u64 p, .param .u64 q, .param .u32 v)\n{{\n\
         .reg .b64 %rd<9>; .reg .b32 %r<9>; .reg .pred %p<3>;\n.shared .align 16 .b8 buffer[64];\n\
         ld.param.u64 %rd1, [p]; ld.param.u64 %rd2, [q]; ld.param.u32 %r1, [v];\n\
         cvta.to.global.u64 %rd1, %rd1; cvta.to.global.u64 %rd2, %rd2;\nmov.u32 %r2, buffer;\n{}\nret;\n}}\n",
        lines.join("\n")
    );
    let kernels = audited(&text, sm);
    let findings = kernels.iter().flat_map(|kernel| &kernel.findings);
    findings.filter(|one| one.kind == Kind::OrderLost).map(|one| one.text.clone()).collect()
}

/// `docs/design.md` names them: the types refuse what these assemblers lose.
#[test]
fn orders_that_the_assembler_loses_are_told() {
    let wide = [
        "ld.acquire.gpu.global.v4.b64 {%rd3, %rd4, %rd5, %rd6}, [%rd1];",
        "ld.global.u32 %r3, [%rd2];",
        "st.global.u32 [%rd2+8], %r3;",
        "st.global.v2.b64 [%rd2+16], {%rd3, %rd4};",
        "st.global.v2.b64 [%rd2+32], {%rd5, %rd6};",
    ];
    assert_eq!(lost(&wide, 100).len(), 1, "{:?}", lost(&wide, 100));
    let narrow =
        [&["ld.acquire.gpu.global.v2.b64 {%rd3, %rd4}, [%rd1]; mov.b64 %rd5, 0; mov.b64 %rd6, 0;"], &wide[1..]]
            .concat();
    assert_eq!(lost(&narrow, 100), [""; 0]);
    let shared = |operation: &str| {
        let atomic = format!("atom.acq_rel.cta.shared.{operation} %rd3, [buffer], %rd1;");
        lost(&["st.shared.u32 [buffer+32], %r1;", &atomic, "st.global.b64 [%rd2], %rd3;"], 90)
    };
    assert_eq!(shared("add.u64").len(), 1, "{:?}", shared("add.u64"));
    assert_eq!(shared("exch.b64"), [""; 0]);
}

/// On sm_120 a release that is done later is on the line of another instruction.
#[test]
fn what_is_stored_asynchronously_keeps_its_order() {
    let lines = [
        "st.global.u32 [%rd1], %r1;",
        "red.async.release.gpu.global.add.u32 [%rd1+8], %r1;",
        "st.async.release.sys.global.u32 [%rd1+16], %r1;",
        "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r2], %r1, [%r2+8];",
        "st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%r2+4], %r1, [%r2+8];",
    ];
    for number in [100, 120] {
        assert_eq!(lost(&lines, number), [""; 0], "sm_{number}");
    }
}

/// Of two fences the assembler makes one, on the line of one of them.
#[test]
fn fences_that_are_joined_are_not_lost() {
    let with = |fences: &[&'static str]| {
        let all = [&["st.global.u32 [%rd1], %r1;"], fences, &["st.global.u32 [%rd2], %r1;"]].concat();
        [80, 90, 120].map(|number| lost(&all, number)).concat()
    };
    for fences in [
        &["fence.acq_rel.gpu;", "fence.sc.sys;"][..],
        &["fence.sc.sys;", "fence.acq_rel.cta;"],
        &["membar.gl;", "membar.cta;", "fence.sc.gpu;"],
        &["fence.acq_rel.gpu;", "ld.acquire.gpu.global.u32 %r4, [%rd1+4];", "fence.sc.gpu;"],
        &["fence.acq_rel.gpu;", "st.release.gpu.global.u32 [%rd1+4], %r1;"],
    ] {
        assert_eq!(with(fences), [""; 0], "{fences:?}");
    }
}

/// A flag that is waited for, and data behind it; a lock; the last of several blocks.
#[test]
fn worked_patterns_have_no_false_alarm() {
    let wait = [
        "$wait: ld.acquire.gpu.global.u32 %r3, [%rd1];",
        "setp.eq.u32 %p1, %r3, 0; @%p1 bra $wait;",
        "ld.global.u32 %r4, [%rd2]; add.u32 %r4, %r4, %r3;",
        "st.global.u32 [%rd2+8], %r4;",
        "st.release.gpu.global.u32 [%rd1], %r4;",
    ];
    let lock = [
        "$lock: atom.acquire.gpu.global.cas.b32 %r3, [%rd1], 0, 1;",
        "setp.ne.u32 %p1, %r3, 0; @%p1 bra $lock;",
        "ld.global.u32 %r4, [%rd2]; add.u32 %r4, %r4, %r1; st.global.u32 [%rd2], %r4;",
        "atom.release.gpu.global.exch.b32 %r5, [%rd1], 0; st.global.u32 [%rd2+4], %r5;",
    ];
    let last = [
        "st.global.u32 [%rd2], %r1; fence.acq_rel.gpu;",
        "atom.relaxed.gpu.global.add.u32 %r3, [%rd1], 1;",
        "fence.acq_rel.gpu; setp.ne.u32 %p1, %r3, %r1; @%p1 bra $done;",
        "ld.global.u32 %r4, [%rd2+4]; st.global.u32 [%rd2+8], %r4;",
        "$done:",
    ];
    for number in [80, 90, 100, 120] {
        for kernel in [&wait[..], &lock, &last] {
            assert_eq!(lost(kernel, number), [""; 0], "sm_{number}: {kernel:#?}");
        }
    }
}
