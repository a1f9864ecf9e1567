//! NVIDIA's assembler, and what it says of PTX that it refuses.

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use regex_lite::Regex;

use crate::command::{Command, Finished, tail};
use crate::error::{Error, Result};
use crate::ptx::Module;
use crate::target::{PtxVersion, Sm};

/// How many of a refused module's errors are shown.
const SHOWN: usize = 10;

/// A `ptxas`, and the options to run it with.
#[derive(Clone, Debug)]
pub struct Assembler {
    ptxas: PathBuf,
    options: Vec<String>,
}

/// A GPU, its assembler, and the newest PTX ISA version that the assembler reads.
#[derive(Clone, Debug)]
pub struct On {
    /// The GPU.
    pub sm: Sm,
    /// The assembler.
    pub assembler: Assembler,
    /// What the modules begin with.
    pub version: PtxVersion,
}

impl On {
    /// Every target of an assembler that has a suffix: `sm_90a`, `sm_100f`.
    pub fn suffixed(assembler: &Assembler) -> Result<Vec<On>> {
        let version = assembler.newest_version()?;
        let named = assembler.supported_sms()?.into_iter().filter(|sm| sm.suffix.is_some());
        Ok(named.map(|sm| On { sm, assembler: assembler.clone(), version }).collect())
    }

    /// Every GPU and its assembler: today's, and an older one for those that it dropped. One of each number: `sm_90a`
    /// takes what `sm_90` takes.
    pub fn every(now: Assembler, before: Assembler) -> Result<Vec<On>> {
        let (new, old) = (now.supported_sms()?, before.supported_sms()?);
        let dropped: BTreeSet<Sm> = old.into_iter().filter(|sm| Some(sm) < new.first()).collect();
        let on = |sms: BTreeSet<Sm>, assembler: Assembler| -> Result<Vec<On>> {
            let version = assembler.newest_version()?;
            let plain = sms.into_iter().filter(|sm| sm.suffix.is_none());
            Ok(plain.map(|sm| On { sm, assembler: assembler.clone(), version }).collect())
        };
        Ok([on(dropped, before)?, on(new, now)?].concat())
    }
}

/// Machine code for one architecture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cubin {
    /// The file.
    pub path: PathBuf,
    /// The architecture.
    pub sm: Sm,
    /// What the assembler warned of.
    pub warnings: Vec<Message>,
    /// All that it printed, which `-v` makes more of.
    pub printed: String,
}

/// One thing that the assembler said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The line of PTX it is about, from 1.
    pub line: Option<u32>,
    /// The assembler's own words.
    pub text: String,
}

/// PTX that the assembler did not turn into machine code.
#[derive(Clone, Debug)]
pub struct Rejected {
    /// Where the PTX is.
    pub ptx: PathBuf,
    /// The architecture asked for.
    pub sm: Sm,
    /// Why: the assembler's errors, or the way it died.
    pub messages: Vec<Message>,
    /// Whether the assembler died instead of refusing.
    pub crashed: bool,
    source: String,
}

/// Whether it is an arrival whose state is thrown away,
fn is_sunk(line: &str) -> bool {
    line.starts_with("mbarrier.arrive.") && line.contains(" _, [")
}

/// and what the parser says about it.
const SINK_REFUSED: &str = "Result discard mode is not allowed";

/// What is said of a target like `sm_90a` when machine code for another one is asked for.
const ONLY_FOR_ITS_GPU: &str = "cannot be compiled";

impl Assembler {
    /// The assembler at that path.
    pub fn new(ptxas: impl Into<PathBuf>) -> Self {
        Assembler { ptxas: ptxas.into(), options: Vec::new() }
    }

    /// Whether the machine code tells which line of PTX each instruction came from.
    pub fn lineinfo(self, wanted: bool) -> Self {
        if wanted { self.option("-lineinfo") } else { self }
    }

    /// Any other option of ptxas.
    pub fn option(mut self, option: impl Into<String>) -> Self {
        self.options.push(option.into());
        self
    }

