//! Assembles, disassembles and audits.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::rc::Rc;

use ptx_audit::page::Sheet;
use ptx_audit::report::{Kernel, Record};
use ptx_audit::{Code, Text, audit, bounded};
use ptx_build::assemblers;
use ptx_build::cuda_tools::CudaTools;
use ptx_build::disassembler::{Disassembler, Lines};
use ptx_build::error::{Error, Result};
use ptx_build::progress::Progress;
use ptx_build::ptx::demangle;
use ptx_build::ptxas::Assembler;
use ptx_build::resources::Resources;
use ptx_build::target::{Release, Sm};
use ptx_sass::cubin::{Takes, takes};
use ptx_sass::nvdisasm::SassFunction;
use tempfile::TempDir;

use super::input::Part;
use crate::installed::machine;

/// What assembles and disassembles.
pub(crate) struct Maker {
    assemblers: Vec<(String, Assembler)>,
    disassembler: Disassembler,
    sms: Vec<Sm>,
    /// Whether it is asked how many registers are live.
    with_live: bool,
    scratch: TempDir,
}

/// Machine code, and what its cubin says.
struct Made {
    sm: Sm,
    functions: Vec<SassFunction>,
    takes: BTreeMap<String, Takes>,
    spilled: BTreeMap<String, u32>,
    live: HashMap<String, BTreeMap<u64, u32>>,
}

impl Maker {
    /// With these assemblers, for these GPUs; where none is named, today's, and the GPU that the PTX names.
    pub(crate) fn new(releases: &[String], sms: Vec<Sm>, with_live: bool, progress: &Progress) -> Result<Self> {
        let tools = CudaTools::find_on(&machine(), progress)?;
        let own = tools.release;
        let releases: Vec<Release> = match releases {
            [] => vec![own],
            named => named.iter().map(|text| release(text)).collect::<Result<_>>()?,
        };
        let assembler = |release: Release| {
            let assembler = match release {
                _ if release == own => Assembler::new(&tools.ptxas),
                (12, 9) => Assembler::new(tools.ptxas12(progress)?),
                _ => assemblers::of(release, &machine(), progress).map_err(|error| error.at("--assembler"))?,
            };
            Ok((format!("{}.{}", release.0, release.1), assembler.lineinfo(true).option("-v")))
        };
        let assemblers = releases.into_iter().map(assembler).collect::<Result<_>>()?;
        let scratch =
            tempfile::tempdir().map_err(|error| Error::io("create a folder in", &std::env::temp_dir(), error))?;
        Ok(Maker { assemblers, disassembler: Disassembler::new(&tools.nvdisasm), sms, with_live, scratch })
    }

    /// Audits a part of a file.
    pub(crate) fn sheets(&self, file: &Path, part: &Part, progress: &Progress) -> Result<Vec<Sheet>> {
        match part {
            Part::Ptx(text) => self.of_ptx(file, text, progress),
            Part::Cubin(bytes) => self.of_cubin(file, bytes),
        }
        .map_err(|error| error.of(file.display()))
    }

    fn of_ptx(&self, file: &Path, text: &str, progress: &Progress) -> Result<Vec<Sheet>> {
        let text = Rc::new(Text::read(text));
        let sms = if self.sms.is_empty() { vec![target(&text.ptx)?] } else { self.sms.clone() };
        let mut sheets = Vec::new();
        for (release, assembler) in &self.assemblers {
            for sm in &sms {
                let _step = progress.step(format!("{} for {sm} by ptxas {release}", file.display()));
                let (made, kernels) = self.assembled(assembler, &text, *sm)?;
                sheets.extend(made.sheets(file, &sm.to_string(), Some(release), Some(&text), kernels));
            }
        }
        Ok(sheets)
    }

    fn assembled(&self, assembler: &Assembler, text: &Text, sm: Sm) -> Result<(Made, Vec<Kernel>)> {
        let made = self.made(assembler, &text.ptx, sm, self.with_live)?;
        let kernels = audit(&made.code(Some(text), None));
        let Some(with_bounds) = bounded(text, &kernels) else { return Ok((made, kernels)) };
        // Bounds that the assembler refuses would help nobody.
        let Ok(with_bounds) = self.made(assembler, &with_bounds, sm, false) else { return Ok((made, kernels)) };
        let kernels = audit(&made.code(Some(text), Some(&with_bounds.functions)));
        Ok((made, kernels))
    }

