//! What the kernels' hints become: each access in Rust, in PTX and in machine code, side by side, as `ptx-audit` reads them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use ptx_audit::fate::Fate;
use ptx_audit::report::Kernel;
use ptx_audit::{Code, Text, audit};
use ptx_build::cuda_tools::CudaTools;
use ptx_build::device_build::DeviceBuild;
use ptx_build::disassembler::Disassembler;
use ptx_build::error::{Error, Result};
use ptx_build::progress::Progress;
use ptx_build::ptx::with_entry_lines;
use ptx_build::target::{PtxVersion, Sm};
use ptx_build::toolchain::DeviceToolchain;
use ptx_intrinsics::catalogue::{self, Form, Operation};
use ptx_sass::line_table::{Located, Site};
use workloads::{ALL, Workload, kernels_folder};

/// The oldest GPU that has all the kernels' hints, and the PTX ISA version that has them.
pub const OLDEST: (Sm, PtxVersion) = (Sm::new(80), PtxVersion::new(7, 4));

/// An access of a kernel: an expression of its source, which unrolling may have made several instructions of.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Access {
    /// Its line of the source.
    pub rust: String,
    /// Where it is: `gather.rs:53`.
    pub place: String,
    /// Its first instruction in PTX.
    pub ptx: String,
    /// How many instructions of PTX it became.
    pub count: usize,
    /// What these became, GPU for GPU.
    pub sass: Vec<Sass>,
}

/// An access on one GPU.
#[derive(Clone, Debug, PartialEq)]
pub struct Sass {
    /// The GPU.
    pub sm: Sm,
    /// The opcodes, and how many instructions have each.
    pub opcodes: BTreeMap<String, usize>,
    /// What of the hint the machine code does not say.
    pub notes: BTreeSet<String>,
}

/// The kernels in PTX, and where each of its lines came from.
pub struct Compiled {
    text: Text,
    located: Located,
}

/// Machine code for one GPU.
pub struct Assembled {
    /// The GPU.
    pub sm: Sm,
    /// The file.
    pub cubin: PathBuf,
    kernels: Vec<Kernel>,
}

/// The workloads of those names, all of them if there is none.
pub fn workloads(names: &[String]) -> Result<Vec<&'static dyn Workload>> {
    let known = || ALL.map(|workload| workload.name()).join(" ");
    let find = |name: &String| {
        let found = ALL.into_iter().find(|workload| workload.name() == name);
        found.ok_or_else(|| {
            Error::new(format_args!("there is no kernel `{name}`"))
                .at("--kernel")
                .fix(format_args!("use one of {}", known()))
        })
    };
    if names.is_empty() { Ok(ALL.to_vec()) } else { names.iter().map(find).collect() }
}

/// The GPUs of that list, which must have the kernels' hints.
pub fn architectures(names: &[String]) -> Result<BTreeSet<Sm>> {
    let (oldest, _) = OLDEST;
    let read = |name: &String| {
        let sm: Sm = name.parse().map_err(|error: Error| error.at("--sm"))?;
        if sm >= oldest {
            return Ok(sm);
        }
        Err(Error::new(format_args!("{sm} is too old for the kernels: it lacks some of their hints"))
            .at("--sm")
            .fix(format_args!("use {oldest} or later"))
            .fix("`cargo xtask forms` lists what each hint needs"))
    };
    names.iter().map(read).collect()
}

/// Compiles the kernels once for all GPUs: PTX for the oldest that has their hints runs on every later one.
pub fn compile(toolchain: &DeviceToolchain, progress: &Progress) -> Result<Compiled> {
    let (sm, version) = OLDEST;
    let _step = progress.step(format!("Compiling the kernels to PTX {version} for {sm} with {}", toolchain.version));
    let build = DeviceBuild { ptx: Some(version), ..DeviceBuild::new(kernels_folder(), "kernels", sm) };
    let text = with_entry_lines(&build.with_line_table(toolchain)?)?;
    Ok(Compiled { text: Text::read(&text), located: Located::read(&text) })
}

