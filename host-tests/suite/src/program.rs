//! The program of a bundle: what `OUT/run` and `cargo xtask gpu` do.
//!
//! A process without a context starts others, one after the other, each of which works at one stage and writes down what
//! it finds. If one hangs, faults or disappears, the next goes on after it.

mod leading;
mod place;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use self::leading::{GPU_GONE, Leading, is_stopped, stop};
use self::place::Place;
use super::corpus::launched::launch_all;
use super::corpus::processes::LAUNCH;
use super::journal::{Event, Journal, Known, Machine};
use super::kernels;
use super::plan::Plan;
use super::report::Report;
use super::stage::{Bench, Catalogue, Settings, Stage, Worked, work};
use super::stages::{self, ALWAYS, PLAN, Part, USUAL};
use host_tests::check::forms_check;
use launch::child::{self, itself, leave};
use launch::gpu::Gpu;
use launch::no_gpu::{NO_GPU, without};
use launch::watch::stuck;
use litmus::gpu::kernels::judge_and_run;
use ptx_build::error::{Error, Result};
use ptx_build::progress::Progress;

/// The arguments of the program.
#[derive(Clone, Debug, clap::Args)]
pub struct Options {
    /// The seed of the data. Without it, a new one each time
    #[arg(long)]
    seed: Option<u64>,
    /// The folder for the results. Without it, the folder of the program
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    /// Run only these stages
    #[arg(long, value_name = "STAGE", value_delimiter = ',')]
    only: Vec<String>,
    /// Run every stage, in half an hour. Or run one of four parts, 1 to 4, each in less than ten minutes
    #[arg(
        long, value_name = "PART", conflicts_with = "only", num_args = 0..=1, default_missing_value = "0",
        value_parser = clap::value_parser!(u8).range(0..=PLAN.len() as i64)
    )]
    plan: Option<u8>,
    /// End after this number of seconds, whatever is left. Without it, a part of the plan has its own limit
    #[arg(long, value_name = "SECONDS")]
    deadline: Option<u64>,
    /// A dry run: small sizes and few rounds, which say nothing about orders and speed
    #[arg(long)]
    quick: bool,
    /// Run only these items of the stages: what failed, again
    #[arg(long, value_name = "ITEM", value_delimiter = ',', requires = "only")]
    items: Vec<String>,
    /// Run one of every N images of forms
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    sample: u64,
    /// Run nothing, and make the report again: of the results that are there, or of the joined results of these folders
    #[arg(long, value_name = "FOLDER", num_args = 0..)]
    render: Option<Vec<PathBuf>>,
    /// Only judge these litmus tests by the memory model, and run them. `.litmus` files or folders
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with_all = ["only", "plan", "render"])]
    litmus: Vec<PathBuf>,
    /// Work at this stage, as a process of another one
    #[arg(long, value_name = "STAGE", hide = true)]
    work: Option<String>,
    /// Its set of images
    #[arg(long, value_name = "SET", hide = true)]
    set: Option<String>,
    /// How long its process may take
    #[arg(long, value_name = "SECONDS", hide = true)]
    left: Option<f64>,
    /// Launch kernels of the corpus, whose files lie here
    #[arg(long, value_name = "FOLDER", hide = true)]
    corpus: Option<PathBuf>,
    /// Their names
    #[arg(long, value_name = "KERNEL", value_delimiter = ',', hide = true)]
    kernels: Vec<String>,
    /// How long a stage may take, if it is not what the plan says: `corpus-sanitizer=100`
    #[arg(long, value_name = "STAGE=SECONDS", value_delimiter = ',', value_parser = stage_limit)]
    limit: Vec<(String, u64)>,
    /// How long a launch may take. Without it, each stage has its own limit
    #[arg(long, value_name = "SECONDS")]
    launch_limit: Option<u64>,
}

/// The stage of a process that only tells what there is.
const MACHINE: &str = "machine";

/// How long the driver may take to say what there is.
const MACHINE_LIMIT: Duration = Duration::from_secs(90);

