//! Runs mutants: many at once if the failure identifies the mutant, otherwise alone.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use rand::SeedableRng;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use regex::Regex;
use serde::{Deserialize, Serialize};

use super::answer::{Answer, BEYOND, Failure};
use super::judge::{Bench, CASES, Judge};
use super::tree::Tree;
use super::{Fate, Kind, Mutant, Sign, Step, catalogue, code, device, marks, table};
use crate::tools::command::{Machine, interrupted};
use crate::tools::error::{Error, Result};
use crate::tools::files::write_whole;
use crate::tools::progress::Progress;
use crate::tools::toolchain::DeviceToolchain;

/// Mutants that change nothing, each with the reason.
const LISTED: &str = include_str!("equivalent.txt");

/// The crate whose tables are mutated.
const CRATE: &str = "ptx-intrinsics";

/// Who answers in seconds.
const QUICK: [Judge; 2] = [Judge::Catalogue, Judge::Device];

/// How many mutants are made at a time.
const AT_A_TIME: usize = 110;

/// Every mutant of these kinds, in the order of the files; those of [`code`] are listed by it.
pub fn every(machine: &Machine, kinds: &[Kind]) -> Result<Vec<Mutant>> {
    let files = sources(&machine.repository, Path::new(CRATE).join("src"))?;
    let read: Vec<String> = files.iter().map(|file| read(machine, file)).collect::<Result<_>>()?;
    let gates: Vec<table::Gate> = read.iter().flat_map(|source| table::gates(source)).collect();
    let mut mutants = Vec::new();
    for (file, source) in files.iter().zip(&read) {
        mutants.extend(table::find(file, source, &gates)?);
    }
    mutants.retain(|mutant| kinds.contains(&mutant.kind));
    Ok(mutants)
}

/// The Rust files of a folder and its folders, named from the root of the repository.
pub(super) fn sources(root: &Path, folder: PathBuf) -> Result<Vec<String>> {
    let mut found = Vec::new();
    let at = root.join(&folder);
    let entries = std::fs::read_dir(&at).map_err(|error| Error::io("read the folder", &at, error))?;
    for entry in entries {
        let entry = entry.map_err(|error| Error::io("read the folder", &at, error))?;
        let path = folder.join(entry.file_name());
        if entry.path().is_dir() {
            found.extend(sources(root, path)?);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path.to_string_lossy().into_owned());
        }
    }
    found.sort();
    Ok(found)
}

fn read(machine: &Machine, file: &str) -> Result<String> {
    let path = machine.repository.join(file);
    std::fs::read_to_string(&path).map_err(|error| Error::io("read", &path, error))
}

/// Where a quick judge notices every word that becomes another.
const NOTICED: [&str; 11] = [
    "catalogue/atomic.rs",
    "emit/access.rs",
    "emit/load.rs",
    "emit/store.rs",
    "instructions/applypriority.rs",
    "instructions/cvta.rs",
    "instructions/discard.rs",
    "instructions/fence.rs",
    "instructions/isspacep.rs",
    "instructions/mapa.rs",
    "isa/prefetch_size.rs",
];

/// Whether a mutant is judged together with others, and by the quick judges: what they do not notice is alive. The placeholder of
/// an axis, `{.L2::prefetch_size}`, is on pages of rustdoc alone, which `search` compares.
pub fn is_together(mutant: &Mutant) -> bool {
    let is_placeholder = mutant.before.contains("{.");
    mutant.sign == Sign::Another && !is_placeholder && NOTICED.iter().any(|file| mutant.file.ends_with(file))
}

/// So many of them, each kind in its share, drawn by the seed.
pub fn sample(mut mutants: Vec<Mutant>, count: usize, seed: u64) -> Vec<Mutant> {
    let mut random = StdRng::seed_from_u64(seed);
    mutants.shuffle(&mut random);
    mutants.truncate(count);
    mutants.sort_by(|a, b| (&a.file, a.range.start, &a.after).cmp(&(&b.file, b.range.start, &b.after)));
    mutants
}

/// What became of all of them.
#[derive(Debug, Default)]
pub struct Report {
    /// Each with its fate, and the reason why it is listed.
    pub fates: Vec<(Mutant, Fate, Option<&'static str>)>,
    /// How many were not reached in time.
    pub open: usize,
    /// How long it took.
    pub seconds: f64,
}

/// What is kept from one run to the next.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Kept {
    fates: BTreeMap<String, Fate>,
    /// Where a word of the source is shown: its file and byte, and the places that failures name.
    covers: BTreeMap<String, BTreeSet<String>>,
    /// What a quick judge did not notice among others.
    #[serde(default)]
    asked: BTreeSet<String>,
}

/// How mutants are judged.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// What an earlier run found counts.
    pub resume: bool,
    /// A few of them, in a copy of their own; nothing is kept of it.
    pub sample: bool,
    /// By the quick judges alone, of which each notices all that [`is_together`].
    pub together: bool,
    /// No more is begun after that time.
    pub limit: Option<Duration>,
    /// In so many copies of the checkout, side by side.
    pub jobs: usize,
}

/// Judges mutants.
pub struct Runner<'a> {
    progress: &'a Progress,
    benches: Vec<Bench>,
    files: Vec<String>,
    kept: Mutex<Kept>,
    kept_in: Option<PathBuf>,
    effort: Effort,
    /// Judges that found nothing wrong with the crate as it is.
    content: Mutex<HashSet<Judge>>,
    until: Option<Instant>,
}

