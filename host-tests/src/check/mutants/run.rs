//! Runs mutants: many at once if the failure identifies the mutant, otherwise alone.

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use rand::SeedableRng;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use regex::Regex;

use super::answer::{Answer, Failure};
use super::batches::{
    Kept, alone, calls, cover, covered, emitted, gates, lost_words, names, other_names, place, steps, texts, without,
    words,
};
use super::judge::{Bench, CASES, Judge};
use super::report::{Report, reason};
use super::shows::{is_lost_to, shows};
use super::tree::Tree;
use super::{Fate, Kind, Mutant, Sign, code, device, marks, table};
use crate::tools::command::{Machine, interrupted};
use crate::tools::error::{Error, Result};
use crate::tools::files::write_whole;
use crate::tools::progress::Progress;
use crate::tools::toolchain::DeviceToolchain;

/// The crate whose tables are mutated.
const CRATE: &str = "ptx-intrinsics";

/// Who answers in seconds.
const QUICK: [Judge; 2] = [Judge::Catalogue, Judge::Device];

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

#[cfg(test)]
mod tests;
