//! Forms against the compiler and the assembler: text to the letter in both profiles, and taken by the assembler on
//! every GPU where the catalogue lists them, and on none where it does not.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use ptx_intrinsics::catalogue::{self, Form};
use rand::rngs::StdRng;
use rand::seq::{IndexedRandom, SliceRandom};
use rand::{RngExt, SeedableRng};

use crate::check::conformance::known;
use crate::check::forms::{self, Case, Syntax};
use crate::check::only;
use crate::check::verdicts::Verdicts;
use crate::tools::command::Machine;
use crate::tools::cuda_tools::CudaTools;
use crate::tools::device_build::{DeviceBuild, Profile};
use crate::tools::error::{Error, Result};
use crate::tools::progress::Progress;
use crate::tools::ptx::Module;
use crate::tools::ptxas::On;
use crate::tools::target::{PtxVersion, Sm};
use crate::tools::toolchain::DeviceToolchain;

/// What the kernels are compiled for: a GPU that has every form.
const BUILT_FOR: Sm = Sm::OF_EVERY_FORM;

/// Names a seed: the slice of an earlier run is drawn again.
pub const SEED_VARIABLE: &str = "PTX_INTRINSICS_SEED";

/// Where forms are compiled and assembled.
pub struct Check<'a> {
    toolchain: &'a DeviceToolchain,
    /// Every GPU and its assembler: today's, and CUDA 12's for those that it dropped; and today's targets with a suffix, which are
    /// asked about what names such targets: of all else `sm_90a` takes what `sm_90` takes.
    pub assemblers: Vec<On>,
}

impl<'a> Check<'a> {
    /// Finds the assemblers.
    pub fn new(toolchain: &'a DeviceToolchain, tools: &CudaTools, progress: &Progress) -> Result<Self> {
        let assemblers = [tools.every_gpu(progress)?, tools.every_suffix()?].concat();
        Ok(Check { toolchain, assemblers })
    }

    /// Some cases, to be compiled under that name.
    pub fn part(&self, name: &str, cases: Vec<Case>) -> Part<'_> {
        let cases = cases.into_boxed_slice();
        Part { check: self, name: name.to_owned(), cases, modules: [const { OnceLock::new() }; 2] }
    }
}

/// Some cases, and what they were compiled to.
pub struct Part<'a> {
    check: &'a Check<'a>,
    name: String,
    /// The cases.
    pub cases: Box<[Case]>,
    modules: [OnceLock<std::result::Result<Module, String>>; 2],
}

/// What was looked at, and what was wrong, a line each.
#[derive(Clone, Debug, Default)]
pub struct Looked {
    /// How many forms or functions were looked at.
    pub at: usize,
    /// What was wrong.
    pub wrong: Vec<String>,
}

impl Part<'_> {
    /// The module of a profile, compiled once.
    pub fn module(&self, profile: Profile) -> Result<&Module> {
        let slot = &self.modules[usize::from(profile == Profile::Release)];
        slot.get_or_init(|| self.build(profile).map_err(|error| error.to_string())).as_ref().map_err(Error::new)
    }

    fn folder(&self) -> PathBuf {
        Machine::current().target().join("forms")
    }

    fn build(&self, profile: Profile) -> Result<Module> {
        let folder = forms::write_crate(&self.folder().join(&self.name), &self.cases)?;
        let build = DeviceBuild { profile, ..DeviceBuild::of_every_form(folder, "forms", BUILT_FOR) };
        let (ptx, _) = build.build_quietly(self.check.toolchain)?;
        Module::read(&ptx)
    }

    /// Compares every function's text.
    pub fn compare(&self, profile: Profile) -> Result<Looked> {
        Ok(Looked { at: self.cases.len(), wrong: forms::differences(self.module(profile)?, &self.cases) })
    }

    /// What the catalogue says that this GPU has, the assembler takes; other syntaxes than the plain one on one GPU
    /// alone, since a predicate and a way to write are the same everywhere.
    pub fn accepted(&self, on: &On) -> Result<Looked> {
        let newest = on.sm == BUILT_FOR;
        let cases = self.having(on, |case| newest || matches!(case.syntax, Syntax::Plain | Syntax::Unified));
        let wrong = self.verdicts()?.refusals(&on.assembler, &cases, on.sm, on.version)?;
        Ok(Looked { at: cases.len(), wrong })
    }

    fn having(&self, on: &On, wanted: impl Fn(&Case) -> bool) -> Vec<&Case> {
        let asked = |case: &&Case| is_asked(case, on) && has(case, on.sm, on.version) && wanted(case);
        self.cases.iter().filter(asked).collect()
    }

    /// What the catalogue says that this GPU has not, the assembler refuses.
    pub fn refused(&self, on: &On) -> Result<Looked> {
        let plain = |case: &&Case| matches!(case.syntax, Syntax::Plain | Syntax::Unified) && is_asked(case, on);
        let cases: Vec<&Case> = self.cases.iter().filter(plain).filter(|case| !has(case, on.sm, on.version)).collect();
        let accepted = self.verdicts()?.accepted(&on.assembler, &cases, on.sm, on.version)?;
        // An older assembler may be content with less than the ISA asks for.
        let known =
            |case: &&&Case| known::reason(&format!("{} before sm_{}", case.form.full_ptx(), case.needs().0)).is_some();
        let unknown = accepted.iter().filter(|case| !known(case));
        let wrong = unknown.map(|case| format!("{} is accepted on {}", case.rust(), on.sm)).collect();
        Ok(Looked { at: cases.len(), wrong })
    }

    /// What the catalogue says that a PTX ISA version brings, the assembler refuses one version earlier.
    pub fn versions(&self) -> Result<Looked> {
        let mut looked = Looked::default();
        for (number, before, gate) in GATES {
            let on = self.check.assemblers.iter().find(|on| on.sm == Sm::new(number));
            let on = on.ok_or_else(|| Error::new(format_args!("no assembler here knows sm_{number}")))?;
            let brings = |case: &&Case| {
                matches!(case.syntax, Syntax::Plain | Syntax::Unified)
                    && case.needs().1 == gate
                    && case.needs().0 <= number
            };
            let cases: Vec<&Case> = self.cases.iter().filter(brings).collect();
            let version = PtxVersion::of_number(before);
            let early = self.verdicts()?.accepted(&on.assembler, &cases, on.sm, version)?;
            looked.at += cases.len();
            looked.wrong.extend(early.iter().map(|case| format!("{} is accepted in PTX ISA {version}", case.rust())));
        }
        Ok(looked)
    }

    fn verdicts(&self) -> Result<Verdicts<'_>> {
        Ok(Verdicts { module: self.module(Profile::Release)?, kept: self.folder().join("accepted") })
    }
}