    /// The program's path.
    pub fn path(&self) -> &Path {
        &self.ptxas
    }

    /// Assembles a file of PTX into the file `out`, which is not touched unless that succeeds. The outer result is
    /// about running the assembler, the inner one is its verdict.
    pub fn assemble(&self, ptx: &Path, sm: Sm, out: &Path) -> Result<Result<Cubin, Rejected>> {
        if !ptx.is_file() {
            return Err(Error::new("there is no such file of PTX").at(ptx.display()).fix("compile the kernels first"));
        }
        let new = temporary_beside(out)?;
        let command = Command::tool(&self.ptxas)?.args(&self.options).arg(format!("-arch={sm}"));
        let finished = command.arg("-o").arg(new.path()).arg(ptx).finish()?;
        if !finished.status.success() {
            return Ok(Err(rejected(ptx, sm, &finished)?));
        }
        new.persist(out).map_err(|failed| Error::io("write", out, failed.error))?;
        let warnings = messages(&finished, &["warning"]);
        Ok(Ok(Cubin { path: out.to_owned(), sm, warnings, printed: finished.stderr + &finished.stdout }))
    }

    /// Assembles a text of PTX into the file `out`.
    pub fn assemble_text(&self, ptx: &str, sm: Sm, out: &Path) -> Result<Result<Cubin, Rejected>> {
        let file = temporary_beside(out)?;
        std::fs::write(file.path(), ptx).map_err(|error| Error::io("write", file.path(), error))?;
        self.assemble(file.path(), sm, out)
    }

    /// The lines of a text, from 1, about which the parser has something to complain. No machine code is made, so the
    /// text may be for any target, also one that this assembler makes no code for any more.
    pub fn refused_lines(&self, ptx: &str) -> Result<Vec<u32>> {
        let file = tempfile::NamedTempFile::new()
            .map_err(|error| Error::io("create a file in", &std::env::temp_dir(), error))?;
        std::fs::write(file.path(), ptx).map_err(|error| Error::io("write", file.path(), error))?;
        // Both assemblers know this one, no target is newer, and code generation is suppressed for it.
        let command = Command::tool(&self.ptxas)?.args(["-arch=compute_121", "-o", "/dev/null"]).arg(file.path());
        let finished = command.finish()?;
        let stopped = |line: &&str| line.contains("fatal   :") && !line.ends_with("aborted due to errors");
        let mut lines: Vec<u32> = match finished.stderr.lines().find(stopped) {
            // Before PTX ISA 7.1 that stops it. It says nothing about the others then: they are asked without these.
            Some(fatal) if fatal.contains(SINK_REFUSED) && ptx.lines().any(is_sunk) => {
                let sinks = (1..).zip(ptx.lines()).filter(|(_, line)| is_sunk(line)).map(|(number, _)| number);
                let others: String =
                    ptx.lines().map(|line| [if is_sunk(line) { "" } else { line }, "\n"].concat()).collect();
                sinks.chain(self.refused_lines(&others)?).collect()
            }
            // It comes after the parser, which had nothing to say.
            Some(fatal) if fatal.contains(ONLY_FOR_ITS_GPU) => Vec::new(),
            Some(_) => return Err(finished.failed()),
            None if finished.status.code().is_none() => return Err(finished.failed()),
            None => finished.stderr.lines().filter_map(line_of_error).collect(),
        };
        lines.dedup();
        Ok(lines)
    }

    /// The newest PTX ISA version that it reads.
    pub fn newest_version(&self) -> Result<PtxVersion> {
        static NEWEST: LazyLock<Regex> =
            LazyLock::new(|| Regex::new(r"current version is '(\d+)\.(\d+)'").expect("the pattern is valid"));
        let ask = self.refused_lines(".version 99.0\n.target sm_80\n").err().map(|error| error.to_string());
        let number = |text: &str| text.parse().unwrap_or_default();
        let said = ask.as_deref().and_then(|said| NEWEST.captures(said));
        said.map(|said| PtxVersion::new(number(&said[1]), number(&said[2]))).ok_or_else(|| {
            Error::new("ptxas does not say which PTX ISA version is its newest")
                .at(self.ptxas.display())
                .because(ask.as_deref().unwrap_or_default())
                .fix("set CUDA_HOME to a CUDA 13 toolkit")
        })
    }

