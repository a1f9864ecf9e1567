//! Launches on two GPUs whose threads wait for each other.

use ptx_interpreter::{Kind, Program, Report, Trial};

/// Each GPU stores into its own buffer, tells the other one by a flag, waits for its own flag and reads the other's buffer.
fn exchange(tells: &str, waits: &str) -> Program {
    Program::parse(&format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n\
         .visible .entry exchange(.param .u64 own, .param .u64 other, .param .u64 own_flag, .param .u64 other_flag, .param .u64 out) {{\n\
         .reg .b32 %r<6>; .reg .b64 %d<9>; .reg .pred %p<3>;\n\
         ld.param.u64 %d1, [own];\nld.param.u64 %d2, [other];\nld.param.u64 %d3, [own_flag];\nld.param.u64 %d4, [other_flag];\nld.param.u64 %d5, [out];\n\
         mov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\nmad.lo.u32 %r2, %r2, 64, %r1;\nmul.wide.u32 %d6, %r2, 4;\n\
         add.u64 %d7, %d1, %d6;\nst.global.u32 [%d7], %r2;\n\
         bar.sync 0;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra MET;\n\
         mul.wide.u32 %d8, %ctaid.x, 4;\nadd.u64 %d4, %d4, %d8;\nadd.u64 %d3, %d3, %d8;\n{tells}\n\
         WAIT:\n{waits}\nsetp.eq.u32 %p2, %r3, 0;\n@%p2 bra WAIT;\n\
         MET:\nbar.sync 0;\n\
         xor.b32 %r1, %r1, 63;\nmul.wide.u32 %d8, %r1, 4;\nmul.wide.u32 %d7, %ctaid.x, 256;\nadd.u64 %d8, %d8, %d7;\nadd.u64 %d8, %d2, %d8;\n\
         ld.global.u32 %r4, [%d8];\nadd.u64 %d7, %d5, %d6;\nst.global.u32 [%d7], %r4;\nret;\n}}"
    ))
}

const BLOCKS: usize = 3;