impl<'a> Runner<'a> {
    /// Makes a copy for each job.
    pub fn new(toolchain: &DeviceToolchain, effort: Effort, progress: &'a Progress) -> Result<Runner<'a>> {
        let machine = Machine::current();
        let kept_in = machine.target().join("mutants/fates.json");
        let mut kept = match std::fs::read_to_string(&kept_in) {
            Ok(text) if effort.resume => serde_json::from_str(&text).map_err(|error| {
                Error::new(format_args!("this is not what an earlier run left: {error}"))
                    .at(kept_in.display())
                    .fix("run it without --resume")
            })?,
            _ => Kept::default(),
        };
        // A test may be new that notices them.
        kept.fates.retain(|_, fate| *fate != Fate::Alive);
        let files = sources(&machine.repository, Path::new(CRATE).join("src"))?;
        let gates = gates_in_scope(&files);
        let (name, shared): (_, &[&str]) =
            if effort.sample { ("sample", &["cuda", "device"]) } else { ("tree", &["cuda"]) };
        let benches = (0..effort.jobs).map(|number| {
            let tree = Tree::new(&machine, &format!("{name}-{number}"), &gates, shared)?;
            let toolchain = DeviceToolchain::find_on(&tree.machine(), toolchain.route, progress)?;
            Ok(Bench { tree, toolchain })
        });
        let benches = benches.collect::<Result<_>>()?;
        let until = effort.limit.map(|limit| Instant::now() + limit);
        let kept_in = (!effort.sample).then_some(kept_in);
        let (kept, content) = (Mutex::new(kept), Mutex::default());
        Ok(Runner { progress, benches, files, kept, kept_in, effort, content, until })
    }

    /// Judges all of them.
    pub fn run(self, mutants: &[Mutant]) -> Result<Report> {
        let began = Instant::now();
        // Of what is listed nobody is asked.
        mutants.iter().filter(|mutant| reason(mutant).is_some()).for_each(|mutant| self.set(mutant, Fate::Alive));
        let (of_code, others): (Vec<_>, Vec<_>) = mutants.iter().partition(|mutant| mutant.kind == Kind::Code);
        self.stages(&others)?;
        self.code(of_code)?;
        let kept = self.kept();
        let fates = mutants.iter().filter_map(|mutant| {
            let fate = kept.fates.get(&mutant.key())?.clone();
            let reason = (fate == Fate::Alive).then(|| reason(mutant)).flatten();
            Some((mutant.clone(), fate, reason))
        });
        let fates: Vec<_> = fates.collect();
        Ok(Report { open: mutants.len() - fates.len(), fates, seconds: began.elapsed().as_secs_f64() })
    }

    /// Judges mutants of tables and texts: each is asked as few questions as will do.
    fn stages(&self, mutants: &[&Mutant]) -> Result<()> {
        type Stage = for<'m> fn(&[&'m Mutant], &Kept) -> Vec<Vec<&'m Mutant>>;
        // `ui` takes a minute and more.
        let stages: [(Stage, Option<&[Judge]>); 16] = [
            (words, Some(&QUICK)),
            (emitted, Some(&QUICK)),
            (lost_words, Some(&[Judge::Catalogue])),
            (covered, Some(&QUICK)),
            (other_names, Some(&[Judge::Catalogue])),
            (gates, Some(&QUICK)),
            (names, Some(&QUICK)),
            (calls, None),
            (steps, Some(&[Judge::Test("bounds")])),
            (texts, Some(&[Judge::Test("shared_ptr")])),
            (texts, Some(&[Judge::Test("search")])),
            (texts, Some(&[Judge::Test("ui")])),
            (texts, Some(&[Judge::Test("markers")])),
            (covered, Some(&[Judge::Test("search")])),
            (covered, Some(&[Judge::Test("ui")])),
            // No batch is of one, and what breaks a batch is taken out of it without an answer.
            (alone, if self.effort.together { Some(&QUICK) } else { None }),
        ];
        let quick = |only: &Option<&[Judge]>| *only == Some(&QUICK);
        for (stage, only) in stages.into_iter().filter(|(_, only)| !self.effort.together || quick(only)) {
            let notices =
                |mutant: &Mutant| Judge::of(mutant).iter().any(|judge| only.is_none_or(|only| only.contains(judge)));
            let open = mutants.iter().copied().filter(|mutant| self.is_open(mutant) && notices(mutant));
            let batches = stage(&open.collect::<Vec<_>>(), &self.kept());
            self.all(batches, only)?;
        }
        if self.effort.together && !self.is_late() {
            mutants.iter().filter(|mutant| self.is_open(mutant)).for_each(|mutant| self.set(mutant, Fate::Alive));
        }
        Ok(())
    }

    /// Judges mutants of Rust code.
    fn code(&self, mut mutants: Vec<&Mutant>) -> Result<()> {
        mutants.retain(|mutant| self.is_open(mutant));
        if mutants.is_empty() || self.is_late() {
            return Ok(());
        }
        let _step = self.progress.step(format!("Mutants: {} of Rust code, by cargo-mutants", mutants.len()));
        for (mutant, fate) in code::judge(&Machine::current(), mutants, self.effort.jobs)? {
            self.set(mutant, fate);
        }
        self.keep()
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(|error| error.into_inner())
    }

    fn is_open(&self, mutant: &Mutant) -> bool {
        !self.kept().fates.contains_key(&mutant.key())
    }

    fn is_late(&self) -> bool {
        interrupted() || self.until.is_some_and(|until| Instant::now() > until)
    }

    fn keep(&self) -> Result<()> {
        let Some(kept_in) = &self.kept_in else { return Ok(()) };
        let text = serde_json::to_string(&*self.kept()).map_err(Error::new)?;
        write_whole(kept_in, &(text + "\n"))
    }

    fn set(&self, mutant: &Mutant, fate: Fate) {
        self.kept().fates.insert(mutant.key(), fate);
    }

    /// Judges batches, each on a bench that is free.
    fn all(&self, batches: Vec<Vec<&Mutant>>, only: Option<&[Judge]>) -> Result<()> {
        let count = batches.len();
        let queue = Mutex::new(batches.into_iter().enumerate());
        let next = || queue.lock().unwrap_or_else(|error| error.into_inner()).next();
        std::thread::scope(|scope| {
            let work = |bench: &Bench| {
                while let Some((number, batch)) = next() {
                    if self.is_late() {
                        break;
                    }
                    let name =
                        if let [mutant] = batch[..] { format!(": {mutant}") } else { format!(" of {}", batch.len()) };
                    let step = self.progress.step(format!("Mutants: batch {} of {count}{name}", number + 1));
                    let asked: Vec<String> = batch.iter().map(|mutant| mutant.key()).collect();
                    self.batch(bench, batch, only)?;
                    // Those too that break the build: to find which of them do takes many builds.
                    if only == Some(&QUICK) && !self.is_late() {
                        self.kept().asked.extend(asked);
                    }
                    self.keep()?;
                    drop(step);
                }
                Ok(())
            };
            let threads: Vec<_> = self.benches.iter().map(|bench| scope.spawn(move || work(bench))).collect();
            let ended = threads.into_iter().map(|thread| {
                thread.join().unwrap_or_else(|_| Err(Error::new("a thread that judges mutants panicked")))
            });
            ended.collect::<Result<Vec<()>>>().map(drop)
        })?;
        if interrupted() { Err(Error::new("interrupted")) } else { Ok(()) }
    }

    /// Judges mutants that are made together. Those stay open that no failure names; one that is alone does not.
    fn batch(&self, bench: &Bench, mut batch: Vec<&Mutant>, only: Option<&[Judge]>) -> Result<()> {
        let alone = batch.len() == 1;
        let mut judges: Vec<Judge> = batch.iter().flat_map(|mutant| Judge::of(mutant)).copied().collect();
        let mut seen = HashSet::new();
        judges.retain(|own| only.is_none_or(|only| only.contains(own)) && seen.insert(*own));
        // Which forms have a word is seen in their texts.
        judges.sort_by_key(|judge| !alone && *judge != Judge::Device);
        for judge in judges {
            if batch.is_empty() || self.is_late() {
                break;
            }
            self.is_content(bench, judge)?;
            let made = |(at, mutant): (usize, &&Mutant)| if alone { (*mutant).clone() } else { mutant.marked(at) };
            let made: Vec<Mutant> = batch.iter().enumerate().map(made).collect();
            bench.tree.apply(&self.files, &made)?;
            match self.ask(bench, judge, &batch, &made)? {
                Answer::Failures(failures) => {
                    let named = self.attribute(&batch, &failures);
                    for at in &named {
                        self.set(batch[*at], Fate::Killed(judge.name().to_owned()));
                    }
                    batch = without(batch, &named);
                }
                Answer::Broken(_) if alone => {
                    let fate = if bench.compiles()? { Fate::Killed(judge.name().to_owned()) } else { Fate::Refused };
                    self.set(batch[0], fate);
                    return Ok(());
                }
                Answer::Broken(complaint) => return self.broken(bench, batch, only, &complaint),
            }
        }
        if let ([mutant], None, true, false) = (&batch[..], only, alone, self.is_late()) {
            self.set(mutant, Fate::Alive);
        }
        Ok(())
    }

    /// Takes out the mutants that the compiler complains of, for others to be judged without them; where it names none,
    /// tries halves.
    fn broken(&self, bench: &Bench, batch: Vec<&Mutant>, only: Option<&[Judge]>, complaint: &str) -> Result<()> {
        static WORD: LazyLock<Regex> =
            LazyLock::new(|| Regex::new("`(\\.[^`]+)`: (?:.* no such |the prefetch sizes are )").expect("valid"));
        static REFUSED: LazyLock<Regex> =
            LazyLock::new(|| Regex::new("panicked: `[^`]+`: `(\\.[^`]+)`: ").expect("the pattern is valid"));
        static PLACE: LazyLock<Regex> =
            LazyLock::new(|| Regex::new(r"--> \S*?(ptx-intrinsics/\S+?\.rs):(\d+)").expect("the pattern is valid"));
        let complaint = console::strip_ansi_codes(complaint);
        // A word that `ptx!` knows no more, or never knew.
        let unknown: BTreeSet<&str> =
            WORD.captures_iter(&complaint).filter_map(|word| Some(word.get(1)?.as_str())).collect();
        let is_unknown = |at: usize| {
            [&batch[at].gone, &batch[at].marked(at).with].iter().any(|word| unknown.contains(word.as_str()))
        };
        let lost: Vec<usize> =
            (0..batch.len()).filter(|&at| batch[at].sign == Sign::Another && is_unknown(at)).collect();
        if !lost.is_empty() {
            for &at in &lost {
                if lost.iter().filter(|other| batch[**other].gone == batch[at].gone).count() == 1 {
                    self.set(batch[at], Fate::Killed(Judge::Device.name().to_owned()));
                }
            }
            return self.batch(bench, without(batch, &lost.into_iter().collect()), only);
        }
        // A word that it refuses for another reason, which may be another mutant's.
        let refused: BTreeSet<&str> = REFUSED
            .captures_iter(&complaint)
            .flat_map(|words| table::WORD.find_iter(words.get(1).map_or("", |words| words.as_str())))
            .map(|word| word.as_str())
            .collect();
        let lost: BTreeSet<usize> = (0..batch.len()).filter(|&at| refused.contains(batch[at].gone.as_str())).collect();
        if !lost.is_empty() {
            return self.batch(bench, without(batch, &lost), only);
        }
        let places: BTreeSet<(String, usize)> = PLACE
            .captures_iter(&complaint)
            .filter_map(|place| Some((place[1].to_owned(), place[2].parse().ok()?)))
            .collect();
        let is_there = |mutant: &Mutant| places.contains(&(mutant.file.clone(), mutant.line));
        let named: BTreeSet<usize> = (0..batch.len()).filter(|&at| is_there(batch[at])).collect();
        if !named.is_empty() && named.len() < batch.len() {
            return self.batch(bench, without(batch, &named), only);
        }
        let (one, other) = batch.split_at(batch.len() / 2);
        for half in [one, other].into_iter().filter(|half| half.len() > 1) {
            self.batch(bench, half.to_vec(), only)?;
        }
        Ok(())
    }

    /// Sees once that a judge has nothing against the crate as it is.
    fn is_content(&self, bench: &Bench, judge: Judge) -> Result<()> {
        // Beside a sample, the tests run anyway.
        if self.effort.together || self.effort.sample && matches!(judge, Judge::Test(_)) {
            return Ok(());
        }
        let mut content = self.content.lock().unwrap_or_else(|error| error.into_inner());
        if content.contains(&judge) {
            return Ok(());
        }
        bench.tree.apply(&self.files, &[])?;
        let every: Vec<usize> = (0..CASES.len()).collect();
        match bench.ask(judge, &[], &every)? {
            Answer::Failures(failures) if failures.is_empty() => drop(content.insert(judge)),
            answer => {
                return Err(Error::new(format_args!("{} complains of the crate as it is", judge.name()))
                    .because(format!("{answer:?}").chars().take(4000).collect::<String>())
                    .fix("run `cargo xtask test`, which has to pass before mutants are made"));
            }
        }
        Ok(())
    }

    /// What has to be compiled, one after the other until something is noticed. Of one that is alone: what has its word,
    /// then everything. Of others: where their words stand, if that is known of all, else everything.
    fn cases(&self, batch: &[&Mutant]) -> Vec<Vec<usize>> {
        let every: Vec<usize> = (0..CASES.len()).collect();
        if let [mutant] = batch {
            let has_it = |at: &usize| CASES[*at].expected().iter().any(|line| line.contains(mutant.gone.as_str()));
            let some: Vec<usize> = every.iter().copied().filter(has_it).collect();
            return if some.is_empty() || mutant.kind != Kind::Text { vec![every] } else { vec![some, every] };
        }
        let kept = self.kept();
        let known = |mutant: &&Mutant| -> Option<BTreeSet<usize>> {
            let cases: BTreeSet<usize> =
                cover(mutant, &kept)?.iter().filter_map(|place| device::case_of(place)).collect();
            (!cases.is_empty()).then_some(cases)
        };
        let known: Option<Vec<BTreeSet<usize>>> = batch.iter().map(known).collect();
        let some = |known: Vec<_>| known.into_iter().flatten().collect::<BTreeSet<usize>>().into_iter().collect();
        vec![known.map_or(every, some)]
    }

    /// Asks a judge about what is made in the tree.
    fn ask(&self, bench: &Bench, judge: Judge, batch: &[&Mutant], made: &[Mutant]) -> Result<Answer> {
        let mut answer = Answer::Failures(Vec::new());
        for cases in if judge == Judge::Device { self.cases(batch) } else { vec![Vec::new()] } {
            answer = bench.ask(judge, made, &cases)?;
            if !matches!(&answer, Answer::Failures(failures) if failures.is_empty()) {
                break;
            }
        }
        Ok(answer)
    }

    /// The mutants that failures name. One that is alone is named by any.
    fn attribute(&self, batch: &[&Mutant], failures: &[Failure]) -> BTreeSet<usize> {
        if batch.len() == 1 {
            return if failures.is_empty() { BTreeSet::new() } else { BTreeSet::from([0]) };
        }
        let mut kept = self.kept();
        let mut named = BTreeSet::new();
        for failure in failures {
            for at in marks(&failure.found) {
                if batch.get(at).is_none_or(|own| own.sign != Sign::Another) {
                    continue;
                }
                named.insert(at);
                kept.covers.entry(place(batch[at])).or_default().extend(failure.place.clone());
            }
        }
        for (at, mutant) in batch.iter().enumerate() {
            let own = cover(mutant, &kept);
            let is_lost = || failures.iter().any(|failure| is_lost_to(mutant, batch, failure));
            if failures.iter().any(|failure| shows(mutant, own, failure)) || is_lost() {
                named.insert(at);
            }
        }
        named
    }
}

