//! The laboratory as a program: what `cargo xtask lab` and a bundle do.

use std::fmt;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::images::{Image, pack, unpack};
use super::judge::{Results, judge_all};
use super::line::{Line, read};
use super::{Options, Summary, profile, run, titles};
use launch::child;
use launch::gpu::Gpu;
use ptx_build::error::{Error, Result};
use ptx_build::progress::Progress;

/// The arguments of the program.
#[derive(Clone, Debug, clap::Args)]
pub struct Laboratory {
    /// What is measured.
    #[command(flatten)]
    pub options: Options,
    /// The folder that the results go to
    #[arg(long, value_name = "FOLDER", default_value = ".")]
    pub out: PathBuf,
    /// Count sectors and bytes of these experiments by NVIDIA's profiler `ncu`, too
    #[arg(long, value_name = "LETTERS", num_args = 0..=1, default_missing_value = super::COUNTED, value_parser = super::counted)]
    pub ncu: Option<String>,
    /// The kernels, packed
    #[arg(long, value_name = "FILE", hide = true)]
    pub images: Option<PathBuf>,
    /// The file that the lines go to
    #[arg(long, value_name = "FILE", hide = true)]
    pub lines: Option<PathBuf>,
}

/// The file of lines in a folder of results.
pub const LINES: &str = "laboratory.jsonl";

impl Laboratory {
    /// Measures, and prints what was found. The images are made by `make`, unless a file has them; `again` are the arguments
    /// that make this program come here.
    pub fn run(
        &self,
        gpu: Gpu,
        made_with: &str,
        again: &[&str],
        make: impl FnOnce(&Gpu) -> Result<Vec<Image>>,
    ) -> Result<String> {
        let progress = Progress::new();
        let images = match &self.images {
            Some(file) => read_images(file)?,
            None => make(&gpu)?,
        };
        let lines = self.lines.clone().unwrap_or_else(|| self.out.join(LINES));
        std::fs::create_dir_all(&self.out).map_err(|error| Error::io("create the folder", &self.out, error))?;
        let mut out = File::create(&lines).map_err(|error| Error::io("write", &lines, error))?;
        let summary = run(&gpu, &images, &self.options, made_with, &mut out, &progress)?;
        if self.options.once {
            return Ok(String::new());
        }
        let mut said = String::new();
        for (experiment, why) in &summary.cut_short {
            said += &format!("experiment {experiment} was cut short: {why}\n");
        }
        if let Some(letters) = &self.ncu {
            // The profiler wants the GPU to itself.
            drop(gpu);
            let packed = self.out.join("laboratory-kernels.zst");
            std::fs::write(&packed, pack(&images)?).map_err(|error| Error::io("write", &packed, error))?;
            let counting = Counting { images: &packed, out: &self.out, again, limit: COUNTING };
            for letter in letters.chars().map(String::from) {
                said += &match counting.count(&letter, &lines) {
                    Ok(counters) => format!("experiment {letter}: {counters} counters\n"),
                    Err(error) => format!("experiment {letter} was not counted: {error}\n"),
                };
            }
        }
        Ok(table(&Results::of(&read_lines(&lines)?)) + &said + &format!("lines: {}\n", lines.display()))
    }
}

/// How long the profiler may take for an experiment, if nobody says how long.
const COUNTING: Duration = Duration::from_secs(600);

fn read_images(file: &Path) -> Result<Vec<Image>> {
    unpack(&std::fs::read(file).map_err(|error| Error::io("read", file, error))?)
        .map_err(|error| error.at(file.display()))
}

fn read_lines(lines: &Path) -> Result<Vec<Line>> {
    read(&std::fs::read_to_string(lines).map_err(|error| Error::io("read", lines, error))?)
}

/// An experiment under the profiler.
#[derive(Clone, Copy, Debug)]
pub struct Counting<'c> {
    /// The kernels, packed.
    pub images: &'c Path,
    /// Where the profiler's tables go.
    pub out: &'c Path,
    /// Arguments that make this program the laboratory.
    pub again: &'c [&'c str],
    /// How long it may take.
    pub limit: Duration,
}

impl Counting<'_> {
    /// Counts one experiment, adds the counters to the lines, and tells how many there are.
    pub fn count(&self, letter: &str, lines: &Path) -> Result<usize> {
        let ncu = profile::find().ok_or_else(|| {
            Error::new("there is no ncu here, so nothing was counted").fix("put the folder of NVIDIA's ncu into PATH")
        })?;
        let program = child::itself()?;
        let images = self.images.display().to_string();
        let told = ["--once", "--experiments", letter, "--images", &images, "--lines"];
        let mut out = append(lines)?;
        let letter = letter.chars().next().unwrap_or_default();
        let of = profile::Program { program: &program, arguments: &[self.again, &told].concat(), limit: self.limit };
        profile::profile(&ncu, letter, of, self.out, &mut out)
    }
}

