//! Local memory whose size a thread chooses, and calls that only some threads make.

use ptx_interpreter::{Kind, Program, Report, Trial};

const HEAD: &str = ".version 9.0\n.target sm_80\n.address_size 64\n";

fn run(functions: &str, body: &str) -> (Report, Vec<u32>) {
    let text = format!(
        "{HEAD}{functions}\n.visible .entry k(.param .u64 out) {{\n.reg .pred %p<4>;\n.reg .b64 %d<12>;\n.reg .b32 %r<16>;\n\
         ld.param.u64 %d1, [out];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %d2, %r1, 4;\nadd.u64 %d2, %d1, %d2;\n{body}\nret;\n}}\n"
    );
    let program = Program::parse(&text);
    assert!(program.gaps().is_empty(), "{:?}", program.gaps());
    let mut trial = Trial::new(&program, "k");
    trial.block([32, 1, 1]);
    trial.buffer(&[0; 128]).unwrap();
    let report = trial.check();
    let content = trial.content(0).chunks(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect();
    (report, content)
}

/// It asks for 8 bytes, and gives back its argument and one.
const ADDS_ONE: &str = ".func (.param .b32 result) one(.param .b32 number) {\n.reg .b64 %d<3>;\n.reg .b32 %r<3>;\nmov.u64 %d1, 8;\n\
    alloca.u64 %d2, %d1;\nld.param.u32 %r1, [number];\nadd.u32 %r1, %r1, 1;\nst.local.u32 [%d2+4], %r1;\nld.local.u32 %r2, [%d2+4];\n\
    st.param.b32 [result], %r2;\nret;\n}\n.func (.param .b32 result) hundred(.param .b32 number) {\n.reg .b32 %r<3>;\n\
    ld.param.u32 %r1, [number];\nadd.u32 %r1, %r1, 100;\nst.param.b32 [result], %r1;\nret;\n}";

const CALL: &str = "{\n.param .b32 to;\n.param .b32 from;\nst.param.b32 [from], %r3;\ncall (to), one, (from);\nld.param.b32 %r4, [to];\n}";

/// Each thread has as many bytes as it asks for. They are its own during calls, and after them.
#[test]
fn threads_choose_how_much_they_have() {
    let body = format!(
        "mul.wide.u32 %d3, %r1, 16;\nadd.u64 %d3, %d3, 8;\nalloca.u64 %d4, %d3, 32;\nand.b64 %d9, %d4, 31;\ncvt.u32.u64 %r9, %d9;\nadd.u64 %d5, %d4, %d3;\n\
         add.u32 %r3, %r1, 1000;\nst.local.u32 [%d4], %r1;\nst.local.u32 [%d5+-4], %r3;\n{CALL}\nld.local.u32 %r5, [%d4];\n\
         ld.local.u32 %r6, [%d5+-4];\nadd.u32 %r7, %r4, %r5;\nadd.u32 %r7, %r7, %r6;\nadd.u32 %r7, %r7, %r9;\nst.global.u32 [%d2], %r7;"
    );
    let (report, content) = run(ADDS_ONE, &body);
    assert!(report.is_clean(), "{report}");
    let expected: Vec<u32> = (0..32).map(|lane| (lane + 1000 + 1) + lane + (lane + 1000)).collect();
    assert_eq!(content, expected);
}

#[test]
fn memory_that_is_given_back_has_no_value_when_it_is_given_again() {
    let body = |restores: &str| {
        format!(
            "stacksave.u64 %d7;\nmov.u64 %d3, 16;\nalloca.u64 %d4, %d3;\nst.local.u32 [%d4], %r1;\n{restores}\nalloca.u64 %d5, %d3;\n\
             ld.local.u32 %r5, [%d4];\nst.global.u32 [%d2], %r5;"
        )
    };
    let (report, content) = run("", &body(""));
    assert!(report.is_clean(), "{report}");
    assert_eq!(content, (0..32).collect::<Vec<u32>>());
    let (report, _) = run("", &body("stackrestore.u64 %d7;"));
    assert!(report.findings.iter().any(|finding| finding.kind == Kind::Uninitialised), "{report}");
}

#[test]
fn an_access_behind_what_was_asked_for_is_a_finding() {
    let body = |at: u32| {
        format!("mov.u64 %d3, 16;\nalloca.u64 %d4, %d3;\nst.local.u32 [%d4+{at}], %r1;\nst.global.u32 [%d2], %r1;")
    };
    let (report, _) = run("", &body(12));
    assert!(report.is_clean(), "{report}");
    let (report, _) = run("", &body(16));
    assert!(!report.is_clean(), "{report}");
}

#[test]
fn a_stack_has_an_end() {
    let (report, _) = run("", "mov.u64 %d3, 9000000;\nalloca.u64 %d4, %d3;");
    assert!(report.to_string().contains("a stack overflows"), "{report}");
    let (report, _) = run("", "mov.u64 %d3, 4096;\nstackrestore.u64 %d3;");
    assert!(report.to_string().contains("no stacksave of its function"), "{report}");
}

/// A call of a name and one of an address, by the threads whose predicate holds.
#[test]
fn a_call_may_have_a_guard() {
    let body = "setp.lt.u32 %p1, %r1, 10;\nand.b32 %r10, %r1, 1;\nsetp.eq.u32 %p2, %r10, 0;\nmov.u64 %d5, one;\n@%p2 mov.u64 %d5, hundred;\n\
        mov.u32 %r4, %r1;\n{\n.param .b32 to;\n.param .b32 from;\nst.param.b32 [to], %r1;\nst.param.b32 [from], %r1;\n\
        @%p1 call (to), one, (from);\nst.param.b32 [from], %r1;\n@!%p1 call (to), %d5, (from), type;\nld.param.b32 %r4, [to];\n}\n\
        st.global.u32 [%d2], %r4;";
    let functions = format!("{ADDS_ONE}\ntype: .callprototype (.param .b32 _) _ (.param .b32 _);");
    let (report, content) = run(&functions, body);
    assert!(report.is_clean(), "{report}");
    let expected = (0..32).map(|lane| lane + if lane < 10 || lane % 2 == 1 { 1 } else { 100 });
    assert_eq!(content, expected.collect::<Vec<u32>>());
}
