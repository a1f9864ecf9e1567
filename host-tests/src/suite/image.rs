//! From kernels to machine code: the crate compiled once, for a GPU that has every form, and assembled for each GPU.

use std::collections::HashMap;
use std::fmt::Write;
use std::path::PathBuf;

use rayon::prelude::*;

use super::plan::{Kernel, TRIALS, source};
use super::trial::{Room, SLOT, THREADS};
use crate::command::Machine;
use crate::device_build::DeviceBuild;
use crate::error::{Error, Result};
use crate::forms::write_package;
use crate::progress::Progress;
use crate::ptx::{Function, Module};
use crate::ptxas::On;
use crate::target::{PtxVersion, Sm};
use crate::toolchain::DeviceToolchain;

/// What the kernels are compiled for: a GPU that has every form.
const BUILT_FOR: Sm = Sm::new(100);

/// Kernels that are compiled at a time.
const COMPILED: usize = 100;

/// Compilers that run side by side at most: each wants a gigabyte.
const COMPILERS: usize = 8;

/// Kernels that are assembled at a time: the assembler's time grows faster than a module.
const ASSEMBLED: usize = 50;

/// Some kernels' PTX.
pub struct Part<'p> {
    /// The kernels.
    pub kernels: &'p [Kernel],
    /// Their PTX.
    pub module: Module,
}

/// Compiles kernels under that name.
///
/// Builds in different lanes may run at the same time.
pub fn compile<'p>(name: &str, lane: usize, kernels: &'p [Kernel], toolchain: &DeviceToolchain) -> Result<Part<'p>> {
    let folder = Machine::current().target().join("suite").join(name);
    write_package(&folder, "suite", &source(kernels))?;
    let mut build = DeviceBuild::new(folder, "suite", BUILT_FOR);
    // Volatile local memory is newer than what many a compiler writes.
    (build.ptx, build.gates) = (Some(PtxVersion::new(8, 8)), Some(PtxVersion::new(9, 1)));
    let (ptx, _) = build.build_in_lane(toolchain, lane)?;
    Ok(Part { kernels, module: Module::read(&ptx)? })
}

/// Machine code of some kernels.
#[derive(Clone, Debug)]
pub struct Image {
    /// The kernels' names.
    pub kernels: Vec<String>,
    /// The cubin.
    pub cubin: Vec<u8>,
}

/// Compiles all of these kernels, and assembles each for every GPU that has its forms.
pub fn images(
    kernels: &[Kernel],
    on: &[On],
    toolchain: &DeviceToolchain,
    progress: &Progress,
) -> Result<Vec<(Sm, Vec<Image>)>> {
    let parts: Vec<(usize, &[Kernel])> = kernels.chunks(COMPILED).enumerate().collect();
    let lanes = std::thread::available_parallelism().map_or(1, usize::from).min(COMPILERS);
    let bar = progress.bar(parts.len() as u64, "Compiling and assembling the kernels");
    let of_lane = &|lane: usize| -> Result<Vec<(usize, Vec<Vec<Image>>)>> {
        let own = parts.iter().filter(|(number, _)| number % lanes == lane);
        let made = own.map(|&(number, kernels)| {
            let part = compile(&format!("part-{number}"), lane, kernels, toolchain)?;
            let images = on.iter().map(|on| part.assemble(on)).collect::<Result<_>>()?;
            bar.inc(1);
            Ok((number, images))
        });
        made.collect()
    };
    let mut made = std::thread::scope(|scope| {
        let lanes: Vec<_> = (0..lanes).map(|lane| scope.spawn(move || of_lane(lane))).collect();
        let made = lanes.into_iter().map(|lane| lane.join().expect("a lane does not panic"));
        made.collect::<Result<Vec<_>>>()
    })?
    .concat();
    made.sort_by_key(|(number, _)| *number);
    let of = |at: usize| made.iter().flat_map(|(_, images)| images[at].clone()).collect();
    Ok(on.iter().enumerate().map(|(at, on)| (on.sm, of(at))).collect())
}

