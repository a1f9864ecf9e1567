//! The line between legal and illegal: where the types draw it, and where the assembler does.
//!
//! 1. Each assembler's parser is asked, for its newest GPU, about every spelling of every [grammar]. It names every
//!    line that it refuses, and each complaint of a target or a version is one more beside the others: what it refuses
//!    for the newest GPU, it refuses for all. A sample of that is asked for each GPU nevertheless.
//! 2. What it accepts there, or the types do, is asked for every GPU, with every type of its class and everything that
//!    the operands may say; what the types accept has to become machine code too.
//! 3. Of the same spellings, the smallest PTX ISA version and the oldest target are found by asking for each.
//! 4. What the types say is asked of the crate's own functions there; thousands of expressions, legal and not, go
//!    through `cargo check` for some targets, and have to be refused where it says so.

pub mod ask;
pub mod compiler;
pub mod grammar;
pub mod known;
mod report;
pub mod suffixed;
pub mod types;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::time::Instant;

use ptx_intrinsics::catalogue::{self, Form};
use rand::rngs::StdRng;
use rand::seq::{IndexedRandom, IteratorRandom, SliceRandom};
use rand::{RngExt, SeedableRng};
use rayon::prelude::*;

use crate::check::conformance::ask::{Asked, Failure};
use crate::check::conformance::grammar::{GRAMMARS, Grammar, Spelling};
use crate::check::conformance::known::REASONS;
use crate::check::conformance::types::types_say;
use crate::check::only;
use crate::tools::error::Result;
use crate::tools::progress::{Bar, Progress};
use crate::tools::ptxas::On;
use crate::tools::target::{PtxVersion, Sm};
use crate::tools::toolchain::DeviceToolchain;

pub use report::{Alone, OnGpu, Report, Walked};

/// How many spellings the parser is asked about at a time.
const PARSED: usize = 20_000;
/// How many spellings become machine code at a time.
const ASSEMBLED: usize = 5_000;
/// The GPU of the walk: both assemblers know it, and the oldest has nothing that it has not.
const NEWEST: Sm = Sm::new(121);

/// The targets since PTX has generic addresses.
const TARGETS: [u32; 27] =
    [20, 30, 32, 35, 37, 50, 52, 53, 60, 61, 62, 70, 72, 75, 80, 86, 87, 88, 89, 90, 100, 101, 103, 107, 110, 120, 121];
/// Each major version of PTX since then, and its last minor one; of the newest, those that the assembler knows.
const VERSIONS: [(u32, u32); 8] = [(2, 3), (3, 2), (4, 3), (5, 1), (6, 5), (7, 8), (8, 8), (9, u32::MAX)];

/// How many of the spellings that the newest GPU refuses are asked for each other one: by the whole run, and by a slice.
const SAMPLE: [usize; 2] = [20_000, 1_500];
/// GPUs for which a slice becomes machine code.
const ASSEMBLED_FOR: usize = 4;
/// How many spellings a slice has for each that it draws of the catalogue.
const OF_SLICE: usize = 5;
/// How many spellings of each reason are assembled alone, to see what becomes of them.
const FATES: usize = 6;
/// How many expressions of each way to write are compiled.
const EXPRESSIONS: usize = 4000;

/// How much is asked.
#[derive(Clone, Copy, Debug)]
pub enum Extent {
    /// Every spelling.
    Whole,
    /// So many of the catalogue, each with three that differ from it in one word, and as many out of all, of each grammar; those
    /// that have no more are whole.
    Slice(usize),
}

impl Extent {
    /// A slice of half a minute.
    pub const QUICK: Extent = Extent::Slice(100);
}

