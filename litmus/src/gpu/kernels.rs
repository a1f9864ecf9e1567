//! The kernels of many litmus tests: assembled, and run where there is a GPU.

use std::fmt::Write;
use std::path::PathBuf;

use super::kernel::{HEADER, Kernel, kernel};
use super::on_gpu::{Amount, Seen, run};
use crate::Limits;
use crate::batch::{self, Judged, Question};
use launch::gpu::{Gpu, NoGpu};
use ptx_build::error::{Error, Result};
use ptx_build::progress::Progress;
use ptx_build::ptxas::Assembler;
use ptx_build::target::Sm;

/// Kernels that are assembled at a time.
const TOGETHER: usize = 50;

/// The tests' kernels, and why some have none.
pub struct Kernels<'j> {
    judged: &'j [Judged],
    /// A test's position, and its kernel's name and text.
    made: Vec<(usize, String, Kernel)>,
    none: Vec<&'static str>,
}

impl<'j> Kernels<'j> {
    /// Makes them, of the tests that could be read.
    pub fn of(judged: &'j [Judged]) -> Kernels<'j> {
        let mut kernels = Kernels { judged, made: Vec::new(), none: Vec::new() };
        for (at, judged) in judged.iter().enumerate() {
            let Some(program) = &judged.program else { continue };
            let name = format!("litmus_{at}");
            match kernel(&name, program) {
                Ok(kernel) => kernels.made.push((at, name, kernel)),
                Err(why) => kernels.none.push(why),
            }
        }
        kernels
    }

    /// How many there are, and why others are not.
    pub fn counts(&self) -> String {
        let mut text = format!("{} tests have a kernel in PTX\n", self.made.len());
        write_reasons(&mut text, "have none", &self.none);
        text
    }

    /// Assembles them all; how many the assembler takes. One that it refuses is an error, which names it.
    pub fn assemble(&self, assembler: &Assembler, sm: Sm, progress: &Progress) -> Result<usize> {
        let bar = progress.bar(self.made.len() as u64, "Assembling the kernels");
        let scratch =
            tempfile::tempdir().map_err(|error| Error::io("create a folder in", &std::env::temp_dir(), error))?;
        let out = scratch.path().join("litmus.cubin");
        let assemble = |some: &[(usize, String, Kernel)]| {
            let texts = some.iter().map(|(.., kernel)| kernel.text.as_str());
            assembler.assemble_text(&[HEADER].into_iter().chain(texts).collect::<String>(), sm, &out)
        };
        for some in self.made.chunks(TOGETHER) {
            if assemble(some)?.is_err() {
                for one in some.chunks(1) {
                    let file = self.judged[one[0].0].file.display();
                    assemble(one)?
                        .map_err(|rejected| Error::new(rejected).at(file).fix("tell us: its kernel is ours"))?;
                }
            }
            bar.inc(some.len() as u64);
        }
        Ok(self.made.len())
    }

    /// Runs those that can run, and says what was seen of each; whether one contradicts the model.
    pub fn run(&self, gpu: &Gpu, amount: Amount, progress: &Progress) -> Result<(String, bool)> {
        let runnable = || self.made.iter().filter(|(.., kernel)| kernel.not_run.is_none());
        let bar = progress.bar(runnable().count() as u64, "Running the kernels");
        let mut text = String::from("as the condition says, and otherwise, gave up\n");
        let (mut ran, mut wrong) = (0, 0);
        for (at, name, kernel) in runnable() {
            let judged = &self.judged[*at];
            let (Some(program), Ok(judgement)) = (&judged.program, &judged.verdict) else { continue };
            let seen @ Seen { so, otherwise, gave_up } = run(program, name, kernel, gpu, amount)?;
            let contradicts = seen.contradicts(program.condition.quantifier, judgement.holds);
            let mark = if contradicts > 0 { "  FORBIDDEN" } else { "" };
            writeln!(text, "{so:>9} {otherwise:>9} {gave_up:>9}  {}{mark}", judged.file.display())
                .expect("a string takes all");
            (ran, wrong) = (ran + 1, wrong + u64::from(contradicts > 0));
            bar.inc(1);
        }
        writeln!(text, "{ran} tests ran, {wrong} of them showed what the model forbids").expect("a string takes all");
        let others: Vec<&str> = self.made.iter().filter_map(|(.., kernel)| kernel.not_run).collect();
        write_reasons(&mut text, "did not run", &others);
        Ok((text, wrong > 0))
    }
}

/// What a program does that has litmus tests and a GPU, perhaps: it judges them, and runs them. Whether nothing was wrong, or
/// no GPU there.
pub fn judge_and_run(files: &[PathBuf], progress: &Progress) -> Result<Result<bool, NoGpu>> {
    let files = batch::files(files)?;
    let judged = batch::judge_files(&files, Question::Condition, &[], &Limits::default(), progress)?;
    print!("{}", batch::table(&judged, Question::Condition));
    let kernels = Kernels::of(&judged);
    print!("{}", kernels.counts());
    let gpu = match Gpu::find() {
        Ok(gpu) => gpu,
        Err(no_gpu) => return Ok(Err(no_gpu)),
    };
    let (text, wrong) = kernels.run(&gpu, Amount::default(), progress)?;
    print!("{text}");
    Ok(Ok(!wrong && !judged.iter().any(Judged::is_unread)))
}

fn write_reasons(text: &mut String, what: &str, reasons: &[&str]) {
    let mut distinct: Vec<&str> = reasons.to_vec();
    distinct.sort_unstable();
    distinct.dedup();
    for why in distinct {
        let times = reasons.iter().filter(|reason| **reason == why).count();
        writeln!(text, "{times} {what}: {why}").expect("a string takes all");
    }
}
