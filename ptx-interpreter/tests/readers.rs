//! Readers of memory that nobody has written are remembered by the kilobyte: a write there meets each of them.

use ptx_interpreter::{Kind, Program, Trial};

/// 64 threads: those of the first warp read, and one of the second warp writes a word. Tells whether that is a race, which is the
/// same in every order of the threads. Which reader is named is not.
fn races(reads: &str, writes: u32) -> bool {
    let all: Vec<_> = (0..16).map(|seed| races_in(seed, reads, writes)).collect();
    assert!(all.iter().all(|one| *one == all[0]), "{reads} {all:?}");
    all[0]
}

fn races_in(seed: u64, reads: &str, writes: u32) -> bool {
    let module = format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n\
         .visible .entry k(.param .u64 p) {{ .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .pred %p<9>;\n\
         ld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x; setp.ge.u32 %p1, %r1, 32; setp.eq.u32 %p2, %r1, 40;\n\
         and.b32 %r2, %r1, 1; setp.eq.u32 %p3, %r2, 0; setp.lt.u32 %p4, %r1, 4;\n\
         mul.wide.u32 %d2, %r1, 4; add.u64 %d2, %d1, %d2;\n{reads}\n\
         @%p2 st.global.u32 [%d1+{}], %r1; ret; }}\n",
        4 * writes
    );
    let program = Program::parse(&module);
    let mut trial = Trial::new(&program, "k");
    trial.seed(seed).block([64, 1, 1]).buffer(&[0; 1024]).expect("a little memory");
    let report = trial.check();
    assert_eq!(report.stop, None, "{reads}");
    report.findings.iter().any(|finding| finding.kind == Kind::Race)
}

const BARRIER: &str = "bar.sync 0;\n";

#[test]
fn a_write_meets_the_reader_of_its_word() {
    // Each of the first warp reads its own word.
    let row = "@!%p1 ld.global.u32 %r3, [%d2];\n";
    assert!(races(row, 7));
    assert!(!races(row, 100));
    assert!(!races(&[row, BARRIER].concat(), 7));
    // The reads of a newer epoch stand for the older ones.
    assert!(races(&[row, BARRIER, row].concat(), 7));
    assert!(!races(&[row, BARRIER, row, BARRIER, row, BARRIER].concat(), 7));
    let first_four = "@%p4 ld.global.u32 %r3, [%d2];\n";
    assert!(!races(&[row, BARRIER, row, BARRIER, first_four].concat(), 7));
    assert!(races(&[row, BARRIER, row, BARRIER, first_four].concat(), 3));
}

#[test]
fn lanes_that_read_apart_are_told_apart() {
    // Lanes from 16 on read word 100, those with an odd number word 101, and the first four word 102.
    let apart = "setp.lt.u32 %p5, %r1, 16; @%p1 bra DONE;\n@!%p5 ld.global.u32 %r3, [%d1+400];\n\
                 @!%p3 ld.global.u32 %r3, [%d1+404];\n@%p4 ld.global.u32 %r3, [%d1+408];\nDONE:\n";
    assert_eq!([100, 101, 102, 103].map(|word| races(apart, word)), [true, true, true, false]);
    assert!(!races(&[apart, BARRIER].concat(), 101));
    // Who reads the word writes it after the others.
    assert!(!races("@%p2 ld.global.u32 %r3, [%d1+404];\n", 101));
}