/// Whether a failure can be this mutant's alone, of those that are made with it.
fn shows(mutant: &Mutant, cover: Option<&BTreeSet<String>>, failure: &Failure) -> bool {
    let by_test = || mutant.steps.iter().any(|step| is_refused_or_taken(*step, failure));
    match &mutant.sign {
        Sign::Another | Sign::Alone => false,
        Sign::Missing(word) => {
            let covered = failure.place.as_ref().is_some_and(|place| cover.is_some_and(|cover| cover.contains(place)));
            covered && !failure.found.is_empty() && count(&failure.found, word) < count(&failure.expected, word)
        }
        Sign::Step(axis, from, to) => {
            failure.steps.iter().any(|(own, was, is)| {
                let by_catalogue = if to < from { was == from && is < was } else { is == to && was < is };
                own == axis && *was.max(is) != BEYOND && by_catalogue
            }) || by_test()
        }
        Sign::Gate(was, is) => failure.gates[0].contains(was) && failure.gates[1].contains(is) || by_test(),
        Sign::Calls(names) => names.iter().any(|name| is_call(&failure.form, name)),
        Sign::Said(words) => words.iter().all(|word| failure.form.contains(word)),
        Sign::Lanes(of, lanes) => {
            let wrong: BTreeSet<usize> = failure.found.split(' ').filter_map(|lane| lane.parse().ok()).collect();
            failure.place.as_ref() == Some(of) && lanes.iter().any(|lane| wrong.contains(lane))
        }
        Sign::Names(word, name) => {
            let is_own = name.as_ref().is_none_or(|name| *name == failure.form);
            is_own && failure.place.as_deref() == Some(&catalogue::names_of(word))
        }
    }
}

