//! `docs/sass`: a page for each instruction, and one of the hints without a trace.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;

use crate::check::sass::{self, Access, GPUS, Seen, golden, text, trace};
use crate::tools::command::Machine;
use crate::tools::error::{Error, Result};
use crate::tools::files::write_whole;
use crate::tools::target::{Release, Sm};

/// The page of hints without a trace.
const NO_TRACE: &str = "no-trace.md";

/// The pages, by file name, and what they tell of.
pub struct Pages {
    files: BTreeMap<String, String>,
    forms: usize,
    rows: usize,
    gpus: usize,
}

/// These GPUs, all of which have to be known; all of them if none is named.
pub fn chosen(named: &[Sm], known: Vec<Sm>) -> Result<Vec<Sm>> {
    if named.is_empty() {
        return Ok(known);
    }
    if let Some(unknown) = named.iter().find(|sm| !known.contains(sm)) {
        let names: Vec<String> = known.iter().map(Sm::to_string).collect();
        return Err(Error::new(format_args!("the disassembler's pages do not tell of {unknown}"))
            .at("--sm")
            .fix(format_args!("use some of {}", names.join(","))));
    }
    Ok(known.into_iter().filter(|sm| named.contains(sm)).collect())
}

/// The accesses of that spelling, with or without a type, or of that instruction; all if nothing is named.
pub fn select(named: &[String]) -> Result<Vec<Access>> {
    let all = sass::accesses();
    let is = |access: &Access, name: &String| {
        access.instruction == *name || access.ptx == *name || text::stem(&access.ptx).0 == name
    };
    for name in named {
        if !all.iter().any(|access| is(access, name)) {
            return Err(Error::new(format_args!("there is no form `{name}`")).fix(format_args!(
                "ask `cargo xtask explain {name}` what is near; `cargo xtask forms` lists them all"
            )));
        }
    }
    Ok(all.into_iter().filter(|access| named.is_empty() || named.iter().any(|name| is(access, name))).collect())
}

/// These accesses and those that each hint is compared with.
pub fn with_bases(wanted: &[Access]) -> Vec<Access> {
    let mut all: Vec<Access> = wanted.to_vec();
    let mut known: BTreeSet<String> = wanted.iter().map(|access| access.ptx.clone()).collect();
    let catalogue: HashMap<String, Access> =
        sass::accesses().into_iter().map(|access| (access.ptx.clone(), access)).collect();
    for access in wanted {
        for (_, without) in trace::without_hints(&access.ptx) {
            if let Some(base) = catalogue.get(&without).filter(|_| known.insert(without.clone())) {
                all.push(base.clone());
            }
        }
    }
    all
}

impl Pages {
    /// The pages of these accesses.
    pub fn of(accesses: &[Access], seen: &Seen, release: Release) -> Self {
        let mut files: BTreeMap<String, String> =
            golden::pages(accesses, seen, release).into_iter().map(|(name, text)| (name + ".txt", text)).collect();
        files.insert(NO_TRACE.into(), trace::page(accesses, seen));
        let rows = seen.values().map(|codes| accesses.iter().filter(|access| codes.contains_key(&access.ptx)).count());
        Pages { files, forms: accesses.len(), rows: rows.sum(), gpus: seen.len() }
    }

    /// The lines of all pages.
    pub fn lines(&self) -> String {
        self.files.iter().filter(|(name, _)| *name != NO_TRACE).map(|(_, text)| text.as_str()).collect()
    }

    /// What they tell of, in a line.
    pub fn summary(&self) -> String {
        let bytes: usize = self.files.values().map(String::len).sum();
        let Pages { forms, rows, gpus, files } = self;
        format!("{forms} forms on {gpus} GPUs, {rows} in all, on {} pages of {} KB\n", files.len(), bytes / 1024)
    }

