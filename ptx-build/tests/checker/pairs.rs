//! Wrong kernels in Rust and their correct twins (`kernels/pairs`): each mistake is found, at its lines, and no twin has a finding.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use ptx_build::device_build::DeviceBuild;
use ptx_build::progress::Progress;
use ptx_build::target::{PtxVersion, Sm};
use ptx_build::toolchain::{DeviceToolchain, Route};
use ptx_interpreter::{Finding, Program, Report, Trial};

/// Orders of its threads in which a wrong kernel is run, at most.
const ORDERS: u64 = 8;

/// A line of `cases.txt`: the kernel, kinds of findings or `right`, blocks, threads, and what it is given.
struct Case<'t> {
    kernel: &'t str,
    kinds: Vec<&'t str>,
    blocks: u32,
    threads: u32,
    given: Vec<&'t str>,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../kernels/pairs").canonicalize().expect("it is there")
}

impl<'t> Case<'t> {
    fn read(line: &'t str) -> Option<Case<'t>> {
        let [kernel, kinds, blocks, threads, given @ ..] = &line.split(' ').collect::<Vec<_>>()[..] else {
            return None;
        };
        let (kinds, given) = (kinds.split(',').collect(), given.to_vec());
        Some(Case { kernel, kinds, blocks: blocks.parse().ok()?, threads: threads.parse().ok()?, given })
    }
}

impl Case<'_> {
    /// In so many orders, or up to the first one with a finding.
    fn check(&self, program: &Program, orders: u64) -> Report {
        let mut trial = Trial::new(program, self.kernel);
        trial.grid([self.blocks, 1, 1]).block([self.threads, 1, 1]);
        let (mut count, mut may_be_early) = (0, false);
        for given in &self.given {
            match given.split(':').collect::<Vec<_>>()[..] {
                ["buf", bytes, content] => {
                    let bytes: usize = bytes.parse().expect("a number");
                    let words = (0..bytes.div_ceil(4) as u32).flat_map(|at| word(content, at).to_le_bytes());
                    let content: Vec<u8> = words.take(bytes).collect();
                    trial.buffer(&content).expect("there is memory");
                }
                ["u32", number] => {
                    trial.value(&number.parse::<u32>().expect("a number").to_le_bytes());
                }
                ["same", argument] => {
                    trial.same(argument.parse().expect("a number"));
                }
                ["--pdl"] => may_be_early = true,
                _ => match given.strip_prefix("--shared=") {
                    Some(bytes) => {
                        trial.shared(bytes.parse().expect("a number"));
                    }
                    None => panic!("{}: what is `{given}`?", self.kernel),
                },
            }
            count += 1;
        }
        if may_be_early {
            for argument in 0..count {
                trial.shared_with_grid_before(argument);
            }
        }
        trial.check_orders(0..orders).0
    }

    /// What is wrong with what is found in a wrong kernel.
    fn judge(&self, program: &Program, marks: &BTreeMap<String, Vec<(String, u32)>>) -> Result<(), String> {
        let findings = self.check(program, ORDERS).findings;
        if findings.is_empty() {
            return Err(format!("{}: nothing is found", self.kernel));
        }
        let is_named = |finding: &&Finding| self.kinds.contains(&finding.kind.word());
        let own: Vec<_> = marks.get(self.kernel).into_iter().flatten().collect();
        let is_marked = |finding: &&Finding| {
            let mut lines = finding.places.iter().flat_map(|place| place.lines());
            lines.any(|(file, line)| own.iter().any(|(own, at)| file.ends_with(own) && line == at))
        };
        if findings.iter().filter(is_named).any(|finding| is_marked(&finding)) {
            return Ok(());
        }
        let told: String = findings.iter().map(Finding::to_string).collect();
        Err(format!("{}: expected {:?} at {own:?}\n{told}", self.kernel, self.kinds))
    }
}

fn word(content: &str, at: u32) -> u32 {
    let random = at.wrapping_mul(0x9e37_79b9) ^ at >> 3;
    match content {
        "zeros" => 0,
        "iota_u32" => at,
        "random_u32" => random,
        "random_f32" => ((random >> 8) as f32 / (1 << 23) as f32 - 1.0).to_bits(),
        _ => panic!("what is `{content}`?"),
    }
}

/// The lines behind which stands `//@ kernel`, of each kernel.
fn marks() -> BTreeMap<String, Vec<(String, u32)>> {
    let mut marks = BTreeMap::<String, Vec<(String, u32)>>::new();
    for file in std::fs::read_dir(folder().join("src")).expect("it is there").map(|file| file.expect("a file").path()) {
        let text = std::fs::read_to_string(&file).expect("it can be read");
        let name = format!("/{}", file.file_name().expect("a name").to_string_lossy());
        for (number, line) in (1..).zip(text.lines()) {
            for kernel in line.split("//@ ").skip(1).map(str::trim) {
                marks.entry(kernel.to_owned()).or_default().push((name.clone(), number));
            }
        }
    }
    marks
}

fn program(feature: Option<&str>) -> Program {
    let progress = Progress::new();
    let route = Route::chosen(None).expect("a route");
    let toolchain = DeviceToolchain::find(route, &progress).unwrap_or_else(|error| panic!("{error}"));
    let build = DeviceBuild {
        ptx: Some(PtxVersion::new(8, 6)),
        lines: true,
        features: feature.into_iter().map(str::to_owned).collect(),
        ..DeviceBuild::new(folder(), "pairs", Sm::new(90))
    };
    let ptx = build.build(&toolchain).unwrap_or_else(|error| panic!("{error}"));
    Program::parse(&std::fs::read_to_string(ptx).expect("it can be read"))
}

#[test]
fn every_mistake_is_found_at_its_lines_and_no_twin_has_a_finding() {
    let text = std::fs::read_to_string(folder().join("cases.txt")).expect("it is there");
    let cases: Vec<Case<'_>> = text.lines().map(|line| Case::read(line).expect("a case")).collect();
    let marks = marks();
    let (wrong, mut right) = (program(Some("wrong")), program(None));
    let is_wrong = |case: &&Case<'_>| case.kinds != ["right"];
    let mut mistakes: Vec<String> =
        cases.iter().filter(is_wrong).filter_map(|case| case.judge(&wrong, &marks).err()).collect();
    for case in &cases {
        right.reset();
        let report = case.check(&right, 2);
        mistakes.extend((!report.is_clean()).then(|| format!("{}, right\n{report}", case.kernel)));
    }
    assert!(mistakes.is_empty(), "{} of {}\n{}", mistakes.len(), cases.len(), mistakes.join("\n"));
    assert_eq!((cases.iter().filter(is_wrong).count(), cases.len()), (130, 172));
}
