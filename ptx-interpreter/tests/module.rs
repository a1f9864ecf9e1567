//! What the variables of a module begin with, in the forms in which nvcc writes it, and calls of functions by their addresses.

use ptx_interpreter::{Program, Report, Trial};

const VARIABLES: &str = "
.global .align 4 .f32 scale = 0f3FC00000;
.const .align 8 .f64 wide = 0d4004000000000000;
.global .align 4 .f32 plain = 0.25;
.global .align 4 .b8 numbers[16] = {1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 252, 255, 255, 255};
.global .align 8 .u64 first = generic(numbers);
.global .align 8 .u64 third = generic(numbers)+8;
.global .align 8 .u64 mixed[3] = {7, numbers+12, 1077936128};
.global .align 8 .b8 bytes[8] = {0xFF(numbers), 0xFF00(numbers), 0xFF0000(numbers), 0xFF000000(numbers), 0xFF00000000(numbers), \
                                0xFF0000000000(numbers), 0xFF000000000000(numbers), 0xFF00000000000000(numbers)};
.global .align 8 .u64 table[3] = {plus, times, first};
.func (.param .b32 r) plus(.param .b32 a, .param .b32 b) {
  .reg .b32 %r<4>;
  ld.param.b32 %r1, [a];
  ld.param.b32 %r2, [b];
  add.s32 %r3, %r1, %r2;
  st.param.b32 [r], %r3;
  ret;
}
.func (.param .b32 r) times(.param .b32 a, .param .b32 b) {
  .reg .b32 %r<4>;
  ld.param.b32 %r1, [a];
  ld.param.b32 %r2, [b];
  mul.lo.s32 %r3, %r1, %r2;
  st.param.b32 [r], %r3;
  ret;
}
";

fn run(body: &str, threads: u32) -> (Vec<u32>, Report) {
    let text = format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n{VARIABLES}\n.visible .entry k(.param .u64 out) {{\n\
         .reg .b32 %r<16>;\n.reg .b64 %p<16>;\n.reg .f32 %f<4>;\n.reg .f64 %d<4>;\n\
         ld.param.u64 %p0, [out];\nmov.u32 %r0, %tid.x;\nmul.wide.u32 %p1, %r0, 4;\nadd.u64 %p1, %p0, %p1;\n{body}\nret;\n}}\n"
    );
    let program = Program::parse(&text);
    let mut trial = Trial::new(&program, "k");
    trial.block([threads, 1, 1]).buffer(&[0; 128]).unwrap();
    let report = trial.check();
    let words = trial.content(0).chunks(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect();
    (words, report)
}

#[test]
fn variables_begin_with_numbers_and_addresses() {
    for (load, want) in [
        ("ld.global.f32 %f1, [scale];\nst.global.f32 [%p1], %f1;", 1.5f32.to_bits()),
        ("ld.const.f64 %d1, [wide];\ncvt.rn.f32.f64 %f1, %d1;\nst.global.f32 [%p1], %f1;", 2.5f32.to_bits()),
        ("ld.global.f32 %f1, [plain];\nst.global.f32 [%p1], %f1;", 0.25f32.to_bits()),
        ("ld.global.u64 %p2, [first];\nld.u32 %r1, [%p2+4];\nst.global.u32 [%p1], %r1;", 2),
        ("ld.global.u64 %p2, [third];\nld.u32 %r1, [%p2];\nst.global.u32 [%p1], %r1;", 3),
        ("ld.global.u64 %p2, [mixed+8];\nld.u32 %r1, [%p2];\nst.global.u32 [%p1], %r1;", -4i32 as u32),
        ("ld.global.u32 %r1, [mixed+16];\nst.global.u32 [%p1], %r1;", 3f32.to_bits()),
        ("ld.global.u64 %p2, [bytes];\nld.u32 %r1, [%p2];\nst.global.u32 [%p1], %r1;", 1),
    ] {
        let (words, report) = run(load, 1);
        assert!(report.stop.is_none() && report.findings.is_empty(), "{load}: {:?}", report.stop);
        assert_eq!(words[0], want, "{load}");
    }
}

/// A call of what the table has, or of a name whose address is in a register.
fn call(target: &str) -> String {
    format!(
        "{target}\n{{\n.param .b32 a;\n.param .b32 b;\n.param .b32 r;\nst.param.b32 [a], %r0;\nst.param.b32 [b], 5;\n\
         proto : .callprototype (.param .b32 _) _ (.param .b32 _, .param .b32 _);\ncall (r), %p3, (a, b), proto;\n\
         ld.param.b32 %r5, [r];\n}}\nst.global.u32 [%p1], %r5;"
    )
}

#[test]
fn each_lane_calls_its_own_function() {
    let own = "and.b32 %r1, %r0, 1;\nmul.wide.u32 %p2, %r1, 8;\nmov.u64 %p4, table;\nadd.u64 %p4, %p4, %p2;\nld.global.u64 %p3, [%p4];";
    let (words, report) = run(&call(own), 32);
    assert!(report.stop.is_none() && report.findings.is_empty(), "{:?}", report.stop);
    let want = (0..32).map(|t| if t % 2 == 0 { t + 5 } else { t * 5 });
    assert!(words.into_iter().eq(want));
    let (words, report) = run(&call("mov.u64 %p3, times;"), 32);
    assert!(report.stop.is_none());
    assert!(words.into_iter().eq((0..32).map(|t| t * 5)));
}

