//! The corpus for a bundle: its kernels as machine code, and what the interpreter makes of them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use rayon::prelude::*;

use super::case::{self, CORPUS, Case, Expected, Given, SIDES};
use super::pairs::{FILES, File, Pair, pairs};
use crate::kernels::Kernels;
use ptx_build::error::{Error, Result};
use ptx_build::files::write_whole;
use ptx_build::progress::Progress;
use ptx_build::ptx::{Function, Module};
use ptx_build::ptxas::On;
use ptx_build::target::{PtxVersion, Sm};
use ptx_interpreter::{Program, Report};
use workloads::image::{Image, assembled};

/// Orders of the threads in which each kernel is run.
const SEEDS: u64 = 16;

/// From this one on, loads may return older values.
const WEAK: u64 = 8;

/// The pairs of these names, each run by the interpreter.
pub fn cases(is_wanted: &(dyn Fn(&str) -> bool + Sync)) -> Result<Vec<Case>> {
    let of_file = |file: &File| -> Result<Vec<Case>> {
        let mut pairs = pairs(file);
        pairs.retain(|pair| is_wanted(&pair.name));
        if pairs.is_empty() {
            return Ok(Vec::new());
        }
        let (program, module) = (Program::parse(file.ptx), Module::parse(file.ptx)?);
        pairs.par_iter().map(|pair| case(file, &program, module.target, pair)).collect()
    };
    Ok(FILES.iter().map(of_file).collect::<Result<Vec<_>>>()?.concat())
}

/// The pair with values in what nobody has written. What a kernel leaves of these is not determined.
fn filled(pair: &Pair) -> Pair {
    let mut filled = pair.clone();
    for (word, _) in filled.arguments.iter_mut().filter(|(word, _)| word == "unwritten") {
        *word = "numbers".into();
    }
    filled
}

fn case(file: &File, program: &Program, target: Sm, pair: &Pair) -> Result<Case> {
    let given: Vec<Given> = pair.arguments.iter().filter_map(|(word, value)| given(word, *value)).collect();
    let bytes_of = |word: &str| pair.arguments.iter().filter(|(own, _)| own == word).map(|(_, bytes)| *bytes).sum();
    let shared: u64 = bytes_of("shared");
    let [wrong, right] = SIDES.map(|side| (0..SEEDS).map(|seed| run(program, pair, side, seed)).collect::<Vec<_>>());
    if let Some(stop) = right.iter().find_map(|(report, _)| report.stop.as_ref()) {
        return Err(Error::new(format_args!("the interpreter does not run right_{}: {stop}", pair.name)));
    }
    let count = |runs: &[Left]| runs.iter().map(|(report, _)| report.findings.len()).sum();
    let here = [count(&wrong), count(&right)];
    let filled = filled(pair);
    let others = (0..SEEDS).map(|seed| run(program, &filled, "right", seed));
    let runs: Vec<Vec<Vec<u8>>> = right.into_iter().chain(others).map(|(_, left)| left).collect();
    Ok(Case {
        name: pair.name.clone(),
        kind: pair.kind.clone(),
        file: format!("{}.cu", file.name),
        lines: pair.lines.clone(),
        target,
        blocks: pair.blocks,
        threads: pair.threads,
        shared: shared as u32,
        arguments: given,
        expected: expected(&runs),
        here,
    })
}

/// An argument by the word of its row; the size of shared memory is none.
fn given(word: &str, value: u64) -> Option<Given> {
    let bytes = value as usize;
    Some(match word {
        "numbers" | "before" => Given::Numbers(bytes),
        "zeros" => Given::Zeros(bytes),
        "unwritten" => Given::Unwritten(bytes),
        "same" => Given::Same(bytes),
        "host" => Given::Host,
        "u32" => Given::U32(value as u32),
        "u64" => Given::U64(value),
        _ => return None,
    })
}