/// Whether a form is lost that has the word which this mutant takes away, and none that another one of the batch takes.
fn is_lost_to(mutant: &Mutant, batch: &[&Mutant], failure: &Failure) -> bool {
    let Sign::Missing(word) = &mutant.sign else { return false };
    let form = failure.expected.split(' ').next().unwrap_or_default();
    let is_lost = failure.place.is_none() && failure.found.is_empty() && count(form, word) > 0;
    is_lost && batch.iter().all(|other| other.sign == mutant.sign || count(form, &other.gone) == 0)
}

/// Whether a test says that something is taken too early, or refused where it has to be, and such a step is the cause.
fn is_refused_or_taken((axis, from, to): Step, failure: &Failure) -> bool {
    failure.steps.iter().any(|&(own, was, is)| {
        let at = if to < from { (was == BEYOND).then_some(is) } else { (is == BEYOND).then_some(was) };
        own == axis && at.is_some_and(|at| between(from, to).contains(&at))
    })
}

fn between(from: u32, to: u32) -> Range<u32> {
    from.min(to)..from.max(to)
}

fn count(text: &str, word: &str) -> usize {
    table::WORD.find_iter(text).filter(|found| found.as_str() == word).count()
}

/// Whether an expression is a call of that free function.
fn is_call(rust: &str, name: &str) -> bool {
    rust.trim_start_matches("CachePolicy::")
        .strip_prefix(name)
        .is_some_and(|rest| rest.starts_with('(') || rest.starts_with("::<"))
}

