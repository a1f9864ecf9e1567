//! Runs mutants: many at once where a failure tells whose it is, alone where it does not.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};
use std::time::Instant;

use ptx_intrinsics::catalogue::Form;
use rand::SeedableRng;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use regex::Regex;

use super::tree::Tree;
use super::{Fate, Kind, Mutant, Sign, catalogue, device, has_word, table};
use crate::command::{Machine, REPOSITORY_VARIABLE, interrupted};
use crate::error::{Error, Result};
use crate::files::write_whole;
use crate::forms_check;
use crate::progress::Progress;
use crate::toolchain::DeviceToolchain;

/// Mutants that change nothing, each with the reason.
const LISTED: &str = include_str!("equivalent.txt");

/// The crate whose tables are mutated.
const CRATE: &str = "ptx-intrinsics";

/// How many mutants are made at a time: at first, and those that no failure names.
const AT_A_TIME: [usize; 3] = [64, 8, 1];

/// Every mutant of these kinds, in the order of the files.
pub fn every(machine: &Machine, kinds: &[Kind]) -> Result<Vec<Mutant>> {
    let mut mutants = Vec::new();
    for file in sources(&machine.repository, Path::new(CRATE).join("src"))? {
        mutants.extend(table::find(&file, &read(machine, &file)?)?);
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
    /// How long it took.
    pub seconds: f64,
}

/// Judges mutants.
pub struct Runner<'a> {
    progress: &'a Progress,
    toolchain: DeviceToolchain,
    tree: Tree,
    forms: Vec<Arc<Form>>,
    files: Vec<String>,
    fates: BTreeMap<String, Fate>,
    kept: PathBuf,
}