    fn made(&self, assembler: &Assembler, ptx: &str, sm: Sm, with_live: bool) -> Result<Made> {
        let cubin = assembler.assemble_text(ptx, sm, &self.scratch.path().join("audited.cubin"))??;
        let (_, functions) = self.disassembler.disassemble_by(Lines::Ptx, &cubin.path)?;
        let bytes = std::fs::read(&cubin.path).map_err(|error| Error::io("read", &cubin.path, error))?;
        let spilled = Resources::read(&cubin.printed).into_iter().map(|one| (one.kernel, one.spilled)).collect();
        let live = if with_live { self.disassembler.live_registers(&cubin.path)? } else { HashMap::new() };
        Ok(Made { sm, functions, takes: takes(&bytes).map_err(Error::new)?, spilled, live })
    }

    fn of_cubin(&self, file: &Path, bytes: &[u8]) -> Result<Vec<Sheet>> {
        let takes = takes(bytes).map_err(|error| Error::new(error).fix("make the file again"))?;
        let path = self.scratch.path().join("read.cubin");
        std::fs::write(&path, bytes).map_err(|error| Error::io("write", &path, error))?;
        let read = self.disassembler.disassemble_by(Lines::Source, &path);
        let (gpu, functions) = read
            .map_err(|error| error.fix("name a cubin that has its symbols, and of a GPU that this nvdisasm knows"))?;
        let sm = Sm::read(&gpu).ok_or_else(|| Error::new(format_args!("`{gpu}` is no GPU that is known here")))?;
        let live = if self.with_live { self.disassembler.live_registers(&path)? } else { HashMap::new() };
        let made = Made { sm, functions, takes, spilled: BTreeMap::new(), live };
        let kernels = audit(&made.code(None, None));
        Ok(made.sheets(file, &gpu, None, None, kernels))
    }
}

impl Made {
    fn code<'a>(&'a self, ptx: Option<&'a Text>, bounded: Option<&'a [SassFunction]>) -> Code<'a> {
        let Made { sm, functions, takes, spilled, .. } = self;
        Code { functions, sm: sm.number, takes, spilled, ptx, bounded }
    }

    fn sheets(
        self,
        file: &Path,
        gpu: &str,
        release: Option<&String>,
        text: Option<&Rc<Text>>,
        kernels: Vec<Kernel>,
    ) -> Vec<Sheet> {
        let Made { functions, mut live, .. } = self;
        let mut functions: HashMap<String, SassFunction> =
            functions.into_iter().map(|function| (function.name.clone(), function)).collect();
        let sheet = |kernel: Kernel| {
            Some(Sheet {
                shown: demangle(&kernel.name),
                code: functions.remove(&kernel.name)?,
                live: live.remove(&kernel.name).unwrap_or_default(),
                text: text.cloned(),
                record: Record {
                    file: file.display().to_string(),
                    gpu: gpu.to_owned(),
                    assembler: release.cloned(),
                    kernel,
                },
            })
        };
        kernels.into_iter().filter_map(sheet).collect()
    }
}

/// `13.5`.
fn release(text: &str) -> Result<Release> {
    let numbers = text.split_once('.').and_then(|(major, minor)| Some((major.parse().ok()?, minor.parse().ok()?)));
    numbers.ok_or_else(|| {
        Error::new(format_args!("`{text}` is no release of CUDA")).at("--assembler").fix("write it as in 13.5")
    })
}

/// The GPU that PTX names.
fn target(ptx: &str) -> Result<Sm> {
    let line = ptx.lines().find_map(|line| line.trim_start().strip_prefix(".target")).unwrap_or_default();
    let name = line.split("//").next().unwrap_or_default().split(',').next().unwrap_or_default().trim();
    Sm::read(name).ok_or_else(|| Error::new(format_args!("`.target {name}` names no GPU")).fix("name the GPU by --sm"))
}