fn place(mutant: &Mutant) -> String {
    format!("{}:{}", mutant.file, mutant.range.start)
}

/// Where the word is shown that a mutant takes away.
fn cover<'k>(mutant: &Mutant, kept: &'k Kept) -> Option<&'k BTreeSet<String>> {
    let takes = matches!(mutant.sign, Sign::Missing(_));
    kept.covers.get(&place(mutant)).filter(|cover| takes && !cover.is_empty())
}

/// Words that become others, in the order of the files: which of them breaks a build is among its neighbours.
fn texts<'m>(open: &[&'m Mutant], _: &Kept) -> Vec<Vec<&'m Mutant>> {
    let texts: Vec<&Mutant> = open.iter().copied().filter(|mutant| mutant.sign == Sign::Another).collect();
    texts.chunks(AT_A_TIME).filter(|batch| batch.len() > 1).map(<[&Mutant]>::to_vec).collect()
}

/// Words of the vocabulary that become others, and those that are emitted: without a word `ptx!` does not compile, so that
/// they are not made together.
fn words<'m>(open: &[&'m Mutant], kept: &Kept) -> Vec<Vec<&'m Mutant>> {
    new_texts_of(open, kept, Mutant::is_of_vocabulary)
}

/// Words of the vocabulary that are taken away, each once.
fn lost_words<'m>(open: &[&'m Mutant], _: &Kept) -> Vec<Vec<&'m Mutant>> {
    let lost = |mutant: &&Mutant| mutant.is_of_vocabulary() && matches!(mutant.sign, Sign::Missing(_));
    several(batches(open.iter().copied().filter(lost), |a, b| a.sign != b.sign))
}

/// Words that are emitted and become others.
fn emitted<'m>(open: &[&'m Mutant], kept: &Kept) -> Vec<Vec<&'m Mutant>> {
    new_texts_of(open, kept, |mutant| !mutant.is_of_vocabulary())
}

/// Those that the quick judges have not been asked about.
fn new_texts_of<'m>(open: &[&'m Mutant], kept: &Kept, is_wanted: fn(&Mutant) -> bool) -> Vec<Vec<&'m Mutant>> {
    let is_new = |mutant: &&Mutant| is_wanted(mutant) && !kept.asked.contains(&mutant.key());
    let new: Vec<&Mutant> = open.iter().copied().filter(is_new).collect();
    texts(&new, kept)
}

