//! Hints about memory that is not there are no findings, where the ISA does not forbid them. What else is wrong with them is.

use ptx_interpreter::{Kind, Program, Report, Trial};

/// The kinds and titles of what is found when one thread executes an instruction. `%in` is the address of 256 bytes, `%far` is that of the
/// byte behind them, `%none` is one that nothing is near, and `%there` is the generic address of shared memory.
fn run(instruction: &str) -> Vec<(Kind, String)> {
    report_of(instruction).findings.into_iter().map(|finding| (finding.kind, finding.title)).collect()
}

fn report_of(instruction: &str) -> Report {
    let module = format!(
        ".version 8.6\n.target sm_90\n.address_size 64\n\
         .visible .entry k(.param .u64 p) {{\n.shared .align 128 .b8 words[128];\n.local .align 16 .b8 own[16];\n\
         .reg .b32 %own, %v; .reg .b64 %in, %far, %none, %there;\n\
         ld.param.u64 %in, [p]; add.u64 %far, %in, 256; mov.u64 %none, 0x7f0000000000;\n\
         mov.u64 %there, words; cvta.shared.u64 %there, %there; mov.u32 %own, own;\n\
         {instruction}\nmov.u32 %v, 7; st.global.u32 [%in], %v; ret; }}\n"
    );
    let program = Program::parse(&module);
    let mut trial = Trial::new(&program, "k");
    trial.grid([1, 1, 1]).block([1, 1, 1]).buffer(&[0; 256]).expect("a little memory");
    let report = trial.check();
    assert_eq!(report.stop, None, "{instruction}");
    let goes_on = report.findings.is_empty();
    assert_eq!(trial.content(0)[0], if goes_on { 7 } else { 0 }, "{instruction}");
    report
}

#[test]
fn hints_need_no_memory() {
    for instruction in [
        "prefetch.global.L1 [%far];",
        "prefetch.global.L2 [%none];",
        "prefetch.global.L2::evict_last [%far];",
        "prefetch.L2 [%none];",
        "prefetch.L1 [%there+4096];",
        "prefetch.local.L1 [%own+4096];",
        "prefetchu.L1 [%none];",
        "prefetchu.L1 [%there];",
        "applypriority.global.L2::evict_normal [%none], 128;",
        "applypriority.L2::evict_normal [%none], 128;",
        "cp.async.bulk.prefetch.L2.global [%far], 4096;",
        "cp.async.bulk.prefetch.L2.global [%none], 16;",
        "cp.async.bulk.prefetch.L2.global [%in], 4096;",
        "prefetch.tensormap [%in];",
    ] {
        assert_eq!(run(instruction), [], "{instruction}");
    }
}

#[test]
fn what_the_isa_forbids_is_found() {
    let space = "an address is not in the state space that the instruction names";
    let bounds = "an access is outside of every piece of memory";
    let misaligned = "an address is not as aligned as its access";
    let odd = "a bulk copy or prefetch has a size that is no multiple of 16 bytes";
    for (instruction, kind, title) in [
        ("prefetch.global.L2 [%there];", Kind::Bounds, space),
        ("applypriority.L2::evict_normal [%there], 128;", Kind::Bounds, space),
        ("cp.async.bulk.prefetch.L2.global [%there], 16;", Kind::Bounds, space),
        ("applypriority.global.L2::evict_normal [%none+64], 128;", Kind::Misaligned, misaligned),
        ("cp.async.bulk.prefetch.L2.global [%none+8], 16;", Kind::Misaligned, misaligned),
        ("cp.async.bulk.prefetch.L2.global [%none], 24;", Kind::Misaligned, odd),
        ("prefetch.tensormap [%none];", Kind::Bounds, bounds),
        ("discard.global.L2 [%none], 128;", Kind::Bounds, bounds),
        ("ld.global.L1::no_allocate.L2::128B.u32 %v, [%none];", Kind::Bounds, bounds),
    ] {
        assert_eq!(run(instruction), [(kind, title.to_owned())], "{instruction}");
    }
}

/// What is behind shared memory is told with its size.
#[test]
fn shared_memory_has_a_size() {
    for (instruction, is_behind) in [
        ("mov.u32 %own, 128; ld.shared.u32 %v, [%own];", true),
        ("mov.u32 %own, 4096; ld.shared.u32 %v, [%own];", true),
        ("ld.global.u32 %v, [%none];", false),
    ] {
        let text = report_of(instruction).to_string();
        assert_eq!(text.contains("a block has 128 bytes of shared memory"), is_behind, "{text}");
    }
}