/// In eight orders: what was found in the first that has something, and what GPU 1 leaves.
fn run(program: &Program, seeds: u64) -> (Report, Vec<u32>) {
    let bytes = BLOCKS * 64 * 4;
    let mut last = None;
    for seed in 0..seeds {
        let mut trial = Trial::new(program, "exchange");
        trial.gpus(2).grid([BLOCKS as u32, 1, 1]).block([64, 1, 1]).seed(seed);
        let zeros = vec![0; bytes];
        trial.buffer(&zeros).unwrap().buffer(&zeros).unwrap();
        trial.buffer(&[0; 4 * BLOCKS]).unwrap().buffer(&[0; 4 * BLOCKS]).unwrap().buffer(&zeros).unwrap();
        trial.same(1).same(0).same(3).same(2).buffer(&zeros).unwrap();
        let report = trial.check();
        let left = trial.content(9).chunks(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect();
        let is_clean = report.is_clean();
        last = Some((report, left));
        if !is_clean {
            break;
        }
    }
    last.unwrap()
}

#[test]
fn flags_for_the_whole_system_order_two_gpus() {
    for (tells, waits) in [
        ("st.release.sys.global.u32 [%d4], 1;", "ld.acquire.sys.global.u32 %r3, [%d3];"),
        (
            "fence.acq_rel.sys;\nst.relaxed.sys.global.u32 [%d4], 1;",
            "ld.relaxed.sys.global.u32 %r3, [%d3];\nfence.acq_rel.sys;",
        ),
        ("membar.sys;\nst.volatile.global.u32 [%d4], 1;", "ld.volatile.global.u32 %r3, [%d3];\nmembar.sys;"),
        ("red.release.sys.global.add.u32 [%d4], 1;", "atom.acquire.sys.global.add.u32 %r3, [%d3], 0;"),
    ] {
        let (report, left) = run(&exchange(tells, waits), 8);
        assert!(report.is_clean(), "{tells} {waits}: {report}");
        let expected: Vec<u32> =
            (0..BLOCKS as u32).flat_map(|block| (0..64).rev().map(move |at| block * 64 + at)).collect();
        assert_eq!(left, expected);
    }
}

#[test]
fn a_scope_of_one_gpu_orders_nothing_on_another() {
    let (acquire, release) = ("ld.acquire.sys.global.u32 %r3, [%d3];", "st.release.sys.global.u32 [%d4], 1;");
    for (tells, waits, words, help) in [
        (
            "st.release.gpu.global.u32 [%d4], 1;",
            acquire,
            "the release of a flag is for the scope `.gpu`",
            "`.release.sys`",
        ),
        (
            release,
            "ld.acquire.gpu.global.u32 %r3, [%d3];",
            "the acquire of a flag is for the scope `.gpu`",
            "`.acquire.sys`",
        ),
        ("fence.acq_rel.gpu;\nst.relaxed.sys.global.u32 [%d4], 1;", acquire, "the release of a flag", "`.release.sys`"),
        (
            "membar.gl;\nst.volatile.global.u32 [%d4], 1;",
            "ld.volatile.global.u32 %r3, [%d3];\nmembar.sys;",
            "the release of a flag",
            "sys",
        ),
        ("st.relaxed.sys.global.u32 [%d4], 1;", acquire, "its write does not release", "__threadfence_system()"),
        (release, "ld.relaxed.sys.global.u32 %r3, [%d3];", "its read does not acquire", "__threadfence_system()"),
        ("red.release.gpu.global.add.u32 [%d4], 1;", "ld.acquire.sys.global.u32 %r3, [%d3];", "scope", "sys"),
    ] {
        let (report, _) = run(&exchange(tells, waits), 8);
        let found = report.findings.iter().find(|finding| finding.kind == Kind::Order);
        let found = found.unwrap_or_else(|| panic!("{tells} {waits}: {report}"));
        let text = format!("{report}");
        assert!(text.contains(words) && text.contains(help), "{tells} {waits}: {text}");
        let gpus: Vec<Option<u32>> = found.places.iter().take(2).map(|place| place.gpu).collect();
        assert!(gpus.contains(&Some(0)) && gpus.contains(&Some(1)), "{found}");
        assert!(found.places.iter().all(|place| (place.block as usize) < BLOCKS), "{found}");
        assert!(text.contains("of GPU 1 "), "{text}");
    }
}

#[test]
fn blocks_of_one_gpu_need_no_more_than_its_scope() {
    // Block 0 tells block 1 of the same GPU; the other GPU does the same with its own memory.
    let text = |scope: &str, place: &str| {
        format!(
            ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry pass(.param .u64 data, .param .u64 flag) {{\n\
             .reg .b32 %r<4>; .reg .b64 %d<3>; .reg .pred %p<3>;\n\
             ld.param.u64 %d1, [data];\nld.param.u64 %d2, [{place}];\nmov.u32 %r1, %ctaid.x;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra READ;\n\
             st.global.u32 [%d1], 7;\nst.release.{scope}.global.u32 [%d2], 1;\nret;\n\
             READ:\nld.acquire.{scope}.global.u32 %r2, [%d2];\nsetp.eq.u32 %p2, %r2, 0;\n@%p2 bra READ;\nld.global.u32 %r3, [%d1];\nret;\n}}"
        )
    };
    for (scope, is_clean) in [("gpu", true), ("sys", true), ("cluster", false)] {
        let program = Program::parse(&text(scope, "flag"));
        let mut trial = Trial::new(&program, "pass");
        trial.gpus(2).grid([2, 1, 1]).block([1, 1, 1]);
        for _ in 0..2 {
            trial.buffer(&[0; 4]).unwrap().buffer(&[0; 4]).unwrap();
        }
        let report = trial.check();
        assert_eq!(report.is_clean(), is_clean, "{scope}: {report}");
    }
}

#[test]
fn atomics_of_two_gpus_go_together_for_the_system_alone() {
    for (scope, kinds) in [("sys", &[][..]), ("gpu", &[Kind::Order][..])] {
        let program = Program::parse(&format!(
            ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry count(.param .u64 p) {{\n\
             .reg .b32 %r<2>; .reg .b64 %d<2>;\nld.param.u64 %d1, [p];\natom.relaxed.{scope}.global.add.u32 %r1, [%d1], 1;\nret;\n}}"
        ));
        let mut trial = Trial::new(&program, "count");
        trial.gpus(2).buffer(&[0; 4]).unwrap();
        trial.same(0);
        let report = trial.check();
        assert_eq!(report.findings.iter().map(|finding| finding.kind).collect::<Vec<_>>(), kinds, "{report}");
        assert_eq!(trial.content(0), 64u32.to_le_bytes());
    }
}

#[test]
fn what_is_not_known_of_several_gpus_is_named() {
    let program = Program::parse(
        ".version 8.0\n.target sm_80\n.address_size 64\n.global .u32 count;\n.visible .entry k() {\n.reg .b32 %r<2>;\n\
         ld.global.u32 %r1, [count];\nret;\n}",
    );
    let report = Trial::new(&program, "k").gpus(2).check();
    assert!(report.to_string().contains("`count`, of which each GPU has its own"), "{report}");
}