    /// The architectures it says it assembles for.
    pub fn supported_sms(&self) -> Result<BTreeSet<Sm>> {
        static NAME: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"'(sm_\d+[a-z]?)'").expect("the pattern is valid"));
        let help = Command::tool(&self.ptxas)?.arg("--help").run()?;
        let names = NAME.captures_iter(&help.stdout);
        let sms: BTreeSet<Sm> = names.filter_map(|name| Sm::read(&name[1])).collect();
        if sms.is_empty() {
            return Err(Error::new("ptxas --help lists no architecture")
                .at(self.ptxas.display())
                .because(tail(&help.stdout))
                .fix("set CUDA_HOME to a CUDA 13 toolkit"));
        }
        Ok(sms)
    }
}

impl fmt::Display for Rejected {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let does = if self.crashed { "crashes on" } else { "refuses" };
        write!(out, "ptxas {does} {} for {}", self.ptx.display(), self.sm)?;
        let module = Module::parse(&self.source).ok();
        for message in self.messages.iter().take(SHOWN) {
            write!(out, "\n  {}", message.text)?;
            let Some(line) = message.line else { continue };
            let text = self.source.lines().nth(line as usize - 1).unwrap_or_default().trim();
            write!(out, "\n    {line} | {text}")?;
            if let Some(function) = module.as_ref().and_then(|module| module.function_at(line)) {
                write!(out, "\n    in {}", function.demangled())?;
            }
        }
        let hidden = self.messages.len().saturating_sub(SHOWN);
        if hidden > 0 { write!(out, "\n  and {hidden} more") } else { Ok(()) }
    }
}

impl std::error::Error for Rejected {}

impl From<Rejected> for Error {
    fn from(rejected: Rejected) -> Error {
        Error::new(rejected)
    }
}

fn temporary_beside(out: &Path) -> Result<tempfile::NamedTempFile> {
    let folder = out.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    tempfile::NamedTempFile::new_in(folder).map_err(|error| {
        Error::io("write to", folder, error).fix("make sure that the folder exists and may be written to")
    })
}

fn rejected(ptx: &Path, sm: Sm, finished: &Finished) -> Result<Rejected> {
    let source = std::fs::read_to_string(ptx).map_err(|error| Error::io("read the PTX", ptx, error))?;
    let crashed = finished.status.code().is_none();
    let mut messages = messages(finished, &["error", "fatal"]);
    if crashed || messages.is_empty() {
        let said = tail(&finished.stderr);
        messages.push(Message { line: None, text: format!("ptxas {} {said}", finished.ending()).trim().to_owned() });
    }
    Ok(Rejected { ptx: ptx.to_owned(), sm, messages, crashed, source })
}

/// 7 of `ptxas FILE, line 7; error   : …`. There may be hundreds of millions of them: no pattern, no copy.
fn line_of_error(message: &str) -> Option<u32> {
    let (place, _) = message.split_once("; error")?;
    place.rsplit_once(", line ")?.1.parse().ok()
}

/// The messages of these kinds, without the summary that ends each refusal.
fn messages(finished: &Finished, kinds: &[&str]) -> Vec<Message> {
    static MESSAGE: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"^ptxas (?:.*, line (\d+); )?(error|fatal|warning)\s*: (.*)$").expect("the pattern is valid")
    });
    let said = finished.stderr.lines().chain(finished.stdout.lines());
    let said = said.filter_map(|line| MESSAGE.captures(line)).filter(|said| kinds.contains(&&said[2]));
    let said = said.map(|said| Message {
        line: said.get(1).and_then(|line| line.as_str().parse().ok()),
        text: said[3].trim().to_owned(),
    });
    said.filter(|message| message.text != "Ptx assembly aborted due to errors").collect()
}
