//! The audit of a module: what each kernel takes, its memory instructions, and what was found.

use std::collections::{BTreeMap, HashMap};

use ptx_sass::cubin::Takes;
use ptx_sass::flight::{Flight, THREADS, Unbound, with_bounds};
use ptx_sass::nvdisasm::SassFunction;

use crate::accesses::{self, Body, Origin, is_fence};
use crate::advice::Advice;
use crate::descriptor::Descriptors;
use crate::fences::Fences;
use crate::finding::{Finding, Kind};
use crate::machine::is_memory;
use crate::orders::Orders;
use crate::ptx::{Function, Module};
use crate::report::Kernel;
use crate::source::Text;

/// The machine code of a module, and what else is known of it.
#[derive(Clone, Copy, Debug)]
pub struct Code<'a> {
    /// Its functions.
    pub functions: &'a [SassFunction],
    /// The number of its GPU: 90 of `sm_90a`.
    pub sm: u32,
    /// What its cubin says of each function.
    pub takes: &'a BTreeMap<String, Takes>,
    /// Bytes that each kernel stores and loads for want of registers, where an assembler said it.
    pub spilled: &'a BTreeMap<String, u32>,
    /// The PTX that it was assembled from.
    pub ptx: Option<&'a Text>,
    /// The same module where the kernels have launch bounds that they lack.
    pub bounded: Option<&'a [SassFunction]>,
}

/// Audits the kernels of a module, and the functions that they call.
pub fn audit(code: &Code<'_>) -> Vec<Kernel> {
    let module = code.ptx.map(|text| Module::read(&text.ptx)).unwrap_or_default();
    let by_line = accesses::by_line(&module.functions);
    code.functions
        .iter()
        .filter(|one| !one.instructions.is_empty())
        .map(|one| kernel(code, &module, &by_line, one))
        .collect()
}

fn kernel(code: &Code<'_>, module: &Module, by_line: &HashMap<u32, Vec<Origin<'_>>>, own: &SassFunction) -> Kernel {
    let flight = Flight::of(&own.instructions);
    let function = module.function(&own.name);
    let is_entry = function.map_or(!own.name.starts_with('$'), |function| function.is_entry);
    let body = Body { code: &own.instructions, hot: &flight.hot, sm: code.sm, is_entry };
    let descriptors = Descriptors::of(&own.instructions, code.sm);
    let orders = Orders::of(&own.instructions, code.sm);
    let became = body.became(by_line, function);
    let lines = became.iter().map(|one| one.origin.statement.line);
    let mut places = code.ptx.map(|text| text.places(lines)).unwrap_or_default();
    let (mut all, mut findings) = (Vec::new(), body.undefined(&descriptors));
    let fences = Fences { orders: &orders, function, became: &became };
    for (number, one) in became.iter().enumerate() {
        let mut access = body.access(one, places.remove(&one.origin.statement.line), &descriptors, &orders);
        if is_fence(one.origin.statement) {
            let Some(words) = fences.words(number) else { continue };
            access.words = words;
        }
        findings.extend(body.findings(one, &access, &descriptors));
        all.push(access);
    }
    if code.ptx.is_none() {
        let memory = own.instructions.iter().filter(|one| is_memory(one));
        all.extend(memory.map(|one| accesses::alone(one, &flight.hot)));
    }
    let takes = code.takes.get(&own.name).copied().unwrap_or_default();
    let mut kernel = Kernel {
        name: own.name.clone(),
        registers: takes.registers,
        stack: takes.stack,
        spilled: code.spilled.get(&own.name).copied(),
        instructions: own.instructions.len(),
        hot_instructions: flight.hot.len(),
        has_loop: flight.has_loop,
        loads: flight.loads,
        in_flight: flight.in_flight,
        accesses: all,
        findings,
    };
    let advice = Advice { module, function, code: &own.instructions, hot: &flight.hot, became: &became };
    kernel.findings.extend(advice.findings(&kernel));
    kernel.findings.extend(launch_bounds(code, module, &kernel));
    kernel.findings.sort_by_key(|one| (one.kind.level(), one.ptx_line, one.address, one.kind));
    kernel
}

/// Whether launch bounds would bring more loads into flight.
fn launch_bounds(code: &Code<'_>, module: &Module, kernel: &Kernel) -> Option<Finding> {
    let with = code.bounded?.iter().find(|one| one.name == kernel.name)?;
    let with = Flight::of(&with.instructions);
    let lacks = match module.function(&kernel.name)?.threads {
        Some(_) => "`.minnctapersm 1`".to_owned(),
        None => format!("`.maxntid {THREADS}` and `.minnctapersm 1`"),
    };
    (with.in_flight > kernel.in_flight).then(|| Finding {
        kind: Kind::LaunchBounds,
        text: format!(
            "{} loads are in flight at once, and with {lacks} there would be {}",
            kernel.in_flight, with.in_flight
        ),
        ptx_line: None,
        address: None,
        hot: true,
    })
}

/// The PTX with launch bounds for those of these kernels that lack them, if some of their loads are not in flight with the
/// others: what [`Code::bounded`] is assembled from.
pub fn bounded(text: &Text, kernels: &[Kernel]) -> Option<String> {
    let module = Module::read(&text.ptx);
    let lacks = |function: &&Function| {
        let kernel = kernels.iter().find(|kernel| kernel.name == function.name);
        function.is_entry && function.blocks.is_none() && kernel.is_some_and(|kernel| kernel.in_flight < kernel.loads)
    };
    let lacking: Vec<Unbound> = module
        .functions
        .iter()
        .filter(lacks)
        .map(|function| Unbound { line: function.line, threads: function.threads })
        .collect();
    (!lacking.is_empty()).then(|| with_bounds(&text.ptx, &lacking))
}