/// Words that are taken away where it is known which forms have them.
fn covered<'m>(open: &[&'m Mutant], kept: &Kept) -> Vec<Vec<&'m Mutant>> {
    let open = open.iter().copied().filter(|mutant| cover(mutant, kept).is_some());
    batches(open, |a, b| match (&a.sign, &b.sign, cover(a, kept), cover(b, kept)) {
        (Sign::Missing(one), Sign::Missing(other), Some(a), Some(b)) => one != other || a.is_disjoint(b),
        _ => false,
    })
}

/// Gates, no two of which make the same step.
fn gates<'m>(open: &[&'m Mutant], _: &Kept) -> Vec<Vec<&'m Mutant>> {
    several(batches(open.iter().copied().filter(|mutant| matches!(mutant.sign, Sign::Step(..))), |a, b| {
        a.sign != b.sign
    }))
}

/// Gates that are others by name, no two the same by the same.
fn names<'m>(open: &[&'m Mutant], _: &Kept) -> Vec<Vec<&'m Mutant>> {
    several(batches(open.iter().copied().filter(|mutant| matches!(mutant.sign, Sign::Gate(..))), |a, b| {
        a.sign != b.sign
    }))
}

/// Gates, operands and effects of different functions, registers of different lanes.
fn calls<'m>(open: &[&'m Mutant], _: &Kept) -> Vec<Vec<&'m Mutant>> {
    let told = |mutant: &&Mutant| matches!(mutant.sign, Sign::Calls(_) | Sign::Said(_) | Sign::Lanes(..));
    several(batches(open.iter().copied().filter(told), |a, b| {
        let apart = match (&a.sign, &b.sign) {
            (Sign::Calls(one), Sign::Calls(other)) => !one.iter().any(|name| other.contains(name)),
            (Sign::Said(one), Sign::Said(other)) => one != other,
            (Sign::Lanes(one, lanes), Sign::Lanes(other, others)) => {
                one != other || !lanes.iter().any(|lane| others.contains(lane))
            }
            _ => false,
        };
        a.kind == b.kind && apart
    }))
}

/// Other names, of different words or different ones of a word.
fn other_names<'m>(open: &[&'m Mutant], _: &Kept) -> Vec<Vec<&'m Mutant>> {
    let names = open.iter().copied().filter(|mutant| matches!(mutant.sign, Sign::Names(..)));
    batches(names, |a, b| match (&a.sign, &b.sign) {
        (Sign::Names(a, one), Sign::Names(b, other)) => a != b || one.is_some() && other.is_some() && one != other,
        _ => false,
    })
}

/// Gates of which no test says the same.
fn steps<'m>(open: &[&'m Mutant], _: &Kept) -> Vec<Vec<&'m Mutant>> {
    let gates = open.iter().copied().filter(|mutant| !mutant.steps.is_empty());
    let alike = |a: &Step, b: &Step| {
        let (one, other) = (between(a.1, a.2), between(b.1, b.2));
        a.0 == b.0 && (a.1 < a.2) == (b.1 < b.2) && one.start < other.end && other.start < one.end
    };
    several(batches(gates, |a, b| !a.steps.iter().any(|step| b.steps.iter().any(|other| alike(step, other)))))
}

fn several(batches: Vec<Vec<&Mutant>>) -> Vec<Vec<&Mutant>> {
    batches.into_iter().filter(|batch| batch.len() > 1).collect()
}

/// Each by itself.
fn alone<'m>(open: &[&'m Mutant], _: &Kept) -> Vec<Vec<&'m Mutant>> {
    let mut open = open.to_vec();
    // Of the kinds that are always alone there are few.
    open.sort_by_key(|mutant| {
        [Kind::Register, Kind::Operand, Kind::Effect, Kind::Gate, Kind::Text]
            .iter()
            .position(|kind| *kind == mutant.kind)
    });
    open.into_iter().map(|mutant| vec![mutant]).collect()
}

/// Mutants that cannot be taken for each other.
fn batches<'m>(
    mutants: impl Iterator<Item = &'m Mutant>,
    apart: impl Fn(&Mutant, &Mutant) -> bool,
) -> Vec<Vec<&'m Mutant>> {
    let overlap = |a: &Mutant, b: &Mutant| {
        a.file == b.file && a.range.start < b.range.end.max(b.range.start + 1) && b.range.start < a.range.end
    };
    let mut batches: Vec<Vec<&Mutant>> = Vec::new();
    for mutant in mutants {
        let fits = |batch: &&mut Vec<&Mutant>| {
            batch.len() < AT_A_TIME && batch.iter().all(|other| apart(mutant, other) && !overlap(mutant, other))
        };
        match batches.iter_mut().find(fits) {
            Some(batch) => batch.push(mutant),
            None => batches.push(vec![mutant]),
        }
    }
    batches
}

fn without<'m>(batch: Vec<&'m Mutant>, gone: &BTreeSet<usize>) -> Vec<&'m Mutant> {
    batch.into_iter().enumerate().filter(|(at, _)| !gone.contains(at)).map(|(_, mutant)| mutant).collect()
}

/// What brings the gates into scope, wherever their modules are: each of these, and a line for the other files.
fn gates_in_scope(files: &[String]) -> Vec<(String, String)> {
    let module = |file: &String| {
        let path = file.strip_suffix(".rs")?.split_once("src/")?.1;
        let is_theirs = ["target", "gate"].contains(&path.rsplit('/').next()?);
        let line = format!("#[allow(unused_imports)]\nuse crate::{}::*;\n", path.replace('/', "::"));
        is_theirs.then(|| (file.clone(), line))
    };
    files.iter().filter_map(module).collect()
}

