//! Readers of memory that nobody has written are remembered by the kilobyte: a write there meets each of them.

use ptx_interpreter::{Kind, Program, Trial};

/// What 64 threads do: those of the first warp read, and one of the second warp writes a word.
fn races(reads: &str, writes: u32) -> Vec<(u32, u32)> {
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
    trial.block([64, 1, 1]).buffer(&[0; 1024]).expect("a little memory");
    let report = trial.check();
    assert_eq!(report.stop, None, "{reads}");
    let races = report.findings.iter().filter(|finding| finding.kind == Kind::Race);
    races.map(|finding| (finding.places[0].thread.min(finding.places[1].thread), finding.times as u32)).collect()
}

const BARRIER: &str = "bar.sync 0;\n";

#[test]
fn a_write_meets_the_reader_of_its_word() {
    // Each of the first warp reads its own word.
    let row = "@!%p1 ld.global.u32 %r3, [%d2];\n";
    assert_eq!(races(row, 7), [(7, 1)]);
    assert_eq!(races(row, 100), []);
    assert_eq!(races(&[row, BARRIER].concat(), 7), []);
    // The reads of a newer epoch stand for the older ones.
    assert_eq!(races(&[row, BARRIER, row].concat(), 7), [(7, 1)]);
    assert_eq!(races(&[row, BARRIER, row, BARRIER, row, BARRIER].concat(), 7), []);
    assert_eq!(races(&[row, BARRIER, row, BARRIER, "@%p4 ld.global.u32 %r3, [%d2];\n"].concat(), 7), []);
    assert_eq!(races(&[row, BARRIER, row, BARRIER, "@%p4 ld.global.u32 %r3, [%d2];\n"].concat(), 3), [(3, 1)]);
}

#[test]
fn lanes_that_read_apart_are_told_apart() {
    // All lanes read word 100, those with an even number word 101, and the first four word 102.
    let apart = "@%p1 bra DONE; ld.global.u32 %r3, [%d1+400];\n@%p3 ld.global.u32 %r3, [%d1+404];\n\
                 @%p4 ld.global.u32 %r3, [%d1+408];\nDONE:\n";
    let count = |writes: u32| races(apart, writes).iter().map(|(_, times)| times).sum::<u32>();
    assert_eq!([count(100), count(101), count(102), count(103)], [32, 16, 4, 0]);
    assert_eq!(races(&[apart, BARRIER].concat(), 101), []);
}