/// A spelling by its grammar and its number there.
type Numbered = (&'static Grammar, usize);

/// A spelling that the types or the assembler accept somewhere.
struct Live {
    spelling: Spelling,
    /// The oldest SM and PTX ISA version by the types, where they accept it.
    types: Option<(u32, u32)>,
    /// Where the assembler accepts it and the types do not: everywhere, or before a gate of theirs.
    alone: BTreeSet<String>,
}

impl Live {
    fn new(spelling: Spelling) -> Live {
        let types = types_say(&spelling);
        Live { spelling, types, alone: BTreeSet::new() }
    }

    /// Why the types refuse it for a GPU and a version.
    fn refused_by_types(&self, sm: Sm, version: PtxVersion) -> Option<String> {
        match self.types {
            None => Some(String::new()),
            Some((number, _)) if sm.number < number => Some(format!(" before sm_{number}")),
            Some((_, number)) if version.number() < number => {
                Some(format!(" before PTX ISA {}", PtxVersion::of_number(number)))
            }
            Some(_) => None,
        }
    }
}

/// Asks, and compares.
pub fn compare(
    toolchain: &DeviceToolchain,
    gpus: &[On],
    extent: Extent,
    seed: u64,
    progress: &Progress,
) -> Result<Report> {
    let began = Instant::now();
    let mut comparing = Comparing { random: StdRng::seed_from_u64(seed), progress, report: Report::default() };
    let numbered = comparing.numbered(extent);
    let (alive, dead) = comparing.walk(gpus, &numbered)?;
    let (mut live, expressions, targets) = match extent {
        Extent::Whole => (families(&alive), EXPRESSIONS, compiler::TARGETS.len()),
        Extent::Slice(count) => (comparing.relatives(&alive), count, 1),
    };
    comparing.report.live = live.len();
    let sample = SAMPLE[usize::from(matches!(extent, Extent::Slice(_)))];
    let assembled = match extent {
        Extent::Whole => gpus.len(),
        Extent::Slice(_) => ASSEMBLED_FOR,
    };
    comparing.gpus(gpus, &mut live, &dead, [sample, assembled])?;
    comparing.gates(gpus, &mut live)?;
    comparing.reasons(gpus, &live)?;
    comparing.compiler(toolchain, (&live, &dead), expressions, targets)?;
    comparing.report.seconds = began.elapsed().as_secs_f64();
    Ok(comparing.report)
}

/// The instructions and the numbers of the forms that a grammar spells.
fn legal<'f>(grammar: &'static Grammar, forms: &'f [Form]) -> Vec<(&'f str, usize)> {
    let told = |form: &Form| if grammar.typed { form.ptx().to_owned() } else { form.full_ptx() };
    forms.iter().filter_map(|form| Some((form.instruction(), grammar.number(&told(form))?))).collect()
}

struct Comparing<'a> {
    random: StdRng,
    progress: &'a Progress,
    report: Report,
}