/// Why a mutant changes nothing, if it is listed.
pub fn reason(mutant: &Mutant) -> Option<&'static str> {
    let told = mutant.told();
    listed().into_iter().find(|(_, pattern)| pattern.is_match(&told)).map(|(reason, _)| reason)
}

/// The reasons, and what they are about: a reason begins a line, its patterns are indented.
fn listed() -> Vec<(&'static str, &'static Regex)> {
    static ALL: LazyLock<Vec<(&'static str, Regex)>> = LazyLock::new(|| {
        let mut reason = "";
        let mut all = Vec::new();
        for line in LISTED.lines().filter(|line| !line.trim().is_empty()) {
            match line.strip_prefix("  ") {
                Some(pattern) => all.push((reason, Regex::new(pattern).expect("the pattern is valid"))),
                None => reason = line,
            }
        }
        all
    });
    ALL.iter().map(|(reason, pattern)| (*reason, pattern)).collect()
}

impl Report {
    /// The numbers, and the mutants that are alive.
    pub fn table(&self) -> String {
        let mut table = String::new();
        let mut judges: BTreeMap<&str, usize> = BTreeMap::new();
        for (_, fate, _) in &self.fates {
            if let Fate::Killed(judge) = fate {
                *judges.entry(judge).or_default() += 1;
            }
        }
        for kind in Kind::ALL {
            let count = |wanted: fn(&Fate, Option<&str>) -> bool| {
                self.fates.iter().filter(|(mutant, fate, reason)| mutant.kind == kind && wanted(fate, *reason)).count()
            };
            let [killed, listed, alive, refused] = [
                count(|fate, _| matches!(fate, Fate::Killed(_))),
                count(|fate, reason| *fate == Fate::Alive && reason.is_some()),
                count(|fate, reason| *fate == Fate::Alive && reason.is_none()),
                count(|fate, _| *fate == Fate::Refused),
            ];
            if killed + listed + alive + refused > 0 {
                table += &format!(
                    "{:>9}  {}: {killed} killed, {listed} listed, {alive} alive; {refused} more do not compile\n",
                    killed + listed + alive,
                    kind.name()
                );
            }
        }
        for (judge, count) in judges {
            table += &format!("{count:>9}  killed by {judge}\n");
        }
        table += &format!("{:>9.0}  seconds\n", self.seconds);
        if self.open > 0 {
            table += &format!("{:>9}  not reached in time: `--resume` goes on with them\n", self.open);
        }
        for (mutant, ..) in self.alive() {
            table += &format!("alive: {mutant}\n");
        }
        table
    }

    /// Those that no test noticed, and for which no reason is listed.
    pub fn alive(&self) -> impl Iterator<Item = &(Mutant, Fate, Option<&'static str>)> {
        self.fates.iter().filter(|(_, fate, reason)| *fate == Fate::Alive && reason.is_none())
    }