impl<'a> Runner<'a> {
    /// Makes the copy. What an earlier run found is kept where that is wished.
    pub fn new(toolchain: &DeviceToolchain, resume: bool, progress: &'a Progress) -> Result<Runner<'a>> {
        let machine = Machine::current();
        let kept = machine.target().join("mutants/fates.json");
        let fates = match std::fs::read_to_string(&kept) {
            Ok(text) if resume => serde_json::from_str(&text).map_err(|error| {
                Error::new(format_args!("this is not what an earlier run left: {error}"))
                    .at(kept.display())
                    .fix("run it without --resume")
            })?,
            _ => BTreeMap::new(),
        };
        let tree = Tree::new(&machine, "tree")?;
        let toolchain = DeviceToolchain::find_on(&tree.machine(), toolchain.route, progress)?;
        let files = sources(&machine.repository, Path::new(CRATE).join("src"))?;
        Ok(Runner { progress, toolchain, tree, forms: forms_check::every_form(), files, fates, kept })
    }

    /// Judges all of them.
    pub fn run(mut self, mutants: &[Mutant]) -> Result<Report> {
        let began = Instant::now();
        self.fates.retain(|_, fate| *fate != Fate::Alive);
        let open = mutants.iter().filter(|mutant| !self.fates.contains_key(&mutant.to_string())).collect();
        self.tables(open)?;
        let fates = mutants.iter().map(|mutant| {
            let fate = self.fates.get(&mutant.to_string()).cloned().unwrap_or(Fate::Alive);
            let reason = (fate == Fate::Alive).then(|| reason(mutant)).flatten();
            (mutant.clone(), fate, reason)
        });
        Ok(Report { fates: fates.collect(), seconds: began.elapsed().as_secs_f64() })
    }

    fn keep(&self) -> Result<()> {
        let text = serde_json::to_string_pretty(&self.fates).map_err(Error::new)?;
        write_whole(&self.kept, &(text + "\n"))
    }

    fn set(&mut self, mutant: &Mutant, fate: Fate) {
        self.fates.insert(mutant.to_string(), fate);
    }

    /// Judges mutants of tables: many at a time, then those that no failure names a few at a time, then alone.
    fn tables(&mut self, mut open: Vec<&Mutant>) -> Result<()> {
        for at_a_time in AT_A_TIME {
            let batches = batches(&open, at_a_time);
            let count = batches.len();
            let mut left = Vec::new();
            for (number, batch) in batches.into_iter().enumerate() {
                let step =
                    self.progress.step(format!("Mutants, up to {at_a_time} at a time: {} of {count}", number + 1));
                left.extend(self.batch(batch)?);
                self.keep()?;
                drop(step);
            }
            open = left;
        }
        for mutant in open {
            self.set(mutant, Fate::Alive);
        }
        Ok(())
    }

    /// Judges mutants that are made together, and gives those that may have been noticed, but by no failure of their own.
    fn batch<'m>(&mut self, mut batch: Vec<&'m Mutant>) -> Result<Vec<&'m Mutant>> {
        let (mut noticed, mut left) = (false, Vec::new());
        for judge in judges(&batch) {
            while !batch.is_empty() {
                if interrupted() {
                    return Err(Error::new("interrupted"));
                }
                self.tree.apply(&self.files, &batch)?;
                match self.ask(judge, &batch)? {
                    Asked::Failures(failures) => {
                        let named = attribute(&batch, &failures);
                        noticed |= !failures.is_empty();
                        for at in &named {
                            self.set(batch[*at], Fate::Killed(judge.name().to_owned()));
                        }
                        batch = without(batch, &named);
                        break;
                    }
                    Asked::Refused(complaint) => batch = self.refused(batch, &complaint, &mut left)?,
                }
            }
        }
        if noticed {
            left.extend(batch);
            return Ok(left);
        }
        for mutant in batch {
            self.set(mutant, Fate::Alive);
        }
        Ok(left)
    }

    /// Takes out the mutants that the compiler complains of; where it names none, tries halves.
    fn refused<'m>(
        &mut self,
        batch: Vec<&'m Mutant>,
        complaint: &str,
        left: &mut Vec<&'m Mutant>,
    ) -> Result<Vec<&'m Mutant>> {
        static PLACE: LazyLock<Regex> =
            LazyLock::new(|| Regex::new(r"(ptx-intrinsics/\S+?\.rs):(\d+)").expect("the pattern is valid"));
        if let [mutant] = batch[..] {
            self.set(mutant, Fate::Refused);
            return Ok(Vec::new());
        }
        let mut refused = BTreeSet::new();
        let mut unsure = BTreeSet::new();
        for error in complaint.split("\nerror") {
            let places: BTreeSet<(&str, usize)> = PLACE
                .captures_iter(error)
                .filter_map(|place| Some((place.get(1)?.as_str(), place[2].parse().ok()?)))
                .collect();
            let named = (0..batch.len()).filter(|&at| places.contains(&(batch[at].file.as_str(), batch[at].line)));
            match named.collect::<Vec<_>>()[..] {
                [only] => drop(refused.insert(only)),
                ref several => unsure.extend(several.iter().copied()),
            }
        }
        for at in &refused {
            self.set(batch[*at], Fate::Refused);
        }
        if !refused.is_empty() {
            return Ok(without(batch, &refused));
        }
        if unsure.is_empty() {
            unsure = (0..batch.len() / 2).collect();
            let half = (0..batch.len()).filter(|at| unsure.contains(at)).map(|at| batch[at]).collect();
            left.extend(self.batch(half)?);
            return Ok(without(batch, &unsure));
        }
        left.extend(unsure.iter().map(|at| batch[*at]));
        Ok(without(batch, &unsure))
    }

    fn ask(&self, judge: Judge, batch: &[&Mutant]) -> Result<Asked> {
        match judge {
            Judge::Catalogue => self.ask_catalogue(),
            Judge::Device => self.ask_device(batch),
            Judge::Test(name) => self.ask_test(name),
        }
    }

    fn ask_catalogue(&self) -> Result<Asked> {
        match catalogue::differences(&self.tree, &self.toolchain)? {
            Ok(differences) => Ok(Asked::Failures(differences.forms)),
            Err(finished) => Ok(Asked::Refused(finished.stderr)),
        }
    }

    /// Every line that a failing test prints may name a mutant.
    fn ask_test(&self, name: &str) -> Result<Asked> {
        let machine = Machine::current();
        let cargo = machine.command(machine.var("CARGO").unwrap_or("cargo".as_ref())).dir(&machine.repository);
        let cargo = cargo.args(["test", "--quiet", "--package", "host-tests", "--test", name]);
        let finished = cargo.env(REPOSITORY_VARIABLE, &self.tree.root).finish()?;
        if finished.status.success() {
            return Ok(Asked::Failures(Vec::new()));
        }
        let said = finished.stdout + &finished.stderr;
        Ok(Asked::Failures(said.lines().map(|line| (line.to_owned(), String::new(), String::new())).collect()))
    }

    fn ask_device(&self, batch: &[&Mutant]) -> Result<Asked> {
        let files: BTreeSet<&str> = batch.iter().map(|mutant| mutant.file.as_str()).collect();
        let cases = device::cover(&self.forms, &files);
        match device::differences(&self.tree, &self.toolchain, &cases) {
            Ok(differences) => Ok(Asked::Failures(differences)),
            Err(error) if error.to_string().contains("does not compile") => Ok(Asked::Refused(error.to_string())),
            Err(error) => Err(error),
        }
    }
}