    /// Writes the pages of these instructions and leaves the others as they are.
    pub fn write_some(&self, accesses: &[Access], seen: &Seen) -> Result<()> {
        self.is_of_every_gpu(seen)?;
        let written: BTreeSet<&str> = accesses.iter().map(|access| access.ptx.as_str()).collect();
        let pages: BTreeSet<&str> = accesses.iter().map(|access| access.instruction.as_str()).collect();
        let all = sass::accesses();
        let lacks =
            |access: &&Access| pages.contains(access.instruction.as_str()) && !written.contains(access.ptx.as_str());
        if let Some(lacking) = all.iter().find(lacks) {
            return Err(Error::new(format_args!("the page would lose {}", lacking.ptx))
                .at("--write")
                .fix(format_args!("name the instruction: `cargo xtask sass --write {}`", lacking.instruction)));
        }
        self.read_back(accesses, seen)?;
        let own = self.files.iter().filter(|(name, _)| *name != NO_TRACE);
        own.into_iter().try_for_each(|(name, text)| write_whole(&folder().join(name), text))
    }

    fn is_of_every_gpu(&self, seen: &Seen) -> Result<()> {
        let Some(missing) = GPUS.iter().find(|sm| !seen.contains_key(sm)) else { return Ok(()) };
        Err(Error::new(format_args!("this assembler does not know {missing}"))
            .fix("set CUDA_HOME to a toolkit of CUDA 13.5 or later, or unset it: the tools are then downloaded"))
    }

    /// Writes them, and removes pages of instructions that are no more.
    pub fn write(&self, accesses: &[Access], seen: &Seen) -> Result<()> {
        self.is_of_every_gpu(seen)?;
        self.read_back(accesses, seen)?;
        let folder = folder();
        std::fs::create_dir_all(&folder).map_err(|error| Error::io("create the folder", &folder, error))?;
        for name in kept()?.keys().filter(|name| !self.files.contains_key(*name)) {
            let old = folder.join(name);
            std::fs::remove_file(&old).map_err(|error| Error::io("remove", &old, error))?;
        }
        self.files.iter().try_for_each(|(name, text)| write_whole(&folder.join(name), text))
    }

    /// What is written is read as what was seen.
    fn read_back(&self, accesses: &[Access], seen: &Seen) -> Result<()> {
        let page = |(name, text): (&String, &String)| Some((name.strip_suffix(".txt")?.to_owned(), text.clone()));
        let (_, wrong) = golden::disagreements(&self.files.iter().filter_map(page).collect(), accesses, seen)?;
        let Some(first) = wrong.first() else { return Ok(()) };
        Err(Error::new(format_args!("{} lines read otherwise than they were written", wrong.len()))
            .because(first)
            .at("host-tests/src/check/sass/golden.rs"))
    }

    /// Compares them with those that are kept; an error names the first lines that differ.
    pub fn compare(&self) -> Result<()> {
        let kept = kept()?;
        let names: BTreeSet<&String> = kept.keys().chain(self.files.keys()).collect();
        let text = |files: &BTreeMap<String, String>, name: &str| files.get(name).cloned().unwrap_or_default();
        let differences: Vec<String> = names
            .into_iter()
            .flat_map(|name| differences(name, &text(&kept, name), &text(&self.files, name)))
            .collect();
        if differences.is_empty() {
            return Ok(());
        }
        let shown = differences.iter().take(20).map(String::as_str).collect::<Vec<_>>().join("\n");
        Err(Error::new(format_args!("{} lines of docs/sass are not what the tools show", differences.len()))
            .because(shown)
            .fix("see whether the assembler or the crate changed; `cargo xtask sass --write` takes it over"))
    }
}

/// Lines of one text that the other lacks.
fn differences(name: &str, kept: &str, seen: &str) -> Vec<String> {
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<BTreeSet<String>>();
    let (kept, seen) = (lines(kept), lines(seen));
    let gone = kept.difference(&seen).map(|line| format!("{name}: - {line}"));
    gone.chain(seen.difference(&kept).map(|line| format!("{name}: + {line}"))).collect()
}

fn folder() -> PathBuf {
    Machine::current().repository.join("docs/sass")
}

/// The pages in the repository that tell of today's assembler, by file name.
pub fn kept() -> Result<BTreeMap<String, String>> {
    let folder = folder();
    let failed = |error| Error::io("read", &folder, error).fix("run cargo xtask sass --write");
    let mut kept = BTreeMap::new();
    for entry in std::fs::read_dir(&folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&path).map_err(|error| Error::io("read", &path, error))?;
        kept.insert(name, text);
    }
    Ok(kept)
}
