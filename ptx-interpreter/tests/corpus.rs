//! Wrong kernels, each with a correct twin: the wrong one is found and named rightly, and the twin has no finding.

use std::fmt::Write;

use ptx_interpreter::{Kind, Program, Report, Trial};

/// A pair of kernels, how they are launched, and what is wrong with the wrong one.
struct Pair {
    name: &'static str,
    kind: Kind,
    blocks: u32,
    threads: u32,
    /// Bytes of its buffers.
    buffers: &'static [usize],
    /// A number after them.
    number: Option<u32>,
}

const fn pair(name: &'static str, kind: Kind, blocks: u32, threads: u32, buffers: &'static [usize]) -> Pair {
    Pair { name, kind, blocks, threads, buffers, number: None }
}

const PAIRS: [Pair; 39] = [
    pair("reduce", Kind::Race, 2, 256, &[2048, 8]),
    pair("warp_tail", Kind::Race, 1, 32, &[256, 4]),
    pair("early_reuse", Kind::Race, 1, 128, &[2048, 512]),
    pair("unwritten", Kind::Uninitialised, 1, 64, &[256]),
    pair("histogram", Kind::Race, 2, 64, &[512, 64]),
    pair("in_place", Kind::Race, 2, 64, &[512, 512]),
    Pair { number: Some(100), ..pair("beyond", Kind::Bounds, 2, 64, &[400, 400]) },
    pair("vector", Kind::Misaligned, 1, 32, &[1024, 128]),
    pair("constant", Kind::Nc, 1, 64, &[256, 256]),
    pair("release", Kind::Order, 2, 1, &[4, 4, 4]),
    pair("acquire", Kind::Order, 2, 1, &[4, 4, 4]),
    pair("narrow", Kind::Order, 2, 1, &[4, 4, 4]),
    pair("narrow_fence", Kind::Order, 2, 1, &[4, 4, 4]),
    pair("plain_flag", Kind::Race, 2, 1, &[4, 4, 4]),
    pair("last_block", Kind::Order, 8, 32, &[32, 32, 4, 4]),
    pair("block_atomic", Kind::Order, 2, 32, &[4]),
    pair("lock", Kind::Order, 4, 32, &[4, 4]),
    pair("copy_wait", Kind::Async, 1, 64, &[512, 256]),
    pair("copy_group", Kind::Async, 1, 64, &[512, 256]),
    pair("copy_barrier", Kind::Async, 1, 64, &[512, 256]),
    pair("copy_commit", Kind::Async, 1, 64, &[512, 256]),
    pair("copy_reuse", Kind::Async, 1, 64, &[1024, 256]),
    pair("bulk_wait", Kind::Async, 1, 128, &[512, 512]),
    pair("bulk_parity", Kind::Async, 1, 128, &[512, 512]),
    pair("bulk_init_fence", Kind::Proxy, 1, 128, &[512, 512]),
    pair("bulk_init_barrier", Kind::Race, 1, 128, &[512, 512]),
    pair("bulk_bytes", Kind::Deadlock, 1, 128, &[512, 512]),
    pair("bulk_init", Kind::Uninitialised, 1, 128, &[512, 512]),
    pair("bulk_store", Kind::Proxy, 1, 128, &[512]),
    pair("bulk_source", Kind::Async, 1, 128, &[1024]),
    pair("bulk_read", Kind::Async, 1, 128, &[512, 4]),
    pair("ring", Kind::Async, 1, 64, &[1536, 256]),
    pair("cluster", Kind::Race, 2, 32, &[256]),
    pair("some_arrive", Kind::Deadlock, 1, 64, &[256]),
    pair("divergent", Kind::Deadlock, 1, 64, &[256]),
    pair("mask", Kind::Deadlock, 1, 32, &[128]),
    pair("flag_never", Kind::Deadlock, 2, 1, &[4, 4]),
    pair("bounds", Kind::Launch, 1, 128, &[512]),
    pair("assertion", Kind::Launch, 1, 32, &[256]),
];