/// Runs the program whose kernels lie in that folder, with these forms.
pub fn main(options: &Options, folder: &Path, forms: Catalogue) -> Result<ExitCode> {
    if !options.litmus.is_empty() {
        return litmus_files(&options.litmus);
    }
    if let Some(corpus) = &options.corpus {
        let Settings { launch_limit, left, .. } = settings(options)?;
        return launch_all(corpus, &options.kernels, launch_limit.unwrap_or(LAUNCH), left.unwrap_or(LAUNCH * 4));
    }
    let out = options.out.clone().unwrap_or_else(|| folder.to_owned());
    let results = out.join("results.jsonl");
    match &options.work {
        Some(stage) if stage == MACHINE => tell_machine(),
        Some(stage) => work_at(stage, options, folder, out, &results, forms),
        None => {
            std::fs::create_dir_all(&out).map_err(|error| Error::io("create the folder", &out, error))?;
            let place = Place { folder: folder.to_owned(), out, results };
            match &options.render {
                None => lead(options, place, forms),
                Some(folders) if folders.is_empty() => place.report(&forms()),
                Some(folders) => {
                    place.join(folders)?;
                    place.report(&forms())
                }
            }
        }
    }
}

/// Judges litmus tests, and runs them.
fn litmus_files(files: &[PathBuf]) -> Result<ExitCode> {
    match judge_and_run(files, &Progress::new())? {
        Ok(right) => Ok(if right { ExitCode::SUCCESS } else { ExitCode::FAILURE }),
        Err(no_gpu) => {
            let code = without(&no_gpu)?;
            eprintln!("so the verdicts are the model's alone");
            Ok(code)
        }
    }
}

/// Prints what this machine has.
fn tell_machine() -> Result<ExitCode> {
    let gpu = match Gpu::find() {
        Ok(gpu) => gpu,
        Err(no_gpu) => return without(&no_gpu),
    };
    let driver = format!("CUDA {} ({})", gpu.driver().version(), gpu.driver().path());
    let machine = Machine { gpu: gpu.name().to_owned(), sm: gpu.sm(), processors: gpu.processors(), driver };
    println!("{}", serde_json::to_string(&machine).map_err(Error::new)?);
    Ok(ExitCode::SUCCESS)
}

/// Works at a stage.
fn work_at(
    name: &str,
    options: &Options,
    folder: &Path,
    out: PathBuf,
    results: &Path,
    forms: Catalogue,
) -> Result<ExitCode> {
    child::end_with_parent()
        .map_err(|error| Error::new(format_args!("could not ask the system for a signal: {error}")))?;
    let stage = stage(name)?;
    let settings = Settings { set: options.set.clone(), ..settings(options)? };
    watch(name.to_owned(), Journal::open(results)?, settings.launch_limit.unwrap_or(stage.launch_limit()));
    let mut bench = Bench::new(folder.to_owned(), out, forms, settings, Journal::open(results)?);
    match work(&*stage, &mut bench, &Progress::new()) {
        Ok(Worked::All) => Ok(ExitCode::SUCCESS),
        Ok(Worked::GpuGone) => leave(GPU_GONE),
        Err(error) => {
            bench.journal.write(Event::Trouble { stage: name.into(), why: error.to_string() })?;
            eprintln!("{name}: {error}");
            leave(1)
        }
    }
}

/// Ends this process if a call into the driver does not come back, and says which one.
fn watch(stage: String, journal: Journal, limit: Duration) {
    std::thread::spawn(move || {
        loop {
            std::thread::sleep(limit.min(Duration::from_secs(1)) / 10);
            let Some(doing) = stuck(limit) else { continue };
            let why = format!("{doing} has not ended after {limit:?}");
            // Without a line the process's end is still seen.
            let _ = journal.write(Event::Trouble { stage, why });
            leave(1)
        }
    });
}

fn settings(options: &Options) -> Result<Settings> {
    let seed = options.seed.map_or_else(forms_check::seed, Ok)?;
    let launch_limit = options.launch_limit.map(Duration::from_secs);
    let left = options.left.map(Duration::from_secs_f64);
    Ok(Settings {
        seed,
        sample: options.sample as usize,
        items: options.items.clone(),
        launch_limit,
        quick: options.quick,
        left,
        ..Settings::default()
    })
}

/// Reads `STAGE=SECONDS`.
fn stage_limit(text: &str) -> std::result::Result<(String, u64), String> {
    let (name, seconds) = text.split_once('=').ok_or("write STAGE=SECONDS")?;
    stage(name).map_err(|error| error.to_string())?;
    Ok((name.to_owned(), seconds.parse().map_err(|_| "the limit is a number of seconds")?))
}

fn stage(name: &str) -> Result<Box<dyn Stage>> {
    let names: Vec<&str> = stages::all().iter().map(|stage| stage.name()).collect();
    let found = stages::all().into_iter().find(|stage| stage.name() == name);
    found.ok_or_else(|| {
        let unknown = Error::new(format_args!("there is no stage {name}"));
        unknown.at("--only").fix(format_args!("name some of {}", names.join(" ")))
    })
}

