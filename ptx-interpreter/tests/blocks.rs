//! Names hold in their block in braces: what `asm` in C++ writes in braces has the same names again and again.

use ptx_interpreter::{Program, Trial};

fn first_word(body: &str) -> u32 {
    let module = format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n\
         .func (.param .b32 sum) add(.param .b64 a, .param .b32 b)\n{{ .reg .b32 %r<4>; .reg .b64 %d<2>;\n\
         ld.param.u64 %d1, [a]; ld.param.u32 %r2, [b]; cvt.u32.u64 %r1, %d1; add.u32 %r3, %r1, %r2;\n\
         st.param.b32 [sum], %r3; ret; }}\n\
         .visible .entry k(.param .u64 p) {{ .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .pred %p<3>;\n\
         ld.param.u64 %d1, [p]; mov.u32 %r1, 0;\n{body}\nst.global.u32 [%d1], %r1; ret; }}\n"
    );
    let program = Program::parse(&module);
    let mut trial = Trial::new(&program, "k");
    trial.block([1, 1, 1]).buffer(&[0; 4]).expect("a little memory");
    let report = trial.check();
    assert_eq!((report.findings, report.stop), (vec![], None), "{body}");
    let content = trial.content(0);
    u32::from_le_bytes([content[0], content[1], content[2], content[3]])
}

#[test]
fn labels_are_those_of_their_block() {
    let turns = |count: u32| {
        format!(
            "{{ .reg .pred P1; .reg .u32 n; mov.u32 n, 0;\nWAIT: add.u32 n, n, 1; add.u32 %r1, %r1, 1;\n\
             setp.eq.u32 P1, n, {count}; @P1 bra DONE; bra WAIT;\nDONE: }}\n"
        )
    };
    assert_eq!(first_word(&[turns(3), turns(20), turns(100)].concat()), 123);
    // A label of a block around it is seen from within.
    assert_eq!(first_word("AGAIN: add.u32 %r1, %r1, 1; { setp.lt.u32 %p1, %r1, 7; @%p1 bra AGAIN; }"), 7);
}

#[test]
fn registers_are_those_of_their_block() {
    let other_types = "{ .reg .pred t; setp.eq.u32 t, %r1, 0; @t add.u32 %r1, %r1, 5; }\n\
                       { .reg .b64 t; cvt.u64.u32 t, %r1; shl.b64 t, t, 1; cvt.u32.u64 %r1, t; }";
    assert_eq!(first_word(other_types), 10);
    let hidden = "mov.u32 %r2, 4; { .reg .b32 %r2; mov.u32 %r2, 100; { .reg .b32 %r2; mov.u32 %r2, 7; } \
                  add.u32 %r1, %r1, %r2; } add.u32 %r1, %r1, %r2;";
    assert_eq!(first_word(hidden), 104);
}

#[test]
fn parameters_of_calls_are_those_of_their_block() {
    let call = |a: u64, b: u32| {
        format!(
            "{{ .param .b64 param0; .param .b32 param1; .param .b32 retval0; mov.u64 %d2, {a}; mov.u32 %r3, {b};\n\
             st.param.b64 [param0], %d2; st.param.b32 [param1], %r3;\n\
             call.uni (retval0), add, (param0, param1); ld.param.b32 %r4, [retval0]; add.u32 %r1, %r1, %r4; }}\n"
        )
    };
    // In the second block `param0` is no argument, and shorter.
    let short = "{ .param .b32 param0; st.param.b32 [param0], 9; ld.param.b32 %r5, [param0]; add.u32 %r1, %r1, %r5; }";
    assert_eq!(first_word(&[call(1, 2), short.into(), call(30, 40)].concat()), 1 + 2 + 9 + 70);
}