impl Part<'_> {
    /// Machine code for a GPU, of the kernels whose forms it has.
    pub fn assemble(&self, on: &On) -> Result<Vec<Image>> {
        let has = |kernel: &&Kernel| {
            let (sm, ptx) = kernel.needs;
            sm <= on.sm.number && PtxVersion::of_number(ptx) <= on.version
        };
        let kernels: Vec<&Kernel> = self.kernels.iter().filter(has).collect();
        kernels.par_chunks(ASSEMBLED).map(|kernels| self.assemble_some(kernels, on)).collect()
    }

    fn assemble_some(&self, kernels: &[&Kernel], on: &On) -> Result<Image> {
        let text = self.text(kernels, on.sm, on.version)?;
        let scratch = tempfile::tempdir().map_err(|error| Error::io("create a folder in", &std::env::temp_dir(), error))?;
        let out: PathBuf = scratch.path().join("suite.cubin");
        let cubin = on.assembler.assemble_text(&text, on.sm, &out)?.map_err(|rejected| {
            Error::new(rejected).fix("see what the crate emits: `cargo xtask forms --check`")
        })?;
        let cubin = std::fs::read(&cubin.path).map_err(|error| Error::io("read", &cubin.path, error))?;
        Ok(Image { kernels: kernels.iter().map(|kernel| kernel.name.clone()).collect(), cubin })
    }

    /// The module of some of the kernels, for a GPU.
    pub fn text(&self, kernels: &[&Kernel], sm: Sm, version: PtxVersion) -> Result<String> {
        let functions: HashMap<&str, &Function> =
            self.module.functions.iter().map(|function| (function.name.as_str(), function)).collect();
        let mut text = format!(".version {version}\n.target {sm}\n.address_size 64\n{}", variables(kernels));
        for kernel in kernels {
            for name in kernel.functions() {
                let function = functions.get(name.as_str()).ok_or_else(|| {
                    Error::new("the compiler made no such kernel").at(&name).fix("look at the generated crate")
                })?;
                write_function(&mut text, kernel, function);
            }
        }
        Ok(text)
    }
}

/// Bytes of the variable in the constant bank.
pub(super) const CONSTANTS: usize = TRIALS * THREADS * SLOT;

/// The variables that the kernels name, one for all of them.
fn variables(kernels: &[&Kernel]) -> String {
    let bytes = |rooms: &[Room]| {
        let wanted = kernels.iter().filter(|kernel| rooms.contains(&kernel.room));
        wanted.map(|kernel| kernel.bytes()).max()
    };
    let shared = bytes(&[Room::Shared, Room::Cluster]);
    let constants = bytes(&[Room::Const]).map(|_| CONSTANTS);
    let tensor_map = bytes(&[Room::ConstTensorMap]).map(|_| 128);
    let declared = [("shared", "shared", shared), ("const", "constants", constants), ("const", "tensor_map", tensor_map)];
    let declare = |(space, name, bytes): (&str, &str, Option<usize>)| {
        Some(format!(".{space} .align 128 .b8 suite_{name}[{}];\n", bytes?))
    };
    declared.into_iter().filter_map(declare).collect()
}

/// Rust has no word for the size of a cluster, nor for the alignment that a parameter needs which is a tensor map.
fn write_function(text: &mut String, kernel: &Kernel, function: &Function) {
    let mut in_header = true;
    for line in &function.body {
        if in_header && line.text == "{" {
            in_header = false;
            if kernel.room == Room::Cluster {
                text.push_str(".explicitcluster\n.reqnctapercluster 2, 1, 1\n");
            }
        }
        let aligned = in_header && kernel.room == Room::EntryTensorMap;
        let line = if aligned { line.text.replace(".align 16 .b8", ".align 64 .b8") } else { line.text.clone() };
        writeln!(text, "{line}").expect("a string takes all");
    }
}

