//! The laboratory as a program: what `cargo xtask lab` and a bundle do.

use std::fs::File;
use std::path::{Path, PathBuf};

use super::images::{Image, pack, unpack};
use super::judge::{Results, judge_all};
use super::line::read;
use super::{Options, profile, run, titles};
use crate::error::{Error, Result};
use crate::gpu::Gpu;
use crate::progress::Progress;

/// What the program is told.
#[derive(Clone, Debug, clap::Args)]
pub struct Laboratory {
    /// What is measured.
    #[command(flatten)]
    pub options: Options,
    /// The folder that the results go to
    #[arg(long, value_name = "FOLDER", default_value = ".")]
    pub out: PathBuf,
    /// Count sectors and bytes of these experiments by NVIDIA's profiler `ncu`, too
    #[arg(long, value_name = "LETTERS", num_args = 0..=1, default_missing_value = "ABCDEFGHIJ", value_parser = super::letters)]
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
        made_with: &str,
        again: &[&str],
        make: impl FnOnce(&Gpu) -> Result<Vec<Image>>,
    ) -> Result<String> {
        let gpu = Gpu::find().map_err(Error::new)?;
        let progress = Progress::new();
        let images = match &self.images {
            Some(file) => unpack(&std::fs::read(file).map_err(|error| Error::io("read", file, error))?)?,
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
            said += &self.count(letters, &images, again, &mut out)?;
        }
        let text = std::fs::read_to_string(&lines).map_err(|error| Error::io("read", &lines, error))?;
        Ok(table(&Results::of(&read(&text)?)) + &said + &format!("lines: {}\n", lines.display()))
    }

    /// Counts each of these experiments; one that cannot be counted is told of, and the others are counted.
    fn count(&self, letters: &str, images: &[Image], again: &[&str], out: &mut File) -> Result<String> {
        let Some(ncu) = profile::find() else {
            return Ok("there is no ncu here, so nothing was counted: put its folder into PATH\n".into());
        };
        let packed = self.out.join("laboratory-kernels.zst");
        std::fs::write(&packed, pack(images)?).map_err(|error| Error::io("write", &packed, error))?;
        let program = std::env::current_exe()
            .map_err(|error| Error::new(format_args!("could not find this program: {error}")))?;
        let mut said = String::new();
        for letter in letters.chars() {
            let (experiment, images) = (letter.to_string(), packed.display().to_string());
            let told = ["--once", "--quick", "--experiments", &experiment, "--images", &images, "--lines"];
            let told = [again, &told].concat();
            match profile::profile(&ncu, letter, &program, &told, &self.out, out) {
                Ok(counters) => said += &format!("experiment {letter}: {counters} counters\n"),
                Err(error) => said += &format!("experiment {letter} was not counted: {error}\n"),
            }
        }
        Ok(said)
    }
}

/// Every finding, a line each.
pub fn table(results: &Results) -> String {
    let mut text = format!("{} (sm_{})\n", results.run.gpu, results.run.sm);
    let mut last = None;
    for finding in judge_all(results) {
        let letter = finding.claim.experiment;
        if last.replace(letter) != Some(letter) {
            let title = titles().find(|(own, _)| *own == letter).map_or("", |(_, title)| title);
            text += &format!("{letter}  {title}\n");
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

/// Where a bundle has the packed kernels of a GPU.
pub fn place_of(folder: &Path, sm: u32) -> PathBuf {
    folder.join("kernels").join(format!("laboratory-sm_{sm}.zst"))
}

/// The packed kernels of a bundle that a GPU runs, of its own generation and none that is newer; else where they should be.
pub fn packed(folder: &Path, sm: u32) -> PathBuf {
    let mut places = (sm / 10 * 10..=sm).rev().map(|known| place_of(folder, known));
    places.find(|file| file.is_file()).unwrap_or_else(|| place_of(folder, sm))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gpu_runs_the_kernels_of_its_generation() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for sm in [80, 100] {
            crate::files::write_whole(&place_of(folder.path(), sm), "kernels").expect("a temporary folder takes it");
        }
        let expected = [(80, 80), (89, 80), (90, 90), (103, 100), (121, 121)];
        for (sm, known) in expected {
            assert_eq!(packed(folder.path(), sm), place_of(folder.path(), known));
        }
    }
}
