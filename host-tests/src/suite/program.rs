//! The program of a bundle: what `OUT/run` and `cargo xtask gpu` do.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use super::bundle::{self, Kernels};
use super::fault::Fault;
use super::litmus::{self, Counted, Litmus};
use super::report::{self, Faulted, Forms, Report};
use super::run::{self, Chosen, Stopped};
use crate::error::{Error, Result};
use crate::files::write_whole;
use crate::forms_check::{self, every_form};
use crate::gpu::{Gpu, NoGpu};
use crate::progress::Progress;

/// What the program is told.
#[derive(Clone, Debug, clap::Args)]
pub struct Options {
    /// Makes the data; a new one each time if left out
    #[arg(long, overrides_with = "seed")]
    seed: Option<u64>,
    /// Where the report goes; beside the program if left out
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Run one of every N modules of forms
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    sample: u64,
    /// Leave out the litmus tests
    #[arg(long)]
    no_litmus: bool,
    /// Leave out the accesses that have to fail
    #[arg(long)]
    no_faults: bool,
    /// Run a part of it under compute-sanitizer: memcheck, racecheck and initcheck
    #[arg(long, conflicts_with_all = ["report", "fault"])]
    sanitize: bool,
    /// Leave out a kernel that stopped the GPU in an earlier attempt, for a reason
    #[arg(long, value_name = "KERNEL=WHY", value_parser = stopped, hide = true)]
    without: Vec<Stopped>,
    /// Do one access that has to fail, and print the driver's answer
    #[arg(long, value_name = "NAME", hide = true)]
    fault: Option<String>,
}

fn stopped(text: &str) -> Result<Stopped, String> {
    let (kernel, why) = text.split_once('=').ok_or("write it as KERNEL=WHY")?;
    Ok(Stopped { kernel: kernel.to_owned(), why: why.to_owned() })
}

/// How many kernels may stop the GPU before the program gives up on it.
const ATTEMPTS: usize = 20;

/// How the program ends if there is no GPU.
pub const NO_GPU: u8 = 3;

