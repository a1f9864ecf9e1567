//! From kernels to machine code: the crate compiled once, for a GPU that has every form, and assembled for each GPU.

use std::collections::HashMap;
use std::fmt::Write;
use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;

use super::entry::Entry;
use super::plan::{TRIALS, prelude};
use super::room::{Room, SLOT, THREADS};
use host_tests::check::forms::write_package;
use ptx_build::command::Machine;
use ptx_build::device_build::DeviceBuild;
use ptx_build::error::{Error, Result};
use ptx_build::progress::Progress;
use ptx_build::ptx::{Function, Module};
use ptx_build::ptxas::{On, Rejected};
use ptx_build::target::{PtxVersion, Sm};
use ptx_build::toolchain::DeviceToolchain;
use workloads::image::{Image, assembled};

/// What the kernels are compiled for: a GPU that has every form.
const BUILT_FOR: Sm = Sm::OF_EVERY_FORM;

/// Kernels that are compiled at a time.
const COMPILED: usize = 100;

/// Compilers that run side by side at most: each wants a gigabyte.
const COMPILERS: usize = 8;

/// Kernels that are assembled at a time: the assembler's time grows faster than a module.
const ASSEMBLED: usize = 50;

/// Some kernels' PTX.
pub struct Part<'p, E> {
    /// The kernels.
    pub kernels: &'p [E],
    /// Their PTX.
    pub module: Module,
}

/// Compiles kernels under that name.
///
/// Builds in different lanes may run at the same time.
pub fn compile<'p, E: Entry>(
    name: &str,
    lane: usize,
    kernels: &'p [E],
    toolchain: &DeviceToolchain,
) -> Result<Part<'p, E>> {
    let folder = Machine::current().target().join("suite").join(name);
    let source: String =
        [prelude(), E::common().to_owned()].into_iter().chain(kernels.iter().map(Entry::source)).collect();
    // Packages that share a name and a target folder replace each other's builds, wherever they lie.
    let package = format!("suite-{name}");
    write_package(&folder, &package, &source)?;
    let build = DeviceBuild::of_every_form(folder, package, BUILT_FOR);
    let (ptx, _) = build.build_in_lane(toolchain, lane)?;
    Ok(Part { kernels, module: Module::read(&ptx)? })
}

/// Kernels as they are compiled together, numbered.
pub fn parts<E>(kernels: &[E]) -> Vec<(usize, &[E])> {
    kernels.chunks(COMPILED).enumerate().collect()
}

fn lanes() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from).min(COMPILERS)
}

/// Compiles these kernels, or one of every `sample` parts of them, and assembles each for every GPU that has its forms: the
/// images of each GPU.
pub fn images<E: Entry>(
    kernels: &[E],
    sample: usize,
    on: &[On],
    toolchain: &DeviceToolchain,
    progress: &Progress,
) -> Result<Vec<Vec<Image>>> {
    let mut parts = parts(kernels);
    parts.retain(|(number, _)| number % sample == 0);
    let (lanes, failed) = (lanes(), &AtomicBool::new(false));
    let bar = &progress.bar(parts.len() as u64, "Compiling and assembling the kernels");
    // A part has the same lane each time: another lane does not have what was compiled of it before.
    let make = &|parts: Vec<(usize, &[E])>, lane: usize| -> Result<Vec<(usize, Vec<Vec<Image>>)>> {
        let mut made = Vec::new();
        for (number, kernels) in parts.into_iter().take_while(|_| !failed.load(Ordering::Relaxed)) {
            let part = compile(&format!("part-{number}"), lane, kernels, toolchain)?;
            made.push((number, on.iter().map(|on| part.assemble(on)).collect::<Result<_>>()?));
            bar.inc(1);
        }
        Ok(made)
    };
    let mut made = std::thread::scope(|scope| {
        let stop = |_: &Error| failed.store(true, Ordering::Relaxed);
        let in_lane = |lane: usize| {
            let own = parts.iter().skip(lane).step_by(lanes).copied().collect();
            scope.spawn(move || make(own, lane).inspect_err(stop))
        };
        let lanes: Vec<_> = (0..lanes).map(in_lane).collect();
        let made = lanes.into_iter().map(|lane| lane.join().expect("a lane does not panic"));
        made.collect::<Result<Vec<_>>>()
    })?
    .concat();
    made.sort_by_key(|(number, _)| *number);
    let of = |at: usize| made.iter().flat_map(|(_, images)| images[at].clone()).collect();
    Ok((0..on.len()).map(of).collect())
}

/// Whether a GPU, and the version of its assembler, have the forms of a kernel.
pub(super) fn has(kernel: &impl Entry, on: &On) -> bool {
    let (_, ptx) = kernel.needs();
    kernel.target(on.sm).is_some() && PtxVersion::of_number(ptx) <= on.version
}

