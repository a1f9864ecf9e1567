//! A launch in parts finds, computes and tells what it does as a whole.

#[path = "parts/kernels.rs"]
mod kernels;
#[path = "parts/launch.rs"]
mod launch;

use std::time::{Duration, Instant};

use kernels::{CASES, Case, Ends, text};
use launch::Memory;
use ptx_interpreter::{Kind, Parts, Program, Report};

/// What a report says, but for how many parts there were.
fn said(report: &Report) -> (Vec<String>, String, String) {
    let findings = report.findings.iter().map(ToString::to_string).collect();
    (findings, format!("{:?}", report.stop), report.printed.clone())
}

/// Runs a case so, and tells in how many parts it ran.
fn compare(case: &Case, blocks: u32, parts: Parts, seed: u64) -> usize {
    let what = format!("{} in {blocks} blocks, {parts:?}", case.name);
    let text = text(case);
    let memory = Memory::of(case, blocks);
    let [whole, cut] = [Parts::None, parts].map(|parts| {
        let program = Program::parse(&text);
        memory.reset();
        let first = memory.run(&program, case, blocks, parts, seed);
        let between = memory.content();
        // Now it is known whether the blocks have to do with each other.
        let second = memory.run(&program, case, blocks, parts, seed);
        (first, between, second, memory.content())
    });
    assert_eq!(said(&whole.0), said(&cut.0), "{what}");
    assert_eq!(said(&whole.2), said(&cut.2), "{what}, once more");
    // Those who wait do so in every order for another time.
    let waits = text.contains("WAIT");
    assert!(waits || whole.0.instructions == cut.0.instructions, "{what}");
    assert!(whole.1 == cut.1 && whole.3 == cut.3, "{what}: memory is another one");
    assert_eq!(launch::told(&whole.0.used), launch::told(&cut.0.used), "{what}");
    let is_clean = whole.0.is_clean();
    match case.ends {
        Ends::InParts => assert!(is_clean && cut.0.parts > 1 && cut.2.parts > 1, "{what}: {} {}", cut.0.parts, whole.0),
        Ends::Whole => assert!(is_clean && cut.0.parts == 0, "{what}: {} {}", cut.0.parts, whole.0),
        Ends::Found(kind) => {
            let has = |report: &Report| report.findings.iter().any(|finding| finding.kind == kind);
            assert!(has(&whole.0) && cut.0.parts == 0 && cut.2.parts == 0, "{what}: {}", whole.0);
        }
    }
    cut.0.parts
}

#[test]
fn the_parts_are_the_launch() {
    let (mut cut, mut whole, mut most) = (0, 0, 0);
    for case in CASES {
        for (blocks, parts) in
            [(8, Parts::OfOneCluster), (14, Parts::OfOneCluster), (130, Parts::OnAllCores), (130, Parts::OnOneCore)]
        {
            for seed in 0..2 {
                let count = compare(case, blocks, parts, seed);
                cut += usize::from(count > 0);
                whole += usize::from(count == 0);
                most = most.max(count);
            }
        }
    }
    println!("{cut} launches in parts, {whole} as a whole, at most {most} parts");
    assert_eq!((cut, whole, most), (8 * 19, 8 * 24, 17));
}

/// What all parts together may take is what the launch may take.
#[test]
fn limits_are_those_of_the_launch() {
    let case = &CASES[0];
    let (text, memory) = (text(case), Memory::of(case, 130));
    let all = memory.run(&Program::parse(&text), case, 130, Parts::OnAllCores, 0);
    assert!(all.parts == 3 && all.is_clean());
    for (steps, is_clean) in [(all.instructions, true), (all.instructions - 1, false)] {
        memory.reset();
        let report = memory.limited(&Program::parse(&text), case, 130, (steps, None));
        assert_eq!((report.is_clean(), report.parts > 0), (is_clean, is_clean), "{report}");
        assert!(is_clean || report.findings[0].kind == Kind::Deadlock);
    }
    let ended = Instant::now().checked_sub(Duration::from_secs(1));
    let case = CASES.iter().find(|case| case.name == "long").expect("it is there");
    let (text, memory) = (kernels::text(case), Memory::of(case, 130));
    let before = memory.content();
    let report = memory.limited(&Program::parse(&text), case, 130, (u64::MAX, ended));
    assert_eq!(report.findings.len(), 1, "{report}");
    assert!(report.findings[0].kind == Kind::Deadlock && report.to_string().contains("of 130 blocks have ended"));
    assert!(report.parts > 1 && before == memory.content());
}