#[test]
fn what_is_no_function_is_not_called() {
    for target in ["ld.global.u64 %p3, [table+16];", "mov.u64 %p3, times;\nadd.u64 %p3, %p3, 4;", "mov.u64 %p3, 0;"] {
        let (_, report) = run(&call(target), 32);
        let text = report.findings.first().map(ToString::to_string).unwrap_or_default();
        assert!(text.starts_with("error[launch]") && text.contains("no function is at 0x"), "{target}: {text}");
    }
    // Nobody has a function's bytes.
    let (_, report) = run("mov.u64 %p3, times;\nld.u32 %r1, [%p3];\nst.global.u32 [%p1], %r1;", 1);
    assert_eq!(report.findings.first().map(|finding| finding.kind.word()), Some("bounds"));
}

#[test]
fn a_vector_of_registers_has_a_name() {
    let body = ".reg .v4 .b32 v, w<2>;
        mov.u32 v.x, 3; mov.u32 v.y, 4; mov.u32 v.b, 5; mov.u32 v.a, 6;
        st.global.v4.b32 [%p0], v;
        ld.global.v4.b32 w1, [%p0];
        add.u32 %r1, w1.r, w1.w;
        st.global.u32 [%p0+0x10], %r1;
        st.global.u32 [%p0+20], w1.z;";
    let (words, report) = run(body, 1);
    assert!(report.is_clean(), "{report}");
    assert_eq!(words[..6], [3, 4, 5, 6, 9, 5]);
}

/// As a predicate every number but 0 is true.
#[test]
fn a_number_may_stand_for_a_predicate() {
    let body = ".reg .pred %q<8>;
        setp.eq.u32 %q0, %r0, 3;
        xor.pred %q1, %q0, -1;
        and.pred %q2, %q0, 2;
        mov.pred %q3, -4;
        mov.pred %q4, 0;
        setp.lt.xor.u32 %q5, %r0, 3, -1;
        bar.red.popc.u32 %r1, 0, 5;
        vote.sync.ballot.b32 %r2, 8, -1;
        vote.sync.ballot.b32 %r3, %q1, -1;
        selp.u32 %r4, 1, 0, %q1;
        selp.u32 %r5, 2, 0, %q2;
        selp.u32 %r6, 4, 0, %q3;
        selp.u32 %r7, 8, 0, %q4;
        selp.u32 %r8, 16, 0, %q5;
        add.u32 %r9, %r4, %r5; add.u32 %r9, %r9, %r6; add.u32 %r9, %r9, %r7; add.u32 %r9, %r9, %r8;
        mad.lo.u32 %r9, %r1, 256, %r9;
        popc.b32 %r2, %r2; mad.lo.u32 %r9, %r2, 65536, %r9;
        popc.b32 %r3, %r3; mad.lo.u32 %r9, %r3, 16777216, %r9;
        st.global.u32 [%p1], %r9;";
    let (words, report) = run(body, 32);
    assert!(report.is_clean(), "{report}");
    let expected = |t: u32| 31 << 24 | 32 << 16 | 32 << 8 | u32::from(t >= 3) << 4 | 4 | if t == 3 { 2 } else { 1 };
    assert_eq!(words, (0..32).map(expected).collect::<Vec<_>>());
}

/// A place in dynamic shared memory counts from where that begins, and of many calls the first and the last ones are shown.
#[test]
fn places_are_told_in_short() {
    let inlined = (2..10).rev().map(|line| format!(".loc 1 {line} 0, function_name $n, inlined_at 1 {} 0\n", line + 1));
    let calls: String = [".loc 1 10 0\n".to_owned()].into_iter().chain(inlined).collect();
    let text = format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n.extern .shared .align 16 .b8 more[];\n.visible .entry k(.param .u64 out) {{\n\
         .shared .align 4 .b8 own[20];\n.reg .b32 %r<4>;\n.reg .b64 %p<4>;\nld.param.u64 %p0, [out];\nmov.u32 %r1, own;\n\
         {calls}ld.shared.u32 %r2, [more+8];\nst.global.u32 [%p0], %r2;\nret;\n}}\n.file 1 \"a.cu\"\n"
    );
    let program = Program::parse(&text);
    let mut trial = Trial::new(&program, "k");
    trial.block([1, 1, 1]).shared(64).buffer(&[0; 4]).unwrap();
    let report = trial.check().to_string();
    assert!(report.contains("byte 8 of the dynamic shared memory of block 0"), "{report}");
    let called: Vec<&str> = report.lines().filter_map(|line| line.trim_start().strip_prefix("called ")).collect();
    assert_eq!(
        called[..6],
        ["at a.cu:3", "by 3 functions in between", "at a.cu:7", "at a.cu:8", "at a.cu:9", "at a.cu:10"],
        "{report}"
    );
}