/// Assembles the kernels for one GPU, and reads what became of them.
pub fn assemble(
    Compiled { text, .. }: &Compiled,
    sm: Sm,
    folder: &Path,
    tools: &CudaTools,
    progress: &Progress,
) -> Result<Assembled> {
    let _step = progress.step(format!("Assembling and disassembling for {sm}"));
    let assembler = tools.assembler(sm, progress)?.lineinfo(true);
    let cubin = assembler.assemble_text(&text.ptx, sm, &folder.join(format!("{sm}.cubin")))??.path;
    let functions = Disassembler::new(&tools.nvdisasm).disassemble(&cubin)?;
    let (takes, spilled) = (BTreeMap::new(), BTreeMap::new());
    let (functions, ptx) = (&functions, Some(text));
    let code = Code { functions, sm: sm.number, takes: &takes, spilled: &spilled, ptx, bounded: None };
    Ok(Assembled { sm, cubin, kernels: audit(&code) })
}

/// What each access of a kernel became on each GPU, in the order of the source.
pub fn accesses(compiled: &Compiled, workload: &dyn Workload, assembled: &[Assembled]) -> Result<Vec<Access>> {
    let folder = kernels_folder().join("src");
    let source = folder.join(format!("{}.rs", workload.name()));
    let text = std::fs::read_to_string(&source).map_err(|error| Error::io("read", &source, error))?;
    let mut all: BTreeMap<(u32, String), Access> = BTreeMap::new();
    for Assembled { sm, kernels, .. } in assembled {
        let kernel = kernels.iter().find(|kernel| kernel.name == workload.name()).ok_or_else(|| {
            Error::new(format_args!("the machine code for {sm} has no function `{}`", workload.name()))
                .at(source.display())
                .fix("a kernel's entry point has the workload's name")
        })?;
        let mut counted: BTreeSet<(u32, &str)> = BTreeSet::new();
        for one in &kernel.accesses {
            let (Some(ptx), Some(line)) = (&one.ptx, one.ptx_line) else { continue };
            let opcode = ptx.split_whitespace().find(|word| !word.starts_with('@')).unwrap_or_default();
            let Some(form) = catalogue::forms().find(|form| form.ptx() == opcode) else { continue };
            let rust = |site: &Site| text.lines().nth(site.line as usize - 1).unwrap_or_default().trim();
            let sites = compiled.located.sites(line, &folder);
            let Some(place) = sites.iter().find(|site| calls(rust(site), &form, &text)) else { continue };
            let access = all.entry((place.line, opcode.to_owned())).or_insert_with(|| Access {
                rust: rust(place).to_owned(),
                place: format!("{}.rs:{}", workload.name(), place.line),
                ptx: ptx.clone(),
                ..Access::default()
            });
            if access.sass.last().is_none_or(|sass| sass.sm != *sm) {
                access.sass.push(Sass { sm: *sm, opcodes: BTreeMap::new(), notes: BTreeSet::new() });
            }
            access.count += usize::from(access.sass.len() == 1 && counted.insert((line, opcode)));
            let Some(sass) = access.sass.last_mut() else { continue };
            for opcode in &one.opcodes {
                *sass.opcodes.entry(opcode.clone()).or_default() += 1;
            }
            sass.notes.extend(one.words.iter().filter_map(|word| match &word.fate {
                Fate::Weakened(made) => Some(format!("ptxas makes `{}` {made} on this GPU", word.word)),
                Fate::Lost => Some(format!("ptxas leaves out `{}` on this GPU", word.word)),
                Fate::Kept | Fate::Default => None,
            }));
        }
    }
    Ok(all.into_values().collect())
}

/// Whether a line of the source has a call that can become that form: code near it may be inlined at the same place.
fn calls(line: &str, form: &Form, source: &str) -> bool {
    let method = match form.operation() {
        Operation::Load => ".read",
        Operation::Store => ".write",
        Operation::Other => return line.contains("prefetch"),
    };
    let Some((policy, _)) = line.split_once(method) else { return false };
    let name = policy.rsplit(|letter: char| !letter.is_alphanumeric() && letter != '_').next().unwrap_or_default();
    let constant = source.lines().find(|line| line.starts_with(&format!("const {name}:")));
    let markers =
        form.rust().split_once("::<").and_then(|(_, rest)| rest.split_once(">()")).map(|(markers, _)| markers);
    constant.zip(markers).is_none_or(|(constant, markers)| constant.contains(&format!("<{markers}>")))
}
