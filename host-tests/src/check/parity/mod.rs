//! Kernels written twice, in Rust with `ptx-intrinsics` and in CUDA C++, side by side in machine code of one assembler.

mod pairs;
mod report;
mod row;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use crate::tools::cuda_tools::CudaTools;
use crate::tools::device_build::DeviceBuild;
use crate::tools::disassembler::Disassembler;
use crate::tools::error::{Error, Result};
use crate::tools::nvcc::Nvcc;
use crate::tools::progress::Progress;
use crate::tools::ptx;
use crate::tools::ptxas::Assembler;
use crate::tools::resources::Resources;
use crate::tools::target::{PtxVersion, Sm};
use crate::tools::toolchain::DeviceToolchain;
pub use pairs::{BULK, KERNELS, PAIRS, Pair, WIDE, select};
use ptx_sass::hot_loop::{every_loop, hot_loop, moved};
use ptx_sass::in_flight::in_flight;
use ptx_sass::nvdisasm::SassInstruction;
pub use report::{PREFACE, Report, TIMES, markdown_line, with_times, with_times_of};
pub use row::{Bounds, Counts, Needs, Row, Side};

/// The GPUs that both are assembled for, each with the PTX ISA version that has all its hints.
pub const TARGETS: [(Sm, PtxVersion); 4] = [
    (Sm::new(80), PtxVersion::new(7, 4)),
    (Sm::new(90), PtxVersion::new(8, 1)),
    (WIDE, PtxVersion::new(8, 8)),
    (Sm::new(120), PtxVersion::new(8, 8)),
];

/// Compiles, assembles and counts these pairs for these GPUs.
pub fn measure(
    toolchain: &DeviceToolchain,
    tools: &CudaTools,
    targets: &[(Sm, PtxVersion)],
    wanted: &[&'static Pair],
    progress: &Progress,
) -> Result<Report> {
    let nvcc = tools.nvcc(progress)?;
    let machine = Machinery {
        assembler: Assembler::new(&tools.ptxas).option("-O3").option("-v"),
        disassembler: Disassembler::new(&tools.nvdisasm),
        folder: toolchain.machine().target().join("parity"),
        nvcc,
    };
    std::fs::create_dir_all(&machine.folder).map_err(|error| Error::io("create the folder", &machine.folder, error))?;
    let rust = targets.iter().map(|(sm, ptx)| machine.rust(toolchain, *sm, *ptx, progress));
    let rust: Vec<Module> = rust.collect::<Result<_>>()?;
    let cuda = machine.cuda(wanted, targets, progress)?;
    let mut rows = Vec::new();
    for (at, (sm, _)) in targets.iter().enumerate() {
        for pair in wanted.iter().filter(|pair| pair.first <= *sm) {
            let (rust, cuda) = (kernel(&rust[at], pair.kernel)?, kernel(&cuda[&(pair.source, *sm)], pair.kernel)?);
            let (rust, cuda) = (rust.beside(&cuda.side), cuda.beside(&rust.side));
            rows.push(Row { kernel: pair.kernel.to_owned(), sm: *sm, rust, cuda });
        }
    }
    let release = |(major, minor): (u32, u32)| format!("{major}.{minor}");
    Ok(Report {
        rustc: toolchain.version.clone(),
        ptxas: release(tools.release),
        nvcc: release(machine.nvcc.release),
        rows,
    })
}

/// The kernels of a module, by name.
struct Module {
    cubin: PathBuf,
    kernels: BTreeMap<String, Kernel>,
}

/// A kernel, and all its loops: what each has, and the loads that it has in flight.
struct Kernel {
    side: Side,
    loops: Vec<(Counts, usize)>,
}

impl Kernel {
    /// Beside a hot loop that moves less, and not a part of what this one's does, the loop of this kernel that moves the same, if it has
    /// one: it does the same, and the hot loop does more.
    fn beside(&self, other: &Side) -> Side {
        let (own, wanted) = (self.side.hot.bytes, other.hot);
        if own <= wanted.bytes || wanted.bytes == 0 || own.is_multiple_of(wanted.bytes) {
            return self.side;
        }
        let moves_the_same =
            |(counts, _): &&(Counts, usize)| (counts.bytes, counts.accesses) == (wanted.bytes, wanted.accesses);
        let same = self.loops.iter().filter(moves_the_same).min_by_key(|(counts, _)| counts.instructions);
        same.map_or(self.side, |(hot, in_flight)| Side { hot: *hot, in_flight: *in_flight, ..self.side })
    }
}

fn kernel<'m>(module: &'m Module, kernel: &str) -> Result<&'m Kernel> {
    module.kernels.get(kernel).ok_or_else(|| {
        Error::new(format_args!("there is no kernel {kernel} in the module")).at(module.cubin.display()).fix(format_args!(
            "define it in {PAIRS}, in Rust as a `ptx-kernel` function with #[unsafe(no_mangle)], in C++ as extern \"C\""
        ))
    })
}