/// Runs the program whose kernels lie in that folder.
pub fn main(options: &Options, folder: &Path) -> Result<ExitCode> {
    if options.sanitize {
        return sanitize();
    }
    let gpu = match Gpu::find() {
        Ok(gpu) => gpu,
        Err(error @ NoGpu::Failed { .. }) => return Err(Error::new(error)),
        Err(no_gpu) => {
            eprintln!("{no_gpu}");
            return Ok(ExitCode::from(NO_GPU));
        }
    };
    let kernels = bundle::read(folder, gpu.sm())?;
    if let Some(name) = &options.fault {
        let fault = fault(name)?;
        println!("{}", fault.provoke(&gpu, &kernels.others)?);
        // A GPU that faulted has nothing to hand back.
        std::process::exit(0);
    }
    let seed = options.seed.map_or_else(forms_check::seed, Ok)?;
    eprintln!("{} (sm_{}), seed {seed}", gpu.name(), gpu.sm());
    let chosen = Chosen { seed, sample: options.sample as usize, without: options.without.clone() };
    let (began, clock) =
        (SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()), Instant::now());
    let progress = Progress::new();
    let outcome = run::run(&gpu, &every_form(), &kernels.forms, chosen, &progress)?;
    if let Some(stopped) = outcome.stopped.as_ref().filter(|_| options.without.len() < ATTEMPTS) {
        return again(stopped, seed);
    }
    let report = Report {
        gpu: gpu.name().to_owned(),
        sm: gpu.sm(),
        driver: format!("CUDA {} ({})", gpu.driver().version(), gpu.driver().path()),
        began,
        seed,
        versions: bundle::versions(folder)?,
        sample: options.sample as usize,
        forms: Forms::of(&outcome, gpu.sm()),
        instructions: report::instructions(&outcome),
        failures: report::failures(&outcome),
        faults: if options.no_faults { Vec::new() } else { faults(gpu.sm(), &progress)? },
        litmus: if options.no_litmus { Vec::new() } else { litmus_tests(&gpu, &kernels, &progress)? },
        seconds: clock.elapsed().as_secs_f64(),
    };
    print!("{}", report.table());
    let file = options.report.clone().unwrap_or_else(|| folder.join("report.json"));
    let json = serde_json::to_string_pretty(&report).map_err(Error::new)?;
    write_whole(&file, json + "\n")?;
    eprintln!("report: {}", file.display());
    Ok(if report.passed() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Runs all of it again, without the kernel that stopped the GPU for this process.
fn again(stopped: &Stopped, seed: u64) -> Result<ExitCode> {
    eprintln!("{} stopped the GPU; once more without it", stopped.kernel);
    let mut command = itself()?;
    command.args(std::env::args_os().skip(1)).args(["--seed", &seed.to_string()]);
    command.arg(format!("--without={}={}", stopped.kernel, stopped.why));
    let status = command.status();
    let status = status.map_err(|error| Error::new(format_args!("could not start this program again: {error}")))?;
    Ok(ExitCode::from(status.code().and_then(|code| code.try_into().ok()).unwrap_or(1)))
}

fn litmus_tests(gpu: &Gpu, kernels: &Kernels, progress: &Progress) -> Result<Vec<Counted>> {
    let all = Litmus::all();
    let bar = progress.bar(all.len() as u64, "Litmus tests");
    let mut counted = Vec::new();
    for image in &kernels.others {
        let own: Vec<&Litmus> = all.iter().filter(|litmus| image.kernels.contains(&litmus.name)).collect();
        if own.is_empty() {
            continue;
        }
        let module = gpu.load(&image.cubin)?;
        for litmus in own {
            counted.push(litmus::run(litmus, gpu, &module, litmus::LAUNCHES)?);
            bar.inc(1);
        }
    }
    Ok(counted)
}

fn fault(name: &str) -> Result<Fault> {
    let all = Fault::all();
    let names: Vec<&str> = all.iter().map(|fault| fault.name.as_str()).collect();
    let unknown = Error::new(format_args!("there is no fault {name}"))
        .at("--fault")
        .fix(format_args!("name one of {}", names.join(" ")));
    all.iter().find(|fault| fault.name == name).cloned().ok_or(unknown)
}

/// Each in a process of its own, of this same program.
fn faults(sm: u32, progress: &Progress) -> Result<Vec<Faulted>> {
    let all: Vec<Fault> = Fault::all().into_iter().filter(|_| sm >= 70).collect();
    let bar = progress.bar(all.len() as u64, "Accesses that have to fail");
    let mut found = Vec::new();
    for fault in all {
        let output = itself()?.args(["--fault", &fault.name]).output();
        let output = output.map_err(|error| Error::new(format_args!("could not start this program again: {error}")))?;
        let answer = String::from_utf8_lossy(&output.stdout).trim().parse();
        let answer = answer.map_err(|_| String::from_utf8_lossy(&output.stderr).trim().to_owned());
        found.push(Faulted { name: fault.name.clone(), expected: fault.code(), found: answer });
        bar.inc(1);
    }
    Ok(found)
}

fn itself() -> Result<Command> {
    let program =
        std::env::current_exe().map_err(|error| Error::new(format_args!("could not find this program: {error}")))?;
    Ok(Command::new(program))
}

/// A part of the forms under each tool of the sanitizer, which makes a run some hundred times as long.
fn sanitize() -> Result<ExitCode> {
    let program = itself()?;
    let scratch = tempfile::tempdir().map_err(|error| Error::io("create a folder in", &std::env::temp_dir(), error))?;
    for tool in ["memcheck", "racecheck", "initcheck"] {
        eprintln!("compute-sanitizer --tool {tool}");
        let mut command = Command::new("compute-sanitizer");
        // The program starts itself again if a kernel stops the GPU.
        command.args(["--tool", tool, "--error-exitcode", "1", "--target-processes", "all"]).arg(program.get_program());
        command
            .args(["--sample", "20", "--no-faults", "--no-litmus", "--report"])
            .arg(scratch.path().join("report.json"));
        let status = command.status().map_err(|error| {
            Error::new(format_args!("could not start compute-sanitizer: {error}"))
                .fix("install it (it comes with the CUDA toolkit) and put its folder into PATH")
        })?;
        if !status.success() {
            return Ok(ExitCode::from(status.code().and_then(|code| code.try_into().ok()).unwrap_or(1)));
        }
    }
    Ok(ExitCode::SUCCESS)
}
