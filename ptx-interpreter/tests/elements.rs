//! Elements of arrays by their numbers: `mov` takes the address of one, a load or a store what is there.

use ptx_interpreter::{Program, Trial};

const ELEMENTS: &str = "
.version 8.0
.target sm_80
.address_size 64
.global .u32 words[4] = { 10, 11, 12, 13 };
.global .v2 .u16 pairs[4];
.visible .entry test(.param .u64 to, .param .align 4 .b32 given[4])
{
    .reg .b64 %rd<9>;
    .reg .b32 %r<9>;
    .local .align 8 .b8 own[32];
    .shared .u16 all[8];
    .local .u64 far[4];
    ld.param.u64 %rd1, [to];
    mov.u64 %rd2, words;
    mov.u64 %rd3, words[3];
    sub.u64 %rd3, %rd3, %rd2;
    st.global.u64 [%rd1], %rd3;
    mov.u64 %rd3, words+8;
    sub.u64 %rd3, %rd3, %rd2;
    st.global.u64 [%rd1+8], %rd3;
    cvta.global.u64 %rd3, words[1];
    ld.u32 %r1, [%rd3];
    st.global.u32 [%rd1+16], %r1;
    ld.global.u32 %r1, words[2];
    st.global.u32 [%rd1+20], %r1;
    mov.u64 %rd4, pairs;
    mov.u64 %rd3, pairs[3];
    sub.u64 %rd3, %rd3, %rd4;
    st.global.u64 [%rd1+24], %rd3;
    mov.u64 %rd4, own[0];
    mov.u64 %rd3, own[5];
    sub.u64 %rd3, %rd3, %rd4;
    st.global.u64 [%rd1+32], %rd3;
    st.shared.u16 all[3], 7;
    mov.u32 %r2, all;
    ld.shared.u16 %r1, [%r2+6];
    st.global.u32 [%rd1+40], %r1;
    ld.param.u32 %r1, given[2];
    st.global.u32 [%rd1+44], %r1;
    st.local.u64 far[2], %rd2;
    ld.local.u64 %rd3, [far+16];
    sub.u64 %rd3, %rd3, %rd2;
    st.global.u64 [%rd1+48], %rd3;
    ret;
}
";

#[test]
fn an_element_has_its_number() {
    let program = Program::parse(ELEMENTS);
    let mut trial = Trial::new(&program, "test");
    trial.block([1, 1, 1]).buffer(&[0; 56]).unwrap();
    trial.value(&[21u32, 22, 23, 24].map(u32::to_le_bytes).concat());
    let report = trial.check();
    assert!(report.is_clean(), "{report}");
    let words: Vec<u32> = trial.content(0).chunks(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect();
    // An element of a vector is one of its numbers, as for `ptxas`.
    assert_eq!(words, [12, 0, 8, 0, 11, 12, 6, 0, 5, 0, 7, 23, 0, 0]);
}

#[test]
fn what_is_no_element_is_named() {
    let program = Program::parse(&ELEMENTS.replace("words[3];", "words[%r1];"));
    let mut trial = Trial::new(&program, "test");
    trial.block([1, 1, 1]).buffer(&[0; 56]).unwrap();
    trial.value(&[0; 16]);
    let report = trial.check().to_string();
    assert!(report.contains("mov.u64 %rd3, words[%r1]: the operand words[%r1] is unknown"), "{report}");
}