/// Who is asked, the cheapest first.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Judge {
    Catalogue,
    Device,
    /// A test of this checkout, about the crate of the copy.
    Test(&'static str),
}

/// Those that can notice one of these: what is compiled for the GPU alone is not in the catalogue.
fn judges(batch: &[&Mutant]) -> Vec<Judge> {
    let on_device = ["spell.rs", "emit.rs", "issue.rs", "line.rs"];
    let alone = batch.iter().all(|mutant| on_device.iter().any(|file| mutant.file.ends_with(file)));
    let kinds: BTreeSet<Kind> = batch.iter().map(|mutant| mutant.kind).collect();
    let tests = [
        (Kind::Effect, Judge::Test("effects")),
        (Kind::Effect, Judge::Test("order")),
        (Kind::Gate, Judge::Test("bounds")),
        (Kind::Operand, Judge::Test("lanes")),
        (Kind::Register, Judge::Test("lanes")),
    ];
    let tests = tests.into_iter().filter(|(kind, _)| kinds.contains(kind)).map(|(_, test)| test);
    let texts = if alone { vec![Judge::Device] } else { vec![Judge::Catalogue, Judge::Device] };
    let mut judges: Vec<Judge> = texts.into_iter().chain(tests).collect();
    judges.dedup();
    judges
}

impl Judge {
    fn name(self) -> &'static str {
        match self {
            Judge::Catalogue => "the catalogue",
            Judge::Device => "the text of forms",
            Judge::Test(name) => name,
        }
    }
}

fn without<'m>(batch: Vec<&'m Mutant>, gone: &BTreeSet<usize>) -> Vec<&'m Mutant> {
    batch.into_iter().enumerate().filter(|(at, _)| !gone.contains(at)).map(|(_, mutant)| mutant).collect()
}

/// What a judge says: failures as form, expected, found.
enum Asked {
    Failures(Vec<(String, String, String)>),
    Refused(String),
}

/// Mutants that cannot be taken for each other.
fn batches<'m>(mutants: &[&'m Mutant], at_a_time: usize) -> Vec<Vec<&'m Mutant>> {
    let mut batches: Vec<Vec<&Mutant>> = Vec::new();
    for mutant in mutants {
        let fits =
            |batch: &&mut Vec<&Mutant>| batch.len() < at_a_time && batch.iter().all(|other| apart(mutant, other));
        match batches.iter_mut().find(fits) {
            Some(batch) => batch.push(mutant),
            None => batches.push(vec![mutant]),
        }
    }
    batches
}

fn apart(a: &Mutant, b: &Mutant) -> bool {
    let separate = a.file != b.file || a.range.end <= b.range.start || b.range.end <= a.range.start;
    let shows = |mutant: &Mutant| matches!(mutant.sign, Sign::Appears(_));
    let same_marks = a.marks.iter().any(|mark| b.marks.contains(mark));
    // What changes the text would hide what changes nothing in it.
    separate
        && shows(a) == shows(b)
        && match (&a.sign, &b.sign) {
            (Sign::Appears(one), Sign::Appears(other)) if one != other => !one.contains(other) && !other.contains(one),
            _ => !same_marks && (a.file != b.file || a.line != b.line),
        }
}