fn append(lines: &Path) -> Result<File> {
    let opened = File::options().create(true).append(true).open(lines);
    opened.map_err(|error| Error::io("write", lines, error))
}

/// What came of some experiments.
#[derive(Clone, Debug)]
pub struct Found {
    /// Cases that could not be measured: experiment, case, why.
    pub failures: Vec<(char, String, String)>,
    /// Every finding, a line each.
    pub table: String,
    /// Whether the GPU serves this process no more.
    pub lost: bool,
    cases: usize,
    cut_short: Vec<(char, String)>,
}

impl Found {
    /// Whether all was measured as planned.
    pub fn passed(&self) -> bool {
        self.cases > 0 && self.failures.is_empty() && self.cut_short.is_empty()
    }
}

/// In a line.
impl fmt::Display for Found {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} cases", self.cases)?;
        for (experiment, why) in &self.cut_short {
            write!(out, "; {experiment} was cut short: {why}")?;
        }
        match &self.failures[..] {
            [] => Ok(()),
            [(_, case, why), ..] => write!(out, "; {} failed, the first {case}: {why}", self.failures.len()),
        }
    }
}

/// Measures experiments by the kernels of a file, and adds their lines to a file.
pub fn measure(gpu: &Gpu, images: &Path, options: &Options, made_with: &str, lines: &Path) -> Result<Found> {
    let images = read_images(images)?;
    let mut out = append(lines)?;
    let Summary { cut_short, failures, lost, .. } = run(gpu, &images, options, made_with, &mut out, &Progress::new())?;
    let of_these: Vec<Line> = read_lines(lines)?
        .into_iter()
        .filter(|line| line.experiment().is_none_or(|one| options.experiments.contains(one)))
        .collect();
    let results = Results::of(&of_these);
    let (cases, table) = (results.cases.len(), table(&results));
    Ok(Found { failures, table, lost, cases, cut_short })
}

/// Every finding, a line each.
pub fn table(results: &Results) -> String {
    let mut text = format!("{} (sm_{})\n", results.run.gpu, results.run.sm);
    let mut last = None;
    for finding in judge_all(results) {
        let letter = finding.claim.experiment;
        if last.replace(letter) != Some(letter) {
            let title = titles().find(|(own, _)| *own == letter).map_or("", |(_, title)| title);
            text += &format!("{letter}  {title}\n   {}\n", results.machine(Some(letter)));
        }
        let of: Vec<_> = finding.of.iter().map(|(label, value)| format!("{label} {value}")).collect();
        let found = finding
            .found
            .map_or(String::new(), |found| format!(": {:.3} [{:.3}, {:.3}]", found.middle, found.low, found.high));
        let of = if of.is_empty() { String::new() } else { format!(" ({})", of.join(", ")) };
        text += &format!("   {:<20} {}{of}{found}\n", finding.verdict.to_string(), finding.claim.says);
    }
    text
}

/// Where a bundle has the packed kernels of a GPU, by the assembler of that release: 13.5.
pub fn place_of(folder: &Path, set: &str, sm: u32) -> PathBuf {
    folder.join("kernels").join(set).join(format!("laboratory-sm_{sm}.zst"))
}

/// Those that a GPU runs, of its own generation and none that is newer; else where they should be.
pub fn packed(folder: &Path, set: &str, sm: u32) -> PathBuf {
    let mut places = (sm / 10 * 10..=sm).rev().map(|known| place_of(folder, set, known));
    places.find(|file| file.is_file()).unwrap_or_else(|| place_of(folder, set, sm))
}

/// The kernels of the first of these files that the driver takes; else those of the first file.
pub fn first_taken(gpu: &Gpu, files: &[PathBuf]) -> Result<Vec<Image>> {
    let there = files.iter().filter(|file| file.is_file());
    for file in there {
        let images = read_images(file)?;
        if images.first().is_some_and(|image| gpu.load(&image.cubin).is_ok()) {
            return Ok(images);
        }
    }
    let first = files.first().ok_or_else(|| Error::new("this bundle has no kernels of the laboratory"))?;
    read_images(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gpu_runs_the_kernels_of_its_generation() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for (set, sm) in [("13.5", 80), ("13.5", 100), ("13.0", 90)] {
            ptx_build::files::write_whole(&place_of(folder.path(), set, sm), "kernels")
                .expect("a temporary folder takes it");
        }
        let expected = [("13.5", 80, 80), ("13.5", 89, 80), ("13.5", 90, 90), ("13.5", 103, 100), ("13.5", 121, 121)];
        for (set, sm, known) in expected.into_iter().chain([("13.0", 90, 90), ("13.0", 80, 80)]) {
            assert_eq!(packed(folder.path(), set, sm), place_of(folder.path(), set, known));
        }
    }
}
