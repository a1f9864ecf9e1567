//! Experiment K: kernels in Rust and the same in CUDA C++, which `cargo xtask parity` compares by their instructions, by time.

mod case;
mod compared;
mod data;
mod table;

use std::cell::Cell;

use super::bench::Bench;
use super::images::{Language, Without};
use super::thresholds::Thresholds;
use super::variant::{Group, Variant, in_words};
use crate::device::{Argument, Asked, Fault, Memory};
use case::{Case, Value, Work};
use compared::Outputs;
use data::Drawer;
use table::{On, PAIRS};

/// The kernels of the pairs, by name.
pub fn names() -> impl Iterator<Item = &'static str> {
    PAIRS.iter().map(|(kernel, _)| *kernel)
}

/// A pair on the GPU.
struct OnGpu<'b> {
    bench: &'b Bench<'b>,
    kernel: &'static str,
    case: Case,
    memory: Vec<Memory>,
    launches: Cell<u64>,
}

impl<'b> OnGpu<'b> {
    /// With memory that has what it should.
    fn new(bench: &'b Bench<'b>, kernel: &'static str, case: Case, drawer: &Drawer) -> Asked<OnGpu<'b>> {
        let memory: Vec<Memory> =
            case.memory.iter().map(|piece| bench.device().allocate(piece.bytes)).collect::<Asked<_>>()?;
        let pair = OnGpu { bench, kernel, case, memory, launches: Cell::new(0) };
        pair.put(drawer, |_| true)?;
        Ok(pair)
    }

    /// Puts what they have at first into some pieces of memory.
    fn put(&self, drawer: &Drawer, wanted: impl Fn(&case::Piece) -> bool) -> Asked<()> {
        let pieces = self.case.memory.iter().zip(&self.memory).enumerate();
        let mut wanted = pieces.filter(|(_, (piece, _))| wanted(piece));
        wanted.try_for_each(|(number, (piece, memory))| drawer.put(self.bench, memory, &piece.first, number))
    }

    fn argument(&self, value: &Value) -> Asked<Argument> {
        let turn = self.launches.get() + 1;
        Ok(match value {
            Value::At(number) => Argument::U64(self.memory[*number].address),
            Value::Map(number, matrix) => {
                Argument::Bytes(matrix.encoded(self.memory[*number].address).map_err(Fault::new)?[..].into())
            }
            Value::U32(number) => Argument::U32(*number),
            Value::U64(number) => Argument::U64(*number),
            Value::F32(number) => Argument::F32(*number),
            Value::Turn32 => Argument::U32(turn as u32),
            Value::Turn64 => Argument::U64(u64::MAX - turn),
        })
    }

    /// Makes ready what has to be zero before a launch.
    fn make_ready(&self) -> Asked<()> {
        let pieces = self.case.memory.iter().zip(&self.memory).filter(|(piece, _)| piece.again);
        pieces.into_iter().try_for_each(|(_, memory)| self.bench.device().fill(memory.address, 0, memory.bytes))
    }

    /// Puts a kernel's work on the stream; without a language it is the driver's own copy.
    fn start(&self, language: Option<Language>, arguments: &[Argument]) -> Asked<()> {
        let Some(language) = language else {
            let [to, from] = [0, 1].map(|number| &self.memory[number]);
            return self.bench.device().copy(to.address, from.address, to.bytes);
        };
        // SAFETY: the arguments are those of the table, which is made by what the kernel says.
        unsafe { self.bench.launch((language, Without::Nothing), self.kernel, self.case.shape, arguments) }
    }

    fn arguments(&self) -> Asked<Vec<Argument>> {
        let arguments = self.case.values.iter().map(|value| self.argument(value)).collect();
        self.launches.set(self.launches.get() + 1);
        arguments
    }

    /// What is written to memory as it is at first.
    fn outputs(&self, language: Option<Language>, drawer: &Drawer) -> Asked<Outputs> {
        self.put(drawer, |piece| piece.then != case::Then::Unseen)?;
        self.make_ready()?;
        self.start(language, &self.arguments()?)?;
        let pieces = self.case.memory.iter().zip(&self.memory);
        let seen = pieces.filter(|(piece, _)| piece.then != case::Then::Unseen);
        let read = |(piece, memory): (&case::Piece, &Memory)| {
            Ok((piece.then, self.bench.device().read(memory.address, memory.bytes as usize)?))
        };
        Outputs::new(seen.map(read).collect::<Asked<_>>()?)
    }

    /// The time of one launch.
    fn time(&self, language: Option<Language>) -> Asked<Vec<(&'static str, f64)>> {
        self.make_ready()?;
        self.bench.flush()?;
        let arguments = self.arguments()?;
        let seconds = self.bench.device().time(|| self.start(language, &arguments))?;
        let (rate, done) = match self.case.work {
            Work::Moves(bytes) => ("bytes_per_second", bytes),
            Work::Computes(operations) => ("operations_per_second", operations),
        };
        Ok(vec![("seconds", seconds), (rate, done as f64 / seconds)])
    }
}

pub(super) fn beside(bench: &Bench<'_>, _: &Thresholds, group: &mut Group<'_>) -> Asked<()> {
    // It has no case for a profiler: what it asks is told by time.
    if bench.is_counted() {
        return Ok(());
    }
    let (drawer, about) = (Drawer::default(), bench.about());
    let on = On { quick: about.quick, processors: about.processors.into() };
    for (kernel, case) in PAIRS {
        if !bench.has(Language::Rust, Without::Nothing, kernel) {
            continue;
        }
        if bench.is_late() {
            return Err(Fault::new("its time was over"));
        }
        pair(bench, kernel, case(on), &drawer, group)?;
    }
    Ok(())
}

/// Measures a pair. That one cannot be measured is a failure of its own, and not of those after it.
fn pair(bench: &Bench<'_>, kernel: &'static str, case: Case, drawer: &Drawer, group: &mut Group<'_>) -> Asked<()> {
    let (size, is_copy) = (case.size.clone(), case.is_copy);
    let labels = |language: Option<Language>| {
        let language = language.map_or("driver", in_words).to_owned();
        [("kernel", kernel.to_owned()), ("size", size.clone()), ("language", language)]
    };
    let of = [Some(Language::Rust), Some(Language::Cuda), None];
    let of = of.into_iter().filter(|language| language.is_some() || is_copy);
    let here = match OnGpu::new(bench, kernel, case, drawer) {
        Ok(here) => here,
        Err(fault) if fault.lost => return Err(fault),
        Err(fault) => {
            let failed = of.map(|language| {
                let fault = fault.clone();
                Variant::new(&labels(language), move || Err(fault.clone()))
            });
            return group(failed.collect());
        }
    };
    let (mut rust, mut variants) = (None::<Asked<Outputs>>, Vec::new());
    for language in of {
        let found = here.outputs(language, drawer);
        let wrong = match (&rust, &found) {
            (_, Err(fault)) => Some(fault.clone()),
            (Some(Ok(rust)), Ok(found)) => found.differ_from(rust).map(Fault::new),
            _ => None,
        };
        if let Some(fault) = wrong.clone().filter(|fault| fault.lost) {
            return Err(fault);
        }
        rust.get_or_insert(found);
        let here = &here;
        let run = move || match &wrong {
            Some(wrong) => Err(wrong.clone()),
            None => here.time(language),
        };
        variants.push(Variant::new(&labels(language), run).baseline_if(language == Some(Language::Rust)));
    }
    // Gigabytes, of which nobody needs more.
    drop(rust);
    group(variants)
}