/// What a run found, and what it left in the buffer of each argument.
type Left = (Report, Vec<Vec<u8>>);

fn run(program: &Program, pair: &Pair, side: &str, seed: u64) -> Left {
    let mut trial = pair.trial(program, side, seed);
    let report = trial.weak(seed >= WEAK).check();
    (report, (0..pair.arguments.len()).map(|at| trial.content(at).to_vec()).collect())
}

/// The bytes that all runs leave.
fn expected(runs: &[Vec<Vec<u8>>]) -> Vec<Expected> {
    let Some((first, others)) = runs.split_first() else { return Vec::new() };
    let buffer = |(argument, bytes): (usize, &Vec<u8>)| {
        let byte = |at: usize| Some(bytes[at]).filter(|byte| others.iter().all(|run| run[argument][at] == *byte));
        Expected { argument, bytes: (0..bytes.len()).map(byte).collect() }
    };
    let all = first.iter().enumerate().map(buffer);
    all.filter(|buffer| !buffer.bytes.is_empty()).collect()
}

/// What a source is assembled for to run on a GPU, if it runs there.
fn target_on(target: Sm, gpu: Sm) -> Option<Sm> {
    match target.suffix {
        None => (target.number <= gpu.number).then_some(gpu),
        Some(_) => target.runs_on(gpu.number).then_some(target),
    }
}

/// The kernels for a GPU, an image each, so that a tool of NVIDIA's has one kernel to look at; and those that the assembler refuses.
fn images(on: &On) -> Result<(Vec<Image>, BTreeSet<String>)> {
    let of_file = |file: &File| -> Result<Vec<(String, Option<Image>)>> {
        let module = Module::parse(file.ptx)?;
        let Some(target) = target_on(module.target, on.sm) else { return Ok(Vec::new()) };
        let entries = module.functions.par_iter().filter(|function| function.is_entry);
        entries.map(|entry| Ok((entry.name.clone(), image(file.ptx, entry, target, on)?))).collect()
    };
    let made = FILES.iter().map(of_file).collect::<Result<Vec<_>>>()?.concat();
    let refused = made.iter().filter(|(_, image)| image.is_none()).map(|(name, _)| name.clone()).collect();
    Ok((made.into_iter().filter_map(|(_, image)| image).collect(), refused))
}

fn image(ptx: &str, entry: &Function, target: Sm, on: &On) -> Result<Option<Image>> {
    let text = text(ptx, entry, target, on.version);
    let with_lines = On { assembler: on.assembler.clone().lineinfo(true), ..on.clone() };
    let cubin = assembled(&text, target, &with_lines)?.ok();
    Ok(cubin.map(|cubin| Image { kernels: vec![entry.name.clone()], cubin }))
}

/// The module of one kernel: the variables that it names, itself, and the names of sources.
fn text(ptx: &str, entry: &Function, target: Sm, version: PtxVersion) -> String {
    let body: String = entry.body.iter().map(|line| plain(&line.text, version) + "\n").collect();
    let is_named = |line: &&str| {
        let name = line.rsplit(' ').next().unwrap_or_default();
        let name = name.split(['[', ';']).next().unwrap_or_default();
        (line.starts_with(".shared") || line.starts_with(".extern .shared")) && body.contains(name)
    };
    let variables: String = ptx.lines().filter(is_named).map(|line| format!("{line}\n")).collect();
    let files = ptx.lines().filter(|line| line.trim_start().starts_with(".file"));
    let files: String = files.map(|line| format!("{line}\n")).collect();
    format!(".version {version}\n.target {target}\n.address_size 64\n{variables}{body}{files}")
}

/// The module of the kernel of that name, for a GPU and a version.
pub fn text_of(kernel: &str, gpu: Sm, version: PtxVersion) -> Result<String> {
    for file in &FILES {
        let module = Module::parse(file.ptx)?;
        if let (Some(entry), Some(target)) = (module.function(kernel), target_on(module.target, gpu)) {
            return Ok(text(file.ptx, entry, target, version));
        }
    }
    Err(Error::new(format_args!("the corpus has no {kernel} for {gpu}")))
}