/// Starts the processes of each stage, and writes the report after each.
fn lead(options: &Options, place: Place, forms: Catalogue) -> Result<ExitCode> {
    let chosen = chosen(options)?;
    // Only the first handler of a process counts.
    let _ = ctrlc::set_handler(stop);
    let clock = Instant::now();
    let deadline = options.deadline.or(part(options).map(|part| part.limit)).map(Duration::from_secs);
    let machine = match machine()? {
        Ok(machine) => machine,
        Err(no_gpu) => {
            eprint!("{no_gpu}");
            return Ok(ExitCode::from(NO_GPU));
        }
    };
    let versions = kernels::versions(&place.folder)?;
    let settings = settings(options)?;
    let seed = settings.seed;
    eprintln!("{} (sm_{}), seed {seed}", machine.gpu, machine.sm);
    place.set_aside_older()?;
    let journal = Journal::open(&place.results)?;
    let began = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let names = chosen.iter().map(|stage| stage.name().to_owned()).collect();
    journal.write(Event::Run { began, seed, versions, stages: names, quick: settings.quick })?;
    journal.write(Event::Machine(machine))?;
    let forms = &forms();
    let plan = Plan::new(forms);
    for stage in &chosen {
        let left = deadline.map(|deadline| deadline.saturating_sub(clock.elapsed()));
        let began = Instant::now();
        let own = options.limit.iter().find(|(name, _)| name == stage.name());
        let limit = own.map_or(stage.limit(), |(_, seconds)| Duration::from_secs(*seconds));
        let leading = Leading { stage: &**stage, journal: &journal, place: &place, settings: &settings, limit, left };
        let early = leading.lead()?;
        let (known, seconds) = (Known::of(stage.name(), &journal.events()?), began.elapsed().as_secs_f64());
        eprintln!("{}: {}{seconds:.1} s", stage.name(), in_words(&known, early.as_deref()));
        journal.write(Event::Ended { stage: stage.name().into(), early, seconds })?;
        place.write_report(&Report::of(&journal.events()?, forms, &plan))?;
    }
    journal.write(Event::Complete { seconds: clock.elapsed().as_secs_f64() })?;
    place.report(forms)
}

fn in_words(known: &Known, early: Option<&str>) -> String {
    let items = known.work.as_ref().map_or(0, |work| work.items.len());
    if let Some(program) = known.work.as_ref().and_then(|work| work.missing.as_ref()) {
        return format!("not run: there is no {program} here; ");
    }
    let failed = known.found.iter().filter(|(_, found)| !found.passed).count();
    let early = early.map(|why| format!("{why}; ")).unwrap_or_default();
    format!("{} of {items} done, {failed} failed, {} lost; {early}", known.found.len(), known.lost.len())
}

/// The stages of this run.
fn chosen(options: &Options) -> Result<Vec<Box<dyn Stage>>> {
    options.only.iter().try_for_each(|name| stage(name).map(drop))?;
    let is_wanted = |name: &str| match (&options.only[..], options.plan) {
        (_, Some(_)) => part(options).is_none_or(|part| part.stages.contains(&name)),
        ([], None) => USUAL.contains(&name),
        (only, None) => only.iter().any(|wanted| wanted == name),
    };
    Ok(stages::all().into_iter().filter(|stage| ALWAYS.contains(&stage.name()) || is_wanted(stage.name())).collect())
}

/// The part of the plan, if it is one.
fn part(options: &Options) -> Option<&'static Part> {
    PLAN.get(usize::from(options.plan?).checked_sub(1)?)
}

/// What there is to run on, by a process of its own: this one never has a context.
fn machine() -> Result<Result<Machine, String>> {
    let ended = child::run(Command::new(itself()?).args(["--work", MACHINE]), MACHINE_LIMIT, true, is_stopped)?;
    match ended.code() {
        Some(0) => {
            let line = ended.stdout.lines().last().unwrap_or_default();
            Ok(Ok(serde_json::from_str(line).map_err(|error| Error::new(error).because(&ended.stdout))?))
        }
        Some(code) if code == i32::from(NO_GPU) => Ok(Err(ended.stdout)),
        _ => Err(Error::new(format_args!("the driver does not say what GPU there is ({})", ended.in_words()))
            .because(&ended.stdout)
            .fix("see what `nvidia-smi` says")),
    }
}
