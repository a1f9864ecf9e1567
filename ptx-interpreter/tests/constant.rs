//! `ld.global.nc` of bytes that the grid writes.

use ptx_interpreter::{Finding, Kind, Program, Trial};

/// What a kernel of 64 threads does wrong: `%p1` is true in thread 3, `%p2` in thread 40.
fn findings(body: &str) -> Vec<Finding> {
    let module = format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n\
         .visible .entry k(.param .u64 p) {{ .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .pred %p<9>;\n\
         ld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 3; setp.eq.u32 %p2, %r1, 40;\n{body}\nret; }}\n"
    );
    let program = Program::parse(&module);
    let mut trial = Trial::new(&program, "k");
    trial.block([64, 1, 1]).buffer(&[0; 64]).expect("a little memory");
    let report = trial.check();
    assert_eq!(report.stop, None, "{body}");
    report.findings
}

const READ: &str = "@%p1 ld.global.nc.u32 %r3, [%d1];\n@%p1 st.global.u32 [%d1+32], %r3;\n";
const WRITE: &str = "@%p2 st.global.u32 [%d1], %r1;\n";
const BARRIER: &str = "bar.sync 0;\n";

fn alone(body: &str) -> Finding {
    let mut all = findings(body);
    assert_eq!(all.len(), 1, "{all:?}");
    assert_eq!(all[0].kind, Kind::Nc);
    all.remove(0)
}

#[test]
fn a_later_write_names_who_has_read() {
    let finding = alone(&[READ, BARRIER, WRITE].concat());
    assert_eq!((finding.places[0].thread, &*finding.places[0].what), (3, "reads it as constant"));
    assert_eq!(finding.places[1].thread, 40);
    assert!(finding.notes[0].contains("may move `ld.global.nc` behind a write"), "{finding:?}");
}

#[test]
fn an_earlier_write_may_be_missed() {
    let finding = alone(&[WRITE, BARRIER, READ].concat());
    assert_eq!((finding.places[0].thread, &*finding.places[0].what), (40, "writes it"));
    assert!(finding.notes[0].contains("may return old bytes"), "{finding:?}");
}