    /// `M mutants: K killed, L listed, A alive`.
    pub fn last_line(&self) -> String {
        let count = |wanted: fn(&Fate, Option<&str>) -> bool| {
            self.fates.iter().filter(|(_, fate, reason)| wanted(fate, *reason)).count()
        };
        let killed = count(|fate, _| matches!(fate, Fate::Killed(_)));
        let listed = count(|fate, reason| *fate == Fate::Alive && reason.is_some());
        let alive = count(|fate, reason| *fate == Fate::Alive && reason.is_none());
        format!("{} mutants: {killed} killed, {listed} listed, {alive} alive", killed + listed + alive)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many there are at least.
    const MUTANTS: usize = 2_550;

    #[test]
    fn each_reason_is_about_some_mutant_and_about_few() {
        let machine = Machine::current();
        let mut mutants = every(&machine, &Kind::ALL).unwrap();
        assert!(mutants.len() >= MUTANTS, "{}", mutants.len());
        // Which mutants of Rust code there are, cargo-mutants alone knows.
        let knows_code = code::is_installed(&machine);
        if knows_code {
            mutants.extend(code::every(&machine).unwrap());
        }
        let keys: BTreeSet<String> = mutants.iter().map(Mutant::key).collect();
        assert_eq!(keys.len(), mutants.len(), "two mutants share their fate");
        let told: Vec<String> = mutants.iter().map(Mutant::told).collect();
        for (reason, pattern) in listed().into_iter().filter(|(_, of)| knows_code || !of.as_str().contains(" code in "))
        {
            assert!(told.iter().any(|told| pattern.is_match(told)), "idle: {reason}: {pattern}");
        }
        let listed = mutants.iter().filter(|mutant| reason(mutant).is_some()).count();
        assert!(listed < 60, "{listed} mutants are listed");
        let adds = |mutant: &&Mutant| {
            ["nomem", "readonly"].iter().any(|word| mutant.after.contains(word) && !mutant.before.contains(word))
        };
        let excused = mutants.iter().filter(adds).filter(|mutant| reason(mutant).is_some());
        assert_eq!(excused.map(Mutant::told).collect::<Vec<_>>(), [""; 0]);
    }

    fn mutant(sign: Sign, at: usize) -> Mutant {
        Mutant {
            kind: Kind::Text,
            file: "f.rs".to_owned(),
            line: at,
            range: at * 10..at * 10 + 1,
            gone: "a".to_owned(),
            with: "b".to_owned(),
            before: "a".to_owned(),
            after: "b".to_owned(),
            sign,
            steps: Vec::new(),
            owner: "rows".to_owned(),
        }
    }

    #[test]
    fn a_failure_is_its_own_mutants() {
        let missing = |word: &str| mutant(Sign::Missing(word.to_owned()), 1);
        let place = |number: usize| format!("case {number}");
        let cover = BTreeSet::from([place(7)]);
        let failure =
            |expected, found, case| Failure { place: Some(place(case)), ..Failure::new("f()", expected, found) };
        let is = |word, expected, found, case| shows(&missing(word), Some(&cover), &failure(expected, found, case));
        assert!(is(".proxy", "fence.proxy.async", "fence.async", 7));
        assert!(!is(".proxy", "fence.proxy.async", "fence.async", 8));
        assert!(!is(".proxy", "fence.proxy.async", "", 7));
        assert!(!is(".shared", "ld.shared::cta.u32", "ld.u32", 7));
        assert!(is(".u64", "cvta.u64 ld.u64", "cvta.u64 ld", 7));
        let names = |name: Option<&str>| mutant(Sign::Names(".s8".to_owned(), name.map(str::to_owned)), 1);
        let of = |word: &str| Failure { place: Some(catalogue::names_of(word)), ..Failure::new(".i8", word, "") };
        assert!(shows(&names(None), None, &of(".s8")) && !shows(&names(None), None, &of(".s32")));
        assert!(shows(&names(Some(".i8")), None, &of(".s8")) && !shows(&names(Some(".int8")), None, &of(".s8")));
        let lanes = |one, other| mutant(Sign::Lanes("V4 word".to_owned(), [one, other]), 1);
        let of = |shape: &str| Failure { place: Some(shape.to_owned()), ..Failure::new(shape, "", "1 2") };
        assert!(shows(&lanes(0, 1), None, &of("V4 word")) && !shows(&lanes(0, 3), None, &of("V4 word")));
        assert!(!shows(&lanes(0, 1), None, &of("V4 long")));
        assert!(is_call("mapa(p)", "mapa") && is_call("mapa::<Cta>(p)", "mapa") && !is_call("mapa_shared(p)", "mapa"));
        assert!(is_call("CachePolicy::range(p)", "range"));
    }

    /// A gate that becomes another one.
    fn gate(sign: Sign, step: Step, at: usize) -> Mutant {
        Mutant { steps: vec![step], ..mutant(sign, at) }
    }

    #[test]
    fn a_failure_is_its_own_gates() {
        let step = |from, to| Failure { steps: vec![("sm_", from, to)], ..Failure::default() };
        let of = |step: Step| gate(Sign::Step(step.0, step.1, step.2), step, 1);
        let [lower, higher] = [("sm_", 80, 75), ("sm_", 80, 90)].map(of);
        let is = |mutant: &Mutant, from, to| shows(mutant, None, &step(from, to));
        assert!(is(&lower, 80, 70) && is(&lower, BEYOND, 75) && is(&higher, 75, 90) && is(&higher, 80, BEYOND));
        assert!(!is(&lower, 90, 75) && !is(&lower, BEYOND, 70) && !is(&lower, 75, BEYOND));
        assert!(!is(&higher, 90, 80) && !is(&higher, 80, 100) && !is(&higher, BEYOND, 80) && !is(&higher, 75, BEYOND));
        assert!(!shows(&of(("ptx", 80, 75)), None, &step(80, 75)));
        let named = |was: &str, is: &str, step| gate(Sign::Gate(was.to_owned(), is.to_owned()), step, 1);
        let moved =
            Failure { gates: ["WAS", "IS"].map(|flag| BTreeSet::from([flag.to_owned()])), ..Failure::default() };
        let far = ("sm_", 90, 70);
        assert!(shows(&named("WAS", "IS", far), None, &moved));
        assert!(!shows(&named("WAS", "OTHER", far), None, &moved) && !shows(&named("OTHER", "IS", far), None, &moved));
        assert!(is(&named("WAS", "IS", far), BEYOND, 80) && is(&named("WAS", "IS", far), BEYOND, 70));
        assert!(!is(&named("WAS", "IS", far), BEYOND, 90) && !is(&named("WAS", "IS", far), 90, BEYOND));
        let of = |(at, (from, to))| gate(Sign::Gate("WAS".to_owned(), "IS".to_owned()), ("sm_", from, to), at);
        let all: Vec<Mutant> = [(90, 70), (80, 75), (75, 80), (100, 90)].into_iter().enumerate().map(of).collect();
        let open: Vec<&Mutant> = all.iter().collect();
        assert_eq!(steps(&open, &Kept::default()), [vec![open[0], open[2], open[3]]]);
    }

    #[test]
    fn what_is_made_together_can_be_told_apart() {
        let [a, b] = [mutant(Sign::Step("sm_", 80, 75), 1), mutant(Sign::Step("sm_", 80, 90), 2)];
        let [c, d] = [mutant(Sign::Step("sm_", 80, 75), 3), mutant(Sign::Step("sm_", 90, 80), 2)];
        let open = [&a, &b, &c, &d];
        let made = gates(&open, &Kept::default());
        assert_eq!(made, [vec![&a, &b], vec![&c, &d]]);
        let marked = Mutant { with: "bg4g".to_owned(), ..mutant(Sign::Another, 1) };
        assert_eq!(mutant(Sign::Another, 1).marked(4), marked);
        for mutant in every(&Machine::current(), &[Kind::Text]).unwrap().iter().filter(|one| one.sign == Sign::Another)
        {
            assert_eq!(marks(&mutant.marked(4).with).collect::<Vec<_>>(), [4], "{mutant}");
        }
    }
}