/// The first version in which an access of local memory may be volatile.
const VOLATILE_LOCAL: PtxVersion = PtxVersion::new(9, 1);

/// A line as this version knows it. Of a place in a function that was inlined only the line of the function is kept: what names
/// the function is in a section that the texts of the corpus do not have.
fn plain(line: &str, version: PtxVersion) -> String {
    match line.split_once(", function_name") {
        Some((place, _)) if line.starts_with(".loc") => place.to_owned(),
        // Only the thread itself sees its local memory.
        _ if version < VOLATILE_LOCAL => line.replace(".volatile.local", ".local"),
        _ => line.to_owned(),
    }
}

/// Puts the corpus into the folder of a bundle: what it has, in lines.
pub fn write(folder: &Path, sets: &[String], on: &[On], progress: &Progress) -> Result<Vec<String>> {
    let _step = progress.step("Running and assembling the corpus");
    let cases = cases(&|_| true)?;
    case::write(folder, &cases)?;
    let mut contents = Vec::new();
    for (set, on) in sets.iter().zip(on) {
        let (images, refused) = images(on)?;
        if images.is_empty() {
            continue;
        }
        let told = format!("{} by ptxas {set}: corpus: {} kernels, {} refused", on.sm, images.len(), refused.len());
        contents.push(told);
        let sections = BTreeMap::from([(CORPUS.to_owned(), images)]);
        let kernels = Kernels { set: set.clone(), ptx: on.version, sections, refused, part: false };
        write_whole(&case::place(folder, set, on.sm), kernels.pack()?)?;
    }
    Ok(contents)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_runs_leave_differently_are_not_expected() {
        let runs = [vec![vec![1, 2, 3], vec![]], vec![vec![1, 9, 3], vec![]]];
        let bytes = vec![Some(1), None, Some(3)];
        assert_eq!(expected(&runs), [Expected { argument: 0, bytes }]);
    }

    #[test]
    fn a_source_runs_where_its_instructions_are() {
        let sm = |text: &str| Sm::read(text).expect("a GPU");
        let on = |target, gpu| target_on(sm(target), Sm::new(gpu));
        assert_eq!([on("sm_90", 90), on("sm_90", 100), on("sm_90", 80)], [Some(Sm::new(90)), Some(Sm::new(100)), None]);
        assert_eq!([on("sm_90a", 90), on("sm_90a", 100), on("sm_100a", 90)], [Some(sm("sm_90a")), None, None]);
    }

    #[test]
    fn every_right_kernel_has_bytes_to_compare() {
        let cases = cases(&|_| true).expect("the interpreter runs them");
        assert!(cases.len() >= 190, "{} pairs", cases.len());
        for Case { name, expected, here, .. } in &cases {
            let determined = expected.iter().flat_map(|buffer| &buffer.bytes).flatten().count();
            assert!(determined > 0, "{name}");
            assert!(here[0] > 0 && here[1] == 0, "{name}: {here:?}");
        }
        let pair = |name: &str| cases.iter().find(|case| case.name == name).expect("it is there");
        // Two threads take turns in any order.
        let queue = pair("queue");
        assert!(queue.arguments.len() == 4 && queue.blocks == 2 && queue.threads == 32, "{queue:?}");
        let all: usize = cases.iter().flat_map(|case| &case.expected).map(|buffer| buffer.bytes.len()).sum();
        let open = cases.iter().flat_map(|case| &case.expected).flat_map(|buffer| &buffer.bytes);
        let open = open.filter(|byte| byte.is_none()).count();
        println!("{all} bytes, {open} not determined");
        assert!(open > 0 && open * 10 < all, "{open} of {all} bytes are not determined");
    }
}
