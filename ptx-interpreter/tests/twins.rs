//! Threads of a block that store the same value by one instruction.

use ptx_interpreter::{Kind, Program, Report, Trial};

/// What is found, which is the same if loads may return older values.
fn checked(program: &Program, prepare: impl Fn(&mut Trial<'_>)) -> Report {
    let check = |seed: Option<u64>| {
        let mut trial = Trial::new(program, "kernel");
        prepare(&mut trial);
        if let Some(seed) = seed {
            trial.seed(seed).weak(true);
        }
        trial.check()
    };
    let report = check(None);
    (0..4).for_each(|seed| assert_eq!(kinds(&check(Some(seed))), kinds(&report), "--weak with seed {seed}"));
    report
}

/// A block of 64 threads: each stores to the first word, and reads it.
fn check(value: &str, between: &str, blocks: u32) -> Report {
    let program = Program::parse(&format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry kernel(.param .u64 p) {{\n\
         .reg .b32 %r<4>; .reg .b64 %d<2>;\n\
         ld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x; {value}\n\
         st.global.u32 [%d1], %r2;\n{between}\nret;\n}}"
    ));
    checked(&program, |trial| {
        trial.grid([blocks, 1, 1]).block([64, 1, 1]).buffer(&[0; 4]).expect("there is memory");
    })
}

fn kinds(report: &Report) -> Vec<Kind> {
    assert!(report.stop.is_none(), "{report}");
    report.findings.iter().map(|finding| finding.kind).collect()
}

#[test]
fn the_same_value_is_no_race() {
    assert_eq!(kinds(&check("mov.u32 %r2, 7;", "", 1)), []);
    assert_eq!(kinds(&check("mov.u32 %r2, 7;", "bar.sync 0;\nld.global.u32 %r3, [%d1];", 1)), []);
}

#[test]
fn other_values_and_other_blocks_race() {
    assert_eq!(kinds(&check("mov.u32 %r2, %r1;", "", 1)), [Kind::Race]);
    assert_eq!(kinds(&check("shr.u32 %r2, %r1, 5;", "", 1)), [Kind::Race]);
    assert_eq!(kinds(&check("mov.u32 %r2, 7;", "", 2)), [Kind::Race]);
}

#[test]
fn a_read_has_to_be_ordered_after_all_of_them() {
    assert_eq!(kinds(&check("mov.u32 %r2, 7;", "ld.global.u32 %r3, [%d1];", 1)), [Kind::Race]);
    assert_eq!(
        kinds(&check("mov.u32 %r2, 7;", "bar.warp.sync 0xffffffff;\nld.global.u32 %r3, [%d1];", 1)),
        [Kind::Race]
    );
}

#[test]
fn another_instruction_races_even_with_the_same_value() {
    assert_eq!(kinds(&check("mov.u32 %r2, 7;", "st.global.u32 [%d1], %r2;", 1)), [Kind::Race]);
}

/// A compiler unrolls a loop: the instructions of one line are one, but not those of other lines or of another call.
#[test]
fn instructions_of_one_line_are_as_one() {
    let file = ".file 1 \"loop.cu\"";
    for (first, second, expected) in [
        (".loc 1 9 3", ".loc 1 9 5", None),
        (".loc 1 9 3", ".loc 1 10 3", Some(Kind::Race)),
        (".loc 1 9 3", ".loc 1 9 3, function_name $name, inlined_at 1 20 1", Some(Kind::Race)),
    ] {
        let value = format!("mov.u32 %r2, 7;\n{first}");
        let between = format!("{second}\nst.global.u32 [%d1], %r2;\nret;\n}}\n{file}\n.func unused() {{");
        let found = kinds(&check(&value, &between, 1));
        assert_eq!(found, expected.into_iter().collect::<Vec<_>>(), "{first}, {second}");
    }
    let other_value = "mov.u32 %r2, 7;\n.loc 1 9 3";
    let between = format!(".loc 1 9 3\nst.global.u32 [%d1], %r1;\nret;\n}}\n{file}\n.func unused() {{");
    assert_eq!(kinds(&check(other_value, &between, 1)), [Kind::Race]);
}

/// Threads whose numbers differ in some bits store 16 bytes to one place, and what they store is made of `value`.
fn check_pairs(differ: u32, value: &str, seed: u64) -> Report {
    let program = Program::parse(&format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry kernel(.param .u64 p) {{\n\
         .reg .b32 %r<4>; .reg .b64 %d<3>;\n\
         ld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x; and.b32 %r2, %r1, {};\n\
         mul.wide.u32 %d2, %r2, 16; add.u64 %d1, %d1, %d2; {value}\n\
         st.global.v4.u32 [%d1], {{%r2, %r3, %r2, %r3}};\nret;\n}}",
        63 & !differ
    ));
    checked(&program, |trial| {
        trial.block([64, 1, 1]).seed(seed).buffer(&[0xff; 1024]).expect("there is memory");
    })
}

#[test]
fn threads_of_a_warp_in_any_order_store_the_same() {
    for differ in (1..32).chain([33, 48]) {
        for seed in 0..8 {
            assert_eq!(kinds(&check_pairs(differ, "mov.u32 %r3, %r2;", seed)), [], "{differ} with seed {seed}");
            assert_eq!(
                kinds(&check_pairs(differ, "mov.u32 %r3, %r1;", seed)),
                [Kind::Race],
                "{differ} with seed {seed}"
            );
        }
    }
}

/// Two warps store a matrix to one place by `stmatrix`: of their lanes' numbers, shifted by some bits.
fn check_matrix(value: &str, after: &str) -> Report {
    let program = Program::parse(&format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry kernel() {{\n\
         .reg .b32 %r<5>; .shared .align 16 .b8 rows[512];\n\
         mov.u32 %r1, %tid.x; and.b32 %r2, %r1, 31; {value}\n\
         mov.u32 %r4, rows; mad.lo.u32 %r4, %r2, 16, %r4;\n\
         stmatrix.sync.aligned.m8n8.x4.shared.b16 [%r4], {{%r3, %r2, %r3, %r2}};\n{after}\nret;\n}}"
    ));
    checked(&program, |trial| {
        trial.block([64, 1, 1]);
    })
}

#[test]
fn warps_store_the_same_matrix() {
    assert_eq!(kinds(&check_matrix("mov.u32 %r3, %r2;", "")), []);
    assert_eq!(kinds(&check_matrix("mov.u32 %r3, %r2;", "bar.sync 0;\nld.shared.u32 %r1, [%r4];")), []);
    assert_eq!(kinds(&check_matrix("mov.u32 %r3, %r1;", "")), [Kind::Race]);
    assert_eq!(kinds(&check_matrix("mov.u32 %r3, %r2;", "bar.warp.sync -1;\nld.shared.u32 %r1, [%r4];")), [Kind::Race]);
}
