//! Kernels that have fewer loads in flight than they would have with launch bounds.

use std::path::Path;

use ptx_sass::flight::{Flight, THREADS, Unbound, with_bounds};
use ptx_sass::nvdisasm::SassFunction;

use crate::disassembler::Disassembler;
use crate::error::Result;
use crate::ptx::{Function, Module};
use crate::ptxas::{Assembler, Cubin};

/// A kernel without `.minnctapersm`, whose loads are not all in flight at once.
struct Short<'m> {
    kernel: &'m Function,
    threads: Option<u32>,
    flight: Flight,
}

/// A warning for each kernel of a module that would have more loads in flight with launch bounds. They are counted in the machine
/// code without and with bounds, so it takes an `nvdisasm` beside the assembler.
pub(crate) fn warnings(assembler: &Assembler, ptx: &str, cubin: &Cubin) -> Result<Vec<String>> {
    let module = Module::parse(ptx)?;
    let unbound: Vec<(&Function, Option<u32>)> = module.functions.iter().filter_map(unbound).collect();
    let nvdisasm = assembler.path().with_file_name("nvdisasm");
    if unbound.is_empty() || !nvdisasm.is_file() {
        return Ok(Vec::new());
    }
    let disassembler = Disassembler::new(nvdisasm);
    let code = disassembler.disassemble(&cubin.path)?;
    let short: Vec<Short<'_>> = unbound
        .into_iter()
        .filter_map(|(kernel, threads)| Some(Short { kernel, threads, flight: flight(&code, &kernel.name)? }))
        .filter(|short| short.flight.is_short())
        .collect();
    if short.is_empty() {
        return Ok(Vec::new());
    }
    let entries: Vec<Unbound> =
        short.iter().map(|short| Unbound { line: short.kernel.line, threads: short.threads }).collect();
    let bound = cubin.path.with_extension("bound.cubin");
    // Bounds that the assembler refuses would help nobody.
    let Ok(with) = assembler.assemble_text(&with_bounds(ptx, &entries), cubin.sm, &bound)? else {
        return Ok(Vec::new());
    };
    let with = disassembler.disassemble(&with.path);
    remove(&bound);
    let with = with?;
    Ok(short.iter().filter_map(|short| short.message(flight(&with, &short.kernel.name)?.in_flight)).collect())
}

impl Short<'_> {
    /// The message, if `with` loads are in flight with bounds.
    fn message(&self, with: usize) -> Option<String> {
        let (Flight { loads, in_flight, .. }, threads) = (&self.flight, self.threads.unwrap_or(THREADS));
        (with > *in_flight).then(|| {
            format!(
                "{} has {in_flight} of its {loads} loads in flight at once, and would have {with} with launch bounds; write \
                 #[launch_bounds({threads}, 1)]: so many threads in a block, and how many blocks have to fit on a multiprocessor",
                self.kernel.demangled()
            )
        })
    }
}

fn flight(code: &[SassFunction], kernel: &str) -> Option<Flight> {
    code.iter().find(|one| one.name == kernel).map(|one| Flight::of(&one.instructions))
}

/// An entry without `.minnctapersm`, and the threads of a block that it names.
fn unbound(function: &Function) -> Option<(&Function, Option<u32>)> {
    let head = || function.body.iter().map(|line| line.text.as_str()).take_while(|text| !text.starts_with('{'));
    let number = |text: &str| -> Option<u32> {
        let rest = text.strip_prefix(".maxntid ").or_else(|| text.strip_prefix(".reqntid "))?;
        rest.split(',').map(|number| number.trim().parse::<u32>().ok()).product()
    };
    let is_bound = head().any(|text| text.starts_with(".minnctapersm"));
    (function.is_entry && !is_bound).then(|| (function, head().find_map(number)))
}

/// A file that stays in `OUT_DIR` harms nobody.
fn remove(file: &Path) {
    let _ = std::fs::remove_file(file);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bounds_of_an_entry_are_read() {
        let ptx = "\
.version 8.0
.target sm_80
.visible .entry plain()
{
ret;
}
.visible .entry threads(
.param .u64 p
)
.maxntid 16, 8, 2
{
ret;
}
.visible .entry both()
.maxntid 256
.minnctapersm 2
{
ret;
}
.func called()
{
ret;
}
";
        let module = Module::parse(ptx).expect("a module");
        let found: Vec<_> = module.functions.iter().filter_map(unbound).collect();
        let found: Vec<_> = found.iter().map(|(function, threads)| (function.name.as_str(), *threads)).collect();
        assert_eq!(found, [("plain", None), ("threads", Some(256))]);
    }
}