/// Orders of the threads in which each kernel runs.
const SEEDS: u64 = 8;

fn run(program: &Program, kernel: &str, pair: &Pair, seed: u64) -> Report {
    let mut trial = Trial::new(program, kernel);
    trial.grid([pair.blocks, 1, 1]).block([pair.threads, 1, 1]).seed(seed).limits(20_000_000, None);
    for (number, bytes) in pair.buffers.iter().enumerate() {
        // The first buffer has numbers, if there is another for the results.
        let has_numbers = number == 0 && !matches!(pair.name, "lock" | "flag_never" | "block_atomic");
        let content: Vec<u8> = (0..*bytes).map(|at| if has_numbers { (at % 251) as u8 } else { 0 }).collect();
        trial.buffer(&content).expect("a little memory");
    }
    if let Some(number) = pair.number {
        trial.value(&number.to_le_bytes());
    }
    trial.check()
}

#[test]
fn wrong_kernels_are_found_and_their_twins_are_not() {
    let program = Program::parse(include_str!("corpus/corpus.ptx"));
    assert_eq!(program.kernels().len(), 2 * PAIRS.len(), "each pair has a row");
    let mut wrong = String::new();
    let (mut found, mut named, mut silent) = (0, 0, 0);
    for pair in &PAIRS {
        let (mut any, mut kinds) = (false, Vec::new());
        for seed in 0..SEEDS {
            let report = run(&program, &format!("wrong_{}", pair.name), pair, seed);
            assert_eq!(report.stop, None, "{}", pair.name);
            any |= !report.findings.is_empty();
            kinds.extend(report.findings.iter().map(|finding| finding.kind));
        }
        found += usize::from(any);
        named += usize::from(kinds.contains(&pair.kind));
        if !kinds.contains(&pair.kind) {
            writeln!(wrong, "wrong_{}: expected {:?}, found {kinds:?}", pair.name, pair.kind).unwrap();
        }
        let twins = (0..SEEDS).map(|seed| run(&program, &format!("right_{}", pair.name), pair, seed));
        let twin: Vec<Report> = twins.collect();
        let complaint = twin.iter().find(|report| report.stop.is_some() || !report.findings.is_empty());
        match complaint {
            None => silent += 1,
            Some(report) => {
                writeln!(wrong, "right_{}: {:?}", pair.name, report.stop).unwrap();
                report.findings.iter().for_each(|finding| writeln!(wrong, "{finding}").unwrap());
            }
        }
    }
    println!("{} pairs: {found} found, {named} named, {silent} twins silent", PAIRS.len());
    assert!(wrong.is_empty(), "{wrong}");
}

/// The whole text of a finding, as it is printed.
#[test]
fn a_finding_says_what_is_missing() {
    let program = Program::parse(include_str!("corpus/corpus.ptx"));
    let pair = PAIRS.iter().find(|pair| pair.name == "release").expect("it is there");
    let report = run(&program, "wrong_release", pair, 0);
    let text = report.findings[0].to_string();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "error[order]: a flag says that bytes are ready, but its write does not release them");
    assert!(text.contains("st.global.u32") && text.contains("st.relaxed.gpu.global.u32"), "{text}");
    assert!(text.contains("corpus.cu:"), "{text}");
    assert!(text.contains("= help: write the flag with `st.release.gpu`"), "{text}");
}

/// A seed replays.
#[test]
fn a_seed_replays() {
    let program = Program::parse(include_str!("corpus/corpus.ptx"));
    let pair = PAIRS.iter().find(|pair| pair.name == "histogram").expect("it is there");
    let told = |seed| {
        let report = run(&program, "wrong_histogram", pair, seed);
        (report.instructions, report.findings)
    };
    for seed in 0..4 {
        assert_eq!(told(seed), told(seed));
    }
}