impl<E: Entry> Part<'_, E> {
    /// Machine code for a GPU, of the kernels whose forms it has.
    pub fn assemble(&self, on: &On) -> Result<Vec<Image>> {
        let kernels: Vec<&E> = self.kernels.iter().filter(|kernel| has(*kernel, on)).collect();
        let (plain, named): (Vec<&E>, Vec<&E>) =
            kernels.into_iter().partition(|kernel| kernel.target(on.sm) == Some(on.sm));
        let parts: Vec<&[&E]> = plain.chunks(ASSEMBLED).chain(named.chunks(ASSEMBLED)).collect();
        let images: Vec<Vec<Image>> =
            parts.par_iter().map(|kernels| self.assemble_taken(kernels, on)).collect::<Result<_>>()?;
        Ok(images.concat())
    }

    /// An older assembler may refuse what the ISA says that it has: 13.0 does not know `membar.proxy.async`. Its images go
    /// without these kernels, and the report says so of their forms.
    fn assemble_taken(&self, kernels: &[&E], on: &On) -> Result<Vec<Image>> {
        match self.assemble_some(kernels, on)? {
            Ok(image) => Ok(vec![image]),
            Err(rejected) if on.version >= PtxVersion::OF_EVERY_FORM => {
                Err(Error::new(rejected).fix("see what the crate emits: `cargo xtask forms --check`"))
            }
            Err(_) if kernels.len() == 1 => Ok(Vec::new()),
            Err(_) => {
                let (one, other) = kernels.split_at(kernels.len() / 2);
                Ok([self.assemble_taken(one, on)?, self.assemble_taken(other, on)?].concat())
            }
        }
    }

    fn assemble_some(&self, kernels: &[&E], on: &On) -> Result<Result<Image, Rejected>> {
        let target = kernels.first().and_then(|kernel| kernel.target(on.sm)).unwrap_or(on.sm);
        let cubin = assembled(&self.text(kernels, target, on.version)?, target, on)?;
        let names = || kernels.iter().map(|kernel| kernel.name().to_owned()).collect();
        Ok(cubin.map(|cubin| Image { kernels: names(), cubin }))
    }

    /// The module of some of the kernels, for a GPU.
    pub fn text(&self, kernels: &[&E], sm: Sm, version: PtxVersion) -> Result<String> {
        let functions: HashMap<&str, &Function> =
            self.module.functions.iter().map(|function| (function.name.as_str(), function)).collect();
        let mut text = format!(".version {version}\n.target {sm}\n.address_size 64\n{}", variables(kernels));
        for kernel in kernels {
            for name in kernel.functions() {
                let function = functions.get(name.as_str()).ok_or_else(|| {
                    Error::new("the compiler made no such kernel").at(&name).fix("look at the generated crate")
                })?;
                write_function(&mut text, kernel.room(), function);
            }
        }
        Ok(text)
    }
}

/// Bytes of the variable in the constant bank.
pub(super) const CONSTANTS: usize = TRIALS * THREADS * SLOT;

/// The variables that the kernels name, one for all of them.
fn variables<E: Entry>(kernels: &[&E]) -> String {
    let has = |room| kernels.iter().any(|kernel| kernel.room() == room);
    let declared = [
        (".shared", "shared", kernels.iter().map(|kernel| kernel.shared()).max().unwrap_or_default()),
        // The host fills these; of others the assembler knows that nobody does.
        (".visible .const", "constants", if has(Room::Const) { CONSTANTS } else { 0 }),
        (".visible .const", "tensor_map", if has(Room::ConstTensorMap) { 128 } else { 0 }),
    ];
    let declare =
        |(space, name, bytes): (&str, &str, usize)| format!("{space} .align 128 .b8 suite_{name}[{bytes}];\n");
    declared.into_iter().filter(|(.., bytes)| *bytes > 0).map(declare).collect()
}

/// Rust has no word for the size of a cluster, nor for the alignment that a parameter needs which is a tensor map.
fn write_function(text: &mut String, room: Room, function: &Function) {
    let mut in_header = true;
    for line in &function.body {
        if in_header && line.text == "{" {
            in_header = false;
            if room.is_of_cluster() {
                text.push_str(".explicitcluster\n.reqnctapercluster 2, 1, 1\n");
            }
        }
        let aligned = in_header && room == Room::EntryTensorMap;
        let line = if aligned { line.text.replace(".align 16 .b8", ".align 64 .b8") } else { line.text.clone() };
        writeln!(text, "{line}").expect("a string takes all");
    }
}
