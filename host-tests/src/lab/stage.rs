//! The laboratory in a bundle: a stage whose items are the experiments, by time and then by the profiler's counters.

use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::images::{self, Image, OLDEST};
use super::judge::{Results, Verdict, judge_all};
use super::line::read;
use super::program::LINES;
use super::{Options, profile, run, titles};
use crate::cuda_tools::CudaTools;
use crate::error::{Error, Result};
use crate::files::write_whole;
use crate::gpu::Gpu;
use crate::progress::Progress;
use crate::ptxas::On;
use crate::suite::bundle;
use crate::suite::journal::{Found, Item, Work};
use crate::suite::stage::{Bench, Stage};
use crate::toolchain::DeviceToolchain;

/// The stage of a process that runs each variant of an experiment once, under a profiler.
pub const ONCE: &str = "laboratory-once";

/// How long one experiment may take.
const LIMIT: u64 = 120;

/// What an item begins with whose experiment is counted.
const COUNTED: &str = "ncu ";

/// The stage.
pub struct Laboratory;

impl Stage for Laboratory {
    fn name(&self) -> &'static str {
        "laboratory"
    }

    fn about(&self) -> &'static str {
        "Experiments A to J"
    }

    fn limit(&self) -> Duration {
        Duration::from_secs(600)
    }

    fn work(&self, bench: &Bench) -> Result<Work> {
        let sm = bench.gpu().map_err(Error::new)?.sm();
        if file(&bench.folder, sm).is_none() {
            return Ok(Vec::<String>::new().into_iter().collect());
        }
        let timed = titles().map(|(letter, _)| letter.to_string());
        let counted = titles().filter(|_| profile::find().is_some()).map(|(letter, _)| format!("{COUNTED}{letter}"));
        Ok(timed.chain(counted).collect())
    }

    fn run(&self, bench: &Bench, item: &Item) -> Result<Option<Found>> {
        let lines = bench.out.join(LINES);
        let mut out = OpenOptions::new().create(true).append(true).open(&lines);
        let out =
            out.as_mut().map_err(|error| Error::new(format_args!("could not write: {error}")).at(lines.display()))?;
        match item.name.strip_prefix(COUNTED) {
            Some(letter) => count(bench, letter, out),
            None => time(bench, &item.name, out, &lines),
        }
    }
}

fn found(passed: bool, text: String) -> Option<Found> {
    Some(Found { passed, text, data: serde_json::Value::Null })
}

/// Measures an experiment. What was expected and did not happen is a result, and no failure.
fn time(bench: &Bench, letter: &str, out: &mut File, lines: &Path) -> Result<Option<Found>> {
    let gpu = bench.gpu().map_err(Error::new)?;
    let experiments = letter.to_owned();
    let options = Options { experiments, seed: Some(bench.told.seed), deadline: Some(LIMIT), ..Options::default() };
    let made_with = made_with(&bench.folder)?;
    let images = images_for(&bench.folder, gpu.sm())?;
    let summary = run(gpu, &images, &options, &made_with, out, &Progress::new())?;
    let text = std::fs::read_to_string(lines).map_err(|error| Error::io("read", lines, error))?;
    let findings = judge_all(&Results::of(&read(&text)?));
    let own = findings.iter().filter(|finding| finding.claim.experiment.to_string() == letter);
    let of = |verdict| own.clone().filter(|finding| finding.verdict == verdict).count();
    let [proved, refuted, open] = [Verdict::Proved, Verdict::Refuted, Verdict::NotDistinguishable].map(of);
    let why = summary.cut_short.first().map_or(String::new(), |(_, why)| format!("; cut short: {why}"));
    let text = format!("{proved} expectations proved, {refuted} refuted, {open} not distinguishable{why}");
    Ok(found(summary.cut_short.is_empty(), text))
}

/// Counts an experiment.
fn count(bench: &Bench, letter: &str, out: &mut File) -> Result<Option<Found>> {
    let ncu = profile::find().ok_or_else(|| Error::new("ncu is gone"))?;
    let program =
        std::env::current_exe().map_err(|error| Error::new(format_args!("could not find this program: {error}")))?;
    let experiment = letter.chars().next().unwrap_or_default();
    let told = ["--work", ONCE, "--experiment", letter, "--results"];
    let counters = profile::profile(&ncu, experiment, &program, &told, &bench.out, out)?;
    Ok(found(counters > 0, format!("{counters} counters")))
}

/// Runs each variant of an experiment once; the kernels that were launched become lines of that file.
pub fn once(folder: &Path, letter: &str, lines: &Path) -> Result<()> {
    let gpu = Gpu::find().map_err(Error::new)?;
    let options =
        Options { experiments: letter.to_owned(), seed: Some(1), quick: true, once: true, ..Options::default() };
    let mut out = File::create(lines).map_err(|error| Error::io("write", lines, error))?;
    let images = images_for(folder, gpu.sm())?;
    run(&gpu, &images, &options, &made_with(folder)?, &mut out, &Progress::new()).map(drop)
}

fn made_with(folder: &Path) -> Result<String> {
    let versions = bundle::versions(folder)?;
    Ok(format!("ptx-intrinsics {} ({}), {}", versions.ptx_intrinsics, versions.commit, versions.rustc))
}

/// The file of the newest kernels that a GPU runs: of its own generation.
fn file(folder: &Path, sm: u32) -> Option<PathBuf> {
    let place = |known: u32| folder.join("laboratory").join(format!("sm_{known}.zst"));
    (sm / 10 * 10..=sm).rev().map(place).find(|file| file.is_file())
}

fn images_for(folder: &Path, sm: u32) -> Result<Vec<Image>> {
    let file = file(folder, sm).ok_or_else(|| {
        Error::new(format_args!("this bundle has no laboratory for sm_{sm}"))
            .at(folder.display())
            .fix(format_args!("make one that has: `cargo xtask bundle OUT --sm {sm}`"))
    })?;
    let packed = std::fs::read(&file).map_err(|error| Error::io("read", &file, error))?;
    images::unpack(&packed).map_err(|error| error.at(file.display()))
}

/// Makes the laboratory's files of a bundle: for the first of these GPUs of each generation, whose code the others run.
pub fn make(
    folder: &Path,
    on: &[On],
    toolchain: &DeviceToolchain,
    tools: &CudaTools,
    progress: &Progress,
) -> Result<()> {
    let first = |wanted: &&On| {
        let sooner = |on: &On| on.sm.number / 10 == wanted.sm.number / 10 && on.sm.number < wanted.sm.number;
        wanted.sm >= OLDEST && !on.iter().any(sooner)
    };
    let mut made = Vec::new();
    for on in on.iter().filter(first) {
        // The other assembler's set is for the forms.
        if !made.contains(&on.sm) {
            made.push(on.sm);
            let images = images::images(on, toolchain, tools, progress)?;
            write_whole(&folder.join("laboratory").join(format!("{}.zst", on.sm)), images::pack(&images)?)?;
        }
    }
    Ok(())
}