struct Machinery {
    nvcc: Nvcc,
    assembler: Assembler,
    disassembler: Disassembler,
    folder: PathBuf,
}

impl Machinery {
    fn rust(&self, toolchain: &DeviceToolchain, sm: Sm, ptx: PtxVersion, progress: &Progress) -> Result<Module> {
        let _step = progress.step(format!("Compiling the kernels in Rust for {sm}"));
        let mut build = DeviceBuild::new(PAIRS, "parity", sm);
        build.ptx = Some(ptx);
        build.features.extend((sm >= BULK).then(|| "bulk".to_owned()));
        build.features.extend((sm >= WIDE).then(|| "wide".to_owned()));
        self.assemble(&build.build(toolchain)?, sm, &format!("rust-{sm}"))
    }

    /// Every file in CUDA C++ that a wanted kernel is in, for every GPU that has it.
    fn cuda(
        &self,
        wanted: &[&'static Pair],
        targets: &[(Sm, PtxVersion)],
        progress: &Progress,
    ) -> Result<BTreeMap<(&'static str, Sm), Module>> {
        let on = |sm: Sm| wanted.iter().filter(move |pair| pair.first <= sm).map(move |pair| (pair.source, sm));
        let all: BTreeSet<_> = targets.iter().flat_map(|(sm, _)| on(*sm)).collect();
        let bar = progress.bar(all.len() as u64, "Compiling the kernels in CUDA C++");
        let modules = all.into_par_iter().map(|(source, sm)| {
            let ptx = self.folder.join(format!("{source}-{sm}.ptx"));
            self.nvcc.ptx(&Path::new(PAIRS).join(format!("{source}.cu")), sm, &ptx)?;
            let module = self.assemble(&ptx, sm, &format!("{source}-{sm}"))?;
            bar.inc(1);
            Ok(((source, sm), module))
        });
        modules.collect()
    }

    fn assemble(&self, ptx: &Path, sm: Sm, name: &str) -> Result<Module> {
        let cubin = self.assembler.assemble(ptx, sm, &self.folder.join(format!("{name}.cubin")))??;
        let (resources, module) = (Resources::read(&cubin.printed), ptx::Module::read(ptx)?);
        let functions = self.disassembler.disassemble(&cubin.path)?;
        let kernels = functions.into_iter().filter_map(|function| {
            let needs = resources.iter().find(|needs| needs.kernel == function.name)?;
            let bounds = Bounds::of(module.function(&function.name)?);
            let side = Side::of(&function.instructions, Needs::of(needs), bounds);
            let loops = every_loop(&function.instructions).into_iter();
            let loops = loops.map(|body| (Counts::of(body.iter().copied()), in_flight(&body, true))).collect();
            Some((function.name, Kernel { side, loops }))
        });
        Ok(Module { kernels: kernels.collect(), cubin: cubin.path })
    }
}

impl Side {
    fn of(code: &[SassInstruction], needs: Needs, bounds: Bounds) -> Self {
        let (hot, kernel) = (hot_loop(code), Counts::of(code.iter()));
        let has_loop = hot.is_some();
        let hot = hot.unwrap_or_else(|| code.iter().collect());
        let in_flight = in_flight(&hot, has_loop);
        Side { hot: Counts::of(hot.into_iter()), has_loop, kernel, in_flight, needs, bounds }
    }
}

impl Bounds {
    fn of(kernel: &ptx::Function) -> Self {
        let head = || kernel.body.iter().map(|line| line.text.as_str()).take_while(|text| *text != "{");
        let number = |directive: &str| {
            let numbers = head().find_map(|text| text.strip_prefix(directive))?;
            numbers.split(',').map(|number| number.trim().parse::<u32>().ok()).product()
        };
        Bounds { threads: number(".maxntid "), blocks: number(".minnctapersm ") }
    }
}

impl Counts {
    fn of<'a>(code: impl Iterator<Item = &'a SassInstruction> + Clone) -> Self {
        let moved: Vec<u32> = code.clone().filter_map(moved).collect();
        Counts { instructions: code.count(), accesses: moved.len(), bytes: moved.iter().sum() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_that_do_the_same_are_compared() {
        let counts = |instructions, accesses, bytes| Counts { instructions, accesses, bytes };
        let side = |hot| Side { hot, in_flight: 1, ..Side::default() };
        let (outer, inner) = (counts(451, 86, 344), counts(139, 36, 144));
        let longer = counts(150, 36, 144);
        let kernel = Kernel { side: side(outer), loops: vec![(longer, 3), (inner, 4), (outer, 12)] };
        let beside = |hot| {
            let found = kernel.beside(&side(hot));
            (found.hot, found.in_flight)
        };
        assert_eq!(beside(counts(122, 36, 144)), (inner, 4));
        // Of other accesses, of a part, of more, of nothing.
        for other in [counts(122, 9, 144), counts(122, 43, 172), counts(900, 90, 400), counts(9, 0, 0)] {
            assert_eq!(beside(other), (outer, 1));
        }
    }
}