impl Comparing<'_> {
    fn numbered(&mut self, extent: Extent) -> Vec<Numbered> {
        let whole = |grammar: &'static Grammar| (0..grammar.len()).map(move |number| (grammar, number));
        match extent {
            Extent::Whole => GRAMMARS.iter().flat_map(whole).collect(),
            Extent::Slice(count) => {
                let wanted = GRAMMARS.iter().filter(|grammar| grammar.is_wanted());
                let (large, small): (Vec<_>, Vec<_>) = wanted.partition(|grammar| grammar.len() > OF_SLICE * count);
                let forms: Vec<_> = catalogue::forms().filter(only::has).collect();
                let mut drawn: Vec<Numbered> = small.into_iter().flat_map(whole).collect();
                for grammar in large {
                    drawn.extend(self.slice(grammar, &legal(grammar, &forms), count));
                }
                drawn
            }
        }
    }

    /// So many of what the types accept and one of each instruction, three that differ from each in a word, and as many of any kind.
    fn slice(&mut self, grammar: &'static Grammar, legal: &[(&str, usize)], count: usize) -> Vec<Numbered> {
        let mut shuffled = legal.to_vec();
        shuffled.shuffle(&mut self.random);
        let mut seen = HashSet::new();
        let (first, others): (Vec<_>, Vec<_>) = shuffled.into_iter().partition(|(name, _)| seen.insert(*name));
        let rest = count.saturating_sub(first.len());
        let accepted: Vec<usize> = first.into_iter().chain(others.into_iter().take(rest)).map(|(_, at)| at).collect();
        let any = (0..count).map(|_| self.random.random_range(0..grammar.len())).collect::<Vec<_>>();
        let beside = accepted.iter().flat_map(|number| [*number; 3]);
        let beside: Vec<usize> = beside.map(|number| grammar.neighbour(number, &mut self.random)).collect();
        [accepted, any, beside].concat().into_iter().map(|number| (grammar, number)).collect()
    }

    /// Asks each assembler's parser about its newest GPU, and gives what it or the types accept, and the rest.
    fn walk(&mut self, gpus: &[On], numbered: &[Numbered]) -> Result<(Vec<Numbered>, Vec<Numbered>)> {
        let assemblers = assemblers(gpus);
        let bar = self.progress.bar((numbered.len() * assemblers.len()) as u64, "Every spelling, by the parser");
        let mut accepted: Vec<bool> =
            numbered.par_iter().map(|(grammar, number)| types_say(&grammar.spelling(*number)).is_some()).collect();
        for on in assemblers {
            let verdicts = parse(&Asked::new(on), numbered, number_of, NEWEST, on.version, Some(&bar))?;
            let count = verdicts.iter().filter(|&&accepted| accepted).count();
            self.report.walked.push(Walked { ptx: on.version, spellings: numbered.len(), accepted: count });
            accepted.iter_mut().zip(verdicts).for_each(|(accepted, this)| *accepted |= this);
        }
        drop(bar);
        let split = |wanted| {
            let chosen = numbered.iter().zip(&accepted).filter(move |(_, accepted)| **accepted == wanted);
            chosen.map(|(numbered, _)| *numbered).collect()
        };
        Ok((split(true), split(false)))
    }

    /// Each of these, and one of its family.
    fn relatives(&mut self, alive: &[Numbered]) -> Vec<Live> {
        let both = alive.iter().flat_map(|(grammar, number)| {
            let relative = grammar.family(*number).into_iter().choose(&mut self.random);
            [Some(grammar.spelling(*number)), relative].into_iter().flatten()
        });
        both.map(Live::new).collect()
    }

    /// For each GPU: what the parser makes of the live ones and of a sample of the dead; and for some, whether what the types accept
    /// becomes machine code.
    fn gpus(
        &mut self,
        gpus: &[On],
        live: &mut [Live],
        dead: &[Numbered],
        [sample, assembled]: [usize; 2],
    ) -> Result<()> {
        let assembled: Vec<Sm> = gpus.sample(&mut self.random, assembled).map(|on| on.sm).collect();
        let sample: Vec<Numbered> = dead.sample(&mut self.random, sample).copied().collect();
        let bar = self.progress.bar((gpus.len() * (live.len() + sample.len())) as u64, "Every GPU");
        for on in gpus {
            let asked = Asked::new(on);
            let mut row = OnGpu { sampled: sample.len(), ..OnGpu::new(on.sm) };
            let verdicts = parse(&asked, live, |live| live.spelling.clone(), on.sm, on.version, Some(&bar))?;
            let mut both = Vec::new();
            for (live, accepted) in live.iter_mut().zip(verdicts) {
                match (live.refused_by_types(on.sm, on.version), accepted) {
                    (None, true) => both.push(live.spelling.clone()),
                    (Some(_), false) => row.refused += 1,
                    (None, false) => row.wrong.push(format!("{} is refused by ptxas", live.spelling)),
                    (Some(gate), true) => {
                        row.alone += 1;
                        live.alone.insert(gate);
                    }
                }
            }
            if assembled.contains(&on.sm) {
                for (at, failure) in machine_code(&asked, &both, on)? {
                    row.wrong.push(format!("{} is no machine code: {}", both[at], failure.words));
                }
                row.assembled = both.len();
            }
            row.accepted = both.len();
            let verdicts = parse(&asked, &sample, number_of, on.sm, on.version, Some(&bar))?;
            let surprises = sample.iter().zip(verdicts).filter(|(_, accepted)| *accepted);
            row.wrong.extend(surprises.map(|((grammar, number), _)| {
                format!("{} is accepted by ptxas, and was not for {NEWEST}", grammar.spelling(*number))
            }));
            self.report.gpus.push(row);
        }
        Ok(())
    }

    /// The oldest target and the smallest PTX ISA version for which the newest assembler takes what the types accept.
    fn gates(&mut self, gpus: &[On], live: &mut [Live]) -> Result<()> {
        let Some(on) = assemblers(gpus).pop() else { return Ok(()) };
        let versions =
            VERSIONS.iter().flat_map(|&(major, last)| (0..=last).map(move |minor| PtxVersion::new(major, minor)));
        let by_version = versions.take_while(|version| *version <= on.version).map(|version| (NEWEST, version));
        let by_target = TARGETS.map(|number| (Sm::new(number), on.version));
        self.gate(on, live, &by_target)?;
        self.gate(on, live, &by_version.collect::<Vec<_>>())
    }

    /// Asks from step to step for what was not accepted yet.
    fn gate(&mut self, on: &On, live: &mut [Live], steps: &[(Sm, PtxVersion)]) -> Result<()> {
        let mut rest: Vec<&mut Live> = live.iter_mut().filter(|live| live.types.is_some()).collect();
        let bar = self.progress.bar(rest.len() as u64, "The first GPU and PTX ISA version of each");
        for &(target, version) in steps {
            let before = rest.len();
            let verdicts = parse(&Asked::new(on), &rest, |live| live.spelling.clone(), target, version, None)?;
            let mut refused = Vec::new();
            for (live, accepted) in rest.into_iter().zip(verdicts) {
                let gate = live.refused_by_types(target, version);
                match (&gate, accepted) {
                    (Some(_), false) => refused.push(live),
                    (None, false) => {
                        self.report
                            .wrong
                            .push(format!("{} is refused for {target} in PTX ISA {version}", live.spelling));
                    }
                    (_, true) => {
                        self.report.gates += 1;
                        live.alone.extend(gate);
                    }
                }
            }
            bar.inc((before - refused.len()) as u64);
            rest = refused;
        }
        Ok(())
    }

    /// Why what the assembler alone accepts is refused, and what becomes of some of it.
    fn reasons(&mut self, gpus: &[On], live: &[Live]) -> Result<()> {
        let mut alone: BTreeMap<usize, Vec<&Live>> = BTreeMap::new();
        for live in live {
            for refused in live.alone.iter().map(|gate| format!("{}{gate}", live.spelling)) {
                match known::reason(&refused) {
                    Some(reason) => alone.entry(reason).or_default().push(live),
                    None => self.report.unexplained.push(refused),
                }
            }
        }
        for (reason, live) in alone {
            let mut row = Alone { why: REASONS[reason].why.clone(), spellings: live.len(), ..Alone::default() };
            for live in live.sample(&mut self.random, FATES) {
                let Some(on) = gpus.last() else { continue };
                let failures = Asked::new(on).failures(std::slice::from_ref(&live.spelling), on.sm, on.version)?;
                match failures.first() {
                    None => row.machine_code += 1,
                    Some(failure) if failure.crashed => row.crashes += 1,
                    Some(_) => row.refusals += 1,
                }
            }
            self.report.alone.push(row);
        }
        Ok(())
    }
}

