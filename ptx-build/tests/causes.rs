//! What has one cause is one finding of `cargo ptx run`.

use std::fs;
use std::process::Command;

/// Each thread stores two words and loads those of another one, with no barrier between.
const WITHOUT_BARRIER: &str = "
.version 8.0
.target sm_80
.address_size 64
.visible .entry k() {
    .reg .b32 %r<5>;
    .shared .align 4 .b8 s[512];
    mov.u32 %r0, %tid.x;
    mov.u32 %r4, s;
    mad.lo.u32 %r1, %r0, 4, %r4;
    xor.b32 %r2, %r0, 32;
    mad.lo.u32 %r2, %r2, 4, %r4;
    st.shared.u32 [%r1], %r0;
    st.shared.u32 [%r1+256], %r0;
    ld.shared.u32 %r3, [%r2];
    ld.shared.u32 %r3, [%r2+256];
    ret;
}
";

/// What has one cause is one line of JSON with the places of all pairs, in however many orders it was found, and is told by its lines.
#[test]
fn one_cause_is_one_finding() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("k.ptx"), WITHOUT_BARRIER).expect("it is written");
    let run = |more: &[&str]| {
        let shape = ["ptx", "run", "k.ptx", "k", "--grid", "1", "--block", "64", "--seeds", "4"];
        let mut program = Command::new(env!("CARGO_BIN_EXE_cargo-ptx"));
        let output = program.args(shape).args(more).current_dir(folder.path()).output().expect("it starts");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
        (output.status.code(), text(output.stdout), text(output.stderr))
    };
    let (code, printed, complaint) = run(&["--json"]);
    assert_eq!(code, Some(1), "{complaint}");
    let finding: serde_json::Value = serde_json::from_str(&printed).expect("one line of JSON");
    let lines = |one: &serde_json::Value| {
        let places = one["places"].as_array().expect("a list").iter();
        let mut lines: Vec<u64> = places.filter_map(|place| place["ptx_line"].as_u64()).collect();
        lines.sort_unstable();
        lines
    };
    let further: Vec<Vec<u64>> = finding["further"].as_array().expect("a list").iter().map(lines).collect();
    assert_eq!((lines(&finding), further), (vec![13, 15], vec![vec![14, 16]]));
    let (_, printed, _) = run(&[]);
    let notes = printed.lines().filter(|line| line.contains("= note: 1 more"));
    assert_eq!(
        notes.map(str::trim).collect::<Vec<_>>(),
        ["= note: 1 more pair of lines has the same cause: 14 and 16 of the PTX"]
    );
    assert!(printed.contains("k: 1 finding in 4 orders of its threads, "), "{printed}");
    fs::write(folder.path().join("allow"), "race ptx:13 looked at\n").expect("it is written");
    let (_, printed, complaint) = run(&["--allow", "allow"]);
    assert!(
        printed.contains("k: 1 finding in 4 orders of its threads, ") && !printed.contains("same cause"),
        "{printed}{complaint}"
    );
}
