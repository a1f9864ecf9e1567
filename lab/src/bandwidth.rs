//! Experiment A: copies and a triad, beside the driver's own copy.

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::bench::{Bench, LINE};
use super::images::{Language, Without};
use super::thresholds::Thresholds;
use super::variant::{Group, Variant, in_words};
use crate::device::{Argument, Asked, Fault, Memory};

/// Bytes that are drawn; a larger piece of memory has them over and over.
const DRAWN: u64 = 4 << 20;

/// What the triad multiplies by.
const FACTOR: f32 = 3.0;

/// Fills memory with floats near one: a machine may move zeros faster, or with less power.
fn draw(bench: &Bench<'_>, memory: &Memory, random: &mut StdRng) -> Asked<()> {
    let drawn = memory.bytes.min(DRAWN);
    let floats: Vec<f32> = (0..drawn / 4).map(|_| random.random_range(1.0..2.0)).collect();
    bench.repeat(memory, bytemuck::cast_slice(&floats))
}

/// The floats at the beginning, in the middle and at the end.
fn sample(bench: &Bench<'_>, memory: &Memory) -> Asked<Vec<f32>> {
    let each = (64 << 10).min(memory.bytes / 4 / LINE * LINE);
    let mut floats = Vec::new();
    for at in [0, memory.bytes / 2, memory.bytes - each] {
        let bytes = bench.device().read(memory.address + at, each as usize)?;
        floats.extend(bytes.chunks_exact(4).map(|four| f32::from_le_bytes([four[0], four[1], four[2], four[3]])));
    }
    Ok(floats)
}

/// The three pieces of memory, and what each kernel does to them.
struct Arrays {
    to: Memory,
    from: Memory,
    other: Memory,
}

impl Arrays {
    fn new(bench: &Bench<'_>, bytes: u64) -> Asked<Arrays> {
        let [to, from, other] = [(); 3].map(|()| bench.device().allocate(bytes));
        let arrays = Arrays { to: to?, from: from?, other: other? };
        let mut random = StdRng::seed_from_u64(bench.about().seed);
        draw(bench, &arrays.from, &mut random)?;
        draw(bench, &arrays.other, &mut random)?;
        Ok(arrays)
    }

    /// Puts a kernel's work on the stream; without a language it is the driver's own copy.
    fn start(&self, bench: &Bench<'_>, language: Option<Language>, kernel: &str) -> Asked<()> {
        let [to, from, other] = [&self.to, &self.from, &self.other].map(|memory| Argument::U64(memory.address));
        let bytes = self.to.bytes;
        let (count, arguments) = match (language, kernel) {
            (None, _) => return bench.device().copy(self.to.address, self.from.address, bytes),
            (_, "triad") => (bytes / 16, vec![to, from, other, Argument::F32(FACTOR), Argument::U64(bytes / 16)]),
            (_, copy) => {
                let width = copy.strip_prefix("copy").and_then(|bits| bits.parse::<u64>().ok()).map(|bits| bits / 8);
                let count = bytes / width.ok_or_else(|| Fault::new(format_args!("{copy} has no width")))?;
                (count, vec![to, from, Argument::U32(count as u32)])
            }
        };
        let of = (language.unwrap_or(Language::Rust), Without::Nothing);
        // SAFETY: each piece of memory has so many bytes.
        unsafe { bench.launch(of, kernel, bench.grid(count), &arguments) }
    }

    /// Runs it once, and looks at what it wrote.
    fn check(&self, bench: &Bench<'_>, language: Option<Language>, kernel: &str) -> Asked<()> {
        bench.device().fill(self.to.address, 0, self.to.bytes)?;
        self.start(bench, language, kernel)?;
        let [found, from, other] = [&self.to, &self.from, &self.other].map(|memory| sample(bench, memory));
        let (found, from, other) = (found?, from?, other?);
        let expected = |at: usize| if kernel == "triad" { FACTOR.mul_add(other[at], from[at]) } else { from[at] };
        // A triad may round twice.
        let near = |at: usize| (found[at] - expected(at)).abs() <= if kernel == "triad" { 1e-6 } else { 0.0 };
        match (0..found.len()).find(|at| !near(*at)) {
            None => Ok(()),
            Some(at) => Err(Fault::new(format_args!("it wrote {} and not {}", found[at], expected(at)))),
        }
    }
}

pub(super) fn bandwidth(bench: &Bench<'_>, _: &Thresholds, group: &mut Group<'_>) -> Asked<()> {
    let about = bench.about();
    let times = if about.quick { 1 } else { 32 };
    let bytes = (times * about.l2).next_power_of_two().min(about.memory / 8) / LINE * LINE;
    let arrays = Arrays::new(bench, bytes)?;
    let kernels = ["copy32", "copy64", "copy128", "triad"];
    let written = |language: Language| kernels.map(|kernel| (Some(language), kernel));
    let all = [(None, "memcpy")].into_iter().chain(written(Language::Rust)).chain(written(Language::Cuda));
    let mut variants = Vec::new();
    for (language, kernel) in all {
        // A profiler would count that too.
        let wrong = if bench.is_counted() { None } else { arrays.check(bench, language, kernel).err() };
        if let Some(fault) = wrong.clone().filter(|fault| fault.lost) {
            return Err(fault);
        }
        let labels = [
            ("kernel", kernel.to_owned()),
            ("language", language.map_or("driver", in_words).to_owned()),
            ("bytes", bytes.to_string()),
        ];
        let (arrays, moved) = (&arrays, if kernel == "triad" { 3 * bytes } else { 2 * bytes });
        let run = move || {
            if let Some(wrong) = &wrong {
                return Err(wrong.clone());
            }
            let seconds = bench.device().time(|| arrays.start(bench, language, kernel))?;
            Ok(vec![("bytes_per_second", moved as f64 / seconds)])
        };
        // The driver's copy is no kernel, and a profiler has nothing to say of it.
        let variant = Variant::new(&labels, run).baseline_if(language != Some(Language::Cuda));
        variants.push(variant.profiled_if(language.is_some()));
    }
    group(variants)
}