impl Comparing<'_> {
    /// Expressions with `ptx!`, half of them of what is accepted somewhere, and as many with methods, by the compiler.
    fn compiler(
        &mut self,
        toolchain: &DeviceToolchain,
        (live, dead): (&[Live], &[Numbered]),
        count: usize,
        targets: usize,
    ) -> Result<()> {
        // What is written with `ptx!`.
        let live = live.iter().map(|live| &live.spelling).filter(|spelling| spelling.is_spelled());
        let dead = dead.iter().filter(|(grammar, _)| grammar.is_spelled());
        let spelled = live.cloned().sample(&mut self.random, count / 2).into_iter();
        let others = dead.sample(&mut self.random, count).into_iter().map(number_of);
        let mut expressions = compiler::spellings(spelled.chain(others), count);
        if !only::is_set() {
            expressions.extend(compiler::methods(count, &mut self.random));
        } else if expressions.is_empty() {
            return Ok(());
        }
        let targets: Vec<_> = compiler::TARGETS.sample(&mut self.random, targets).collect();
        let names = targets.iter().map(|target| target.sm.to_string()).collect::<Vec<_>>().join(", ");
        let _step = self.progress.step(format!("cargo check of {} expressions for {names}", expressions.len()));
        let compiled = targets.par_iter().map(|target| compiler::check(toolchain, target, &expressions));
        self.report.compiled = compiled.collect::<Result<_>>()?;
        Ok(())
    }
}

/// Each of these with every type of its class and everything that operands may say.
fn families(alive: &[Numbered]) -> Vec<Live> {
    alive.par_iter().flat_map_iter(|(grammar, number)| grammar.family(*number)).map(Live::new).collect()
}

fn number_of(&(grammar, number): &Numbered) -> Spelling {
    grammar.spelling(number)
}

/// One GPU of each assembler, the newest last.
fn assemblers(gpus: &[On]) -> Vec<&On> {
    let by_version: BTreeMap<PtxVersion, &On> = gpus.iter().map(|on| (on.version, on)).collect();
    by_version.into_values().collect()
}

/// Which of these the parser accepts.
fn parse<T: Sync>(
    asked: &Asked,
    all: &[T],
    spelling: impl Fn(&T) -> Spelling + Sync,
    target: Sm,
    version: PtxVersion,
    bar: Option<&Bar<'_>>,
) -> Result<Vec<bool>> {
    let parts = all.par_chunks(PARSED).map(|part| {
        let spellings: Vec<Spelling> = part.iter().map(&spelling).collect();
        let verdicts = asked.parsed(&spellings, target, version);
        bar.inspect(|bar| bar.inc(part.len() as u64));
        verdicts
    });
    Ok(parts.collect::<Result<Vec<_>>>()?.concat())
}

/// Those that the code generator fails on.
fn machine_code(asked: &Asked, all: &[Spelling], on: &On) -> Result<Vec<(usize, Failure)>> {
    let parts = all.par_chunks(ASSEMBLED).enumerate().map(|(number, part)| {
        let failures = asked.failures(part, on.sm, on.version)?;
        Ok(failures.into_iter().map(|failure| (number * ASSEMBLED + failure.at, failure)).collect::<Vec<_>>())
    });
    Ok(parts.collect::<Result<Vec<_>>>()?.concat())
}