/// The mutants that failures name. One that is alone is named by any.
fn attribute(batch: &[&Mutant], failures: &[(String, String, String)]) -> BTreeSet<usize> {
    if batch.len() == 1 {
        return if failures.is_empty() { BTreeSet::new() } else { BTreeSet::from([0]) };
    }
    let mut named = BTreeSet::new();
    for (form, expected, found) in failures {
        let text = format!("{form} {expected} {found}");
        // Of those with the same sign, and of those without one, the one with the longest mark.
        let mut best: BTreeMap<&Sign, Vec<(usize, usize)>> = BTreeMap::new();
        for (at, mutant) in batch.iter().enumerate() {
            let marked = mutant.marks.iter().filter(|mark| has_word(&text, mark)).map(String::len).max();
            let signed = match &mutant.sign {
                Sign::Appears(word) => found.contains(word.as_str()) && !expected.contains(word.as_str()),
                Sign::Missing(word) => has_word(expected, word) && !has_word(found, word),
                Sign::Marks => marked.is_some(),
            };
            if signed {
                best.entry(&mutant.sign).or_default().push((marked.unwrap_or(0), at));
            }
        }
        // A word that is missing tells more than a mark.
        if best.keys().any(|sign| matches!(sign, Sign::Missing(_))) {
            best.remove(&Sign::Marks);
        }
        for mut candidates in best.into_values() {
            candidates.sort_unstable();
            match candidates[..] {
                [.., (second, _), (first, at)] if first > second => drop(named.insert(at)),
                [(_, at)] => drop(named.insert(at)),
                _ => {}
            }
        }
    }
    named
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
    const MUTANTS: usize = 3_000;

    #[test]
    fn each_reason_is_about_some_mutant_and_about_few() {
        let mutants = every(&Machine::current(), &Kind::ALL).unwrap();
        assert!(mutants.len() >= MUTANTS, "{}", mutants.len());
        let told: Vec<String> = mutants.iter().map(Mutant::told).collect();
        for (reason, pattern) in listed() {
            assert!(told.iter().any(|told| pattern.is_match(told)), "idle: {reason}: {pattern}");
        }
        let listed = mutants.iter().filter(|mutant| reason(mutant).is_some()).count();
        assert!(listed < 40, "{listed} mutants are listed");
        let adds = |told: &&String| told.contains("→ nomem,") || told.contains("→ readonly,");
        let excused = mutants.iter().filter(|mutant| adds(&&mutant.told()) && reason(mutant).is_some());
        assert_eq!(excused.map(Mutant::told).collect::<Vec<_>>(), [""; 0]);
    }

    fn mutant(sign: Sign, marks: &[&str], line: usize) -> Mutant {
        Mutant {
            kind: Kind::Text,
            file: "f.rs".to_owned(),
            line,
            range: line * 10..line * 10 + 1,
            before: "a".to_owned(),
            after: "b".to_owned(),
            sign,
            owner: "rows".to_owned(),
            marks: marks.iter().map(|mark| (*mark).to_owned()).collect(),
        }
    }

    #[test]
    fn a_failure_is_its_own_mutants() {
        let shown = mutant(Sign::Appears(".globaz".to_owned()), &["rows"], 1);
        let gone = mutant(Sign::Missing(".proxy".to_owned()), &["fence.proxy.async"], 2);
        let longer = mutant(Sign::Missing(".proxy".to_owned()), &["fence.proxy.async.global"], 3);
        let silent = mutant(Sign::Missing(".cta".to_owned()), &["membar.cta"], 4);
        let failure = |expected: &str, found: &str| ("f()".to_owned(), expected.to_owned(), found.to_owned());
        let batch = [&shown, &gone, &longer, &silent];
        let named = |failures: &[(String, String, String)]| attribute(&batch, failures).into_iter().collect::<Vec<_>>();
        assert_eq!(named(&[failure("ld.global.f32", "ld.globaz.f32")]), [0]);
        assert_eq!(named(&[failure("fence.proxy.async", "fence.async")]), [1]);
        assert_eq!(named(&[failure("fence.proxy.async.global", "fence.async.global")]), [2]);
        assert_eq!(named(&[failure("st.f32", "st.f64")]), [0; 0]);
        assert_eq!(attribute(&[&silent], &[failure("st.f32", "st.f64")]).len(), 1);
        assert!(apart(&gone, &longer) && !apart(&shown, &gone) && !apart(&gone, &gone));
    }
}
