//! Comments in a source that allow findings.

use std::fs;
use std::path::Path;

use ptx_interpreter::{Allowed, Finding, Kind, Place};

/// Comments that are alone in the lines right above count all.
#[test]
fn comments_above_a_line_allow_several_findings() {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("allowed.cu");
    let lines = "// ptx: allow(race) far away\n\n// ptx: allow(race) one\n/* ptx: allow(nc) two */\nplace[0] = lane;\n# ptx: allow(race) in Python\nx = 1\n";
    fs::write(&file, lines).expect("it is written");
    let file = file.to_str().expect("the path is text").to_owned();
    let is_silent = |kind: Kind, line: u32| {
        let places = vec![Place::of_the_host("main".into(), (file.clone(), line), "the host writes".into())];
        let (title, help) = (String::new(), String::new());
        let mut findings = vec![Finding { kind, title, places, notes: vec![], help, times: 1, further: vec![] }];
        Allowed::default().silence("k", &mut findings);
        findings.is_empty()
    };
    let silent = [(Kind::Race, 5), (Kind::Nc, 5), (Kind::Race, 4), (Kind::Order, 5), (Kind::Nc, 6), (Kind::Race, 7)]
        .map(|(kind, line)| is_silent(kind, line));
    assert_eq!(silent, [true, true, true, false, false, true]);
}