/// Where a PTX ISA version brings something: a GPU that has it, the version before, and the version. (What came with a
/// GPU, as 6.0 did with sm_70 and 7.8 with sm_90, has no version before.)
const GATES: [(u32, u32, u32); 17] = [
    (60, 61, 62),
    (70, 62, 63),
    (80, 70, 71),
    (80, 73, 74),
    (80, 74, 75),
    (90, 78, 80),
    (90, 80, 81),
    (80, 81, 82),
    (80, 82, 83),
    (90, 82, 83),
    (80, 83, 84),
    (90, 83, 84),
    (100, 85, 86),
    (100, 87, 88),
    (80, 90, 91),
    (90, 91, 92),
    (90, 93, 94),
];

fn has(case: &Case, sm: Sm, version: PtxVersion) -> bool {
    let (first_sm, first_ptx) = case.needs();
    let is_on = case.form.targets().is_empty() || case.form.is_on(&sm.to_string(), version.number());
    first_sm <= sm.number && PtxVersion::of_number(first_ptx) <= version && is_on
}

/// Whether a target is asked about a case: one with a suffix about what names such targets, but for the one that has all.
fn is_asked(case: &Case, on: &On) -> bool {
    on.sm.suffix.is_none() || on.sm == BUILT_FOR || !case.form.targets().is_empty()
}

/// Every form that is looked at, in the catalogue's order: all, if `cargo xtask test --only` names none.
pub fn every_form() -> Vec<Arc<Form>> {
    catalogue::forms().filter(only::has).map(Arc::new).collect()
}

/// The seed that the environment names, or a new one.
pub fn seed() -> Result<u64> {
    match std::env::var(SEED_VARIABLE) {
        Err(_) => Ok(rand::rng().random()),
        Ok(text) => text.parse().map_err(|_| {
            Error::new(format_args!("`{text}` is no seed")).at(SEED_VARIABLE).fix("write a number from 0 to 2^64 - 1")
        }),
    }
}

/// What draws a sample in a test: by the seed, which is printed. `what` says of what.
pub fn random(what: &str) -> StdRng {
    let seed = seed().unwrap_or_else(|error| panic!("{error}"));
    println!("{what} drawn by {SEED_VARIABLE}={seed}");
    StdRng::seed_from_u64(seed)
}

/// A slice of the cases: so many forms of each instruction, drawn by the seed, in every syntax that they have, and as
/// many choices of lanes.
pub fn slice(forms: &[Arc<Form>], of_each: usize, seed: u64) -> Vec<Case> {
    let mut random = StdRng::seed_from_u64(seed);
    let mut drawn: Vec<Arc<Form>> = Vec::new();
    for (_, own) in by_instruction(forms) {
        drawn.extend(own.sample(&mut random, of_each).cloned());
    }
    let (mut lanes, mut cases): (Vec<Case>, Vec<Case>) =
        forms::cases(&drawn).into_iter().partition(|case| matches!(case.syntax, Syntax::Lanes(_)));
    lanes.shuffle(&mut random);
    cases.extend(lanes.into_iter().take(of_each));
    cases
}

/// The forms of each instruction, in the catalogue's order.
pub fn by_instruction(forms: &[Arc<Form>]) -> Vec<(String, Vec<Arc<Form>>)> {
    let mut all: Vec<(String, Vec<Arc<Form>>)> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    for form in forms {
        let place = *places.entry(form.instruction()).or_insert(all.len());
        if place == all.len() {
            all.push((form.instruction().to_owned(), Vec::new()));
        }
        all[place].1.push(form.clone());
    }
    all
}

/// What the whole check showed.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Forms of each instruction.
    pub forms: Vec<(String, usize)>,
    /// Functions: each form in every syntax.
    pub functions: usize,
    /// Functions compared, in dev and in release builds.
    pub compared: [usize; 2],
    /// Acceptances by the assembler: functions × GPUs.
    pub accepted: usize,
    /// Refusals: functions × GPUs.
    pub refused: usize,
    /// Refusals by PTX ISA version.
    pub early: usize,
    /// GPUs asked about.
    pub gpus: usize,
    /// How long it took.
    pub seconds: f64,
    /// What was wrong, a line each.
    pub wrong: Vec<String>,
}

/// How many functions are compiled at a time.
const AT_A_TIME: usize = 6000;

impl Check<'_> {
    /// Compiles and assembles all of these cases, part by part: the next part compiles while one is assembled.
    pub fn run(&self, forms: &[Arc<Form>], cases: Vec<Case>, progress: &Progress) -> Result<Report> {
        let began = Instant::now();
        let mut report = Report { functions: cases.len(), gpus: self.assemblers.len(), ..Report::default() };
        report.forms = by_instruction(forms).into_iter().map(|(name, own)| (name, own.len())).collect();
        let parts: Vec<Vec<Case>> = cases.chunks(AT_A_TIME).map(<[Case]>::to_vec).collect();
        let count = parts.len();
        std::thread::scope(|scope| {
            let (send, receive) = std::sync::mpsc::sync_channel(1);
            scope.spawn(move || {
                for (number, cases) in parts.into_iter().enumerate() {
                    let part = self.part(&format!("part-{number}"), cases);
                    let built = [Profile::Dev, Profile::Release]
                        .into_iter()
                        .try_for_each(|profile| part.module(profile).map(drop));
                    if send.send(built.map(|()| part)).is_err() {
                        return;
                    }
                }
            });
            for (number, part) in receive.iter().enumerate() {
                let step = progress.step(format!("Forms: part {} of {count}", number + 1));
                self.add(&mut report, &part?)?;
                drop(step);
            }
            Ok::<(), Error>(())
        })?;
        report.seconds = began.elapsed().as_secs_f64();
        Ok(report)
    }

    fn add(&self, report: &mut Report, part: &Part<'_>) -> Result<()> {
        for (at, profile) in [Profile::Dev, Profile::Release].into_iter().enumerate() {
            let looked = part.compare(profile)?;
            report.compared[at] += looked.at;
            report.wrong.extend(looked.wrong);
        }
        for on in &self.assemblers {
            let looked = part.accepted(on)?;
            report.accepted += looked.at;
            report.wrong.extend(looked.wrong);
            let looked = part.refused(on)?;
            report.refused += looked.at;
            report.wrong.extend(looked.wrong);
        }
        let looked = part.versions()?;
        report.early += looked.at;
        report.wrong.extend(looked.wrong);
        Ok(())
    }
}

impl Report {
    /// The numbers, for people.
    pub fn table(&self) -> String {
        let mut table = String::new();
        for (name, count) in &self.forms {
            table += &format!("{count:>9}  {name}\n");
        }
        let forms: usize = self.forms.iter().map(|(_, count)| count).sum();
        table += &format!("{forms:>9}  forms\n\n");
        let [dev, release] = self.compared;
        let lines = [
            (
                self.functions,
                "functions: each form by its method and by ptx!, predicated, unified, with every choice of lanes",
            ),
            (dev, "compared to the letter in a dev build"),
            (release, "compared to the letter in a release build"),
            (self.accepted, "accepted by ptxas, functions × GPUs"),
            (self.refused, "refused by ptxas, where the catalogue has them not"),
            (self.early, "refused by ptxas in the PTX ISA version before"),
            (self.gpus, "GPUs"),
            (self.wrong.len(), "wrong"),
        ];
        for (count, what) in lines {
            table += &format!("{count:>9}  {what}\n");
        }
        table + &format!("{:>9.0}  seconds\n", self.seconds)
    }

    /// An error that names the first wrong ones, if there is one.
    pub fn verify(&self) -> Result<()> {
        none(&self.wrong)
    }
}

/// An error that names the first of these complaints, if there is one.
pub(super) fn none(wrong: &[String]) -> Result<()> {
    if wrong.is_empty() {
        return Ok(());
    }
    let shown = wrong.iter().take(10).map(String::as_str).collect::<Vec<_>>().join("\n");
    Err(Error::new(format_args!("{} complaints", wrong.len())).because(shown))
}
