//! The experiments, each as its variants: what is done to the GPU, and what is read from it.

use ptx_intrinsics::caching::{CachePolicy, L2EvictFirst, L2EvictLast, L2EvictNormal, L2EvictUnchanged};

use super::bench::{Bench, LINE, Places, Sweep};
use super::images::{CLUSTER, Language, WORKED, Without};
use super::line::Labels;
use super::measure::{Case, Reading};
use super::statistics::median;
use super::thresholds::{Cut, Thresholds};
use launch::device::{Argument, Asked, Fault, Memory};
use launch::gpu;
use workloads::{self, Input, Problem, Workload};

/// One variant of an experiment.
pub struct Variant<'v> {
    labels: Labels,
    baseline: bool,
    /// Whether a profiler looks at it too.
    pub profiled: bool,
    /// Does it once.
    pub run: Box<dyn Fn() -> Asked<Vec<Reading>> + 'v>,
}

impl Case for Variant<'_> {
    fn labels(&self) -> &Labels {
        &self.labels
    }

    fn is_baseline(&self) -> bool {
        self.baseline
    }
}

impl<'v> Variant<'v> {
    fn new(labels: &[(&str, String)], run: impl Fn() -> Asked<Vec<Reading>> + 'v) -> Self {
        let labels = labels.iter().map(|(label, value)| ((*label).to_owned(), value.clone())).collect();
        Variant { labels, baseline: false, profiled: false, run: Box::new(run) }
    }

    /// It is measured twice, to show the noise.
    fn baseline_if(self, baseline: bool) -> Self {
        Variant { baseline, ..self }
    }

    fn profiled_if(self, profiled: bool) -> Self {
        Variant { profiled, ..self }
    }
}

/// Measures some variants, which share their memory, one among the other.
pub type Group<'s> = dyn FnMut(Vec<Variant<'_>>) -> Asked<()> + 's;

/// An experiment.
pub struct Experiment {
    /// Its letter.
    pub letter: char,
    /// What it is about.
    pub title: &'static str,
    /// Makes its variants, group by group.
    pub run: fn(&Bench<'_>, &Thresholds, &mut Group<'_>) -> Asked<()>,
}

/// All of them, in their order.
pub const ALL: [Experiment; 10] = [
    Experiment { letter: 'A', title: "bandwidth of copies, beside the driver's own and nvcc's", run: bandwidth },
    Experiment { letter: 'B', title: "what a stream leaves of a hot set in L2, by their hints", run: pollution },
    Experiment { letter: 'C', title: "the same with a part of L2 set aside", run: set_aside },
    Experiment {
        letter: 'D',
        title: "policies for a fraction of the lines, and for a range of addresses",
        run: policies,
    },
    Experiment { letter: 'E', title: "which sectors come along under each prefetch size", run: sizes },
    Experiment { letter: 'F', title: "what a stream leaves of a hot set in L1, by its hint", run: first_level },
    Experiment { letter: 'G', title: "the latency of each kind of load, and what an acquire costs L1", run: latency },
    Experiment { letter: 'H', title: "stores by hint, and what discarding their lines saves", run: stores },
    Experiment { letter: 'I', title: "what is where after each prefetch, and after applypriority", run: prefetches },
    Experiment { letter: 'J', title: "the worked kernels with and without their hints", run: worked },
];

/// The part of latencies that are below a threshold.
fn below(cut: Option<Cut>, clocks: &[u32]) -> Option<f64> {
    let cut = cut?;
    let hits = clocks.iter().filter(|clock| f64::from(**clock) < cut.at).count();
    (!clocks.is_empty()).then(|| hits as f64 / clocks.len() as f64)
}

/// What a probe says: its median, and what part of it was in L1 and what in L1 or L2, if thresholds are known.
fn probed(thresholds: &Thresholds, clocks: &[u32]) -> Vec<Reading> {
    let all: Vec<f64> = clocks.iter().map(|clock| f64::from(*clock)).collect();
    let readings =
        [("clocks", median(&all)), ("hits", below(thresholds.l2, clocks)), ("l1_hits", below(thresholds.l1, clocks))];
    readings.into_iter().filter_map(|(metric, value)| Some((metric, value?))).collect()
}

/// A size in parts of L2, to a line.
fn part(bench: &Bench<'_>, part: f64) -> u64 {
    ((bench.about().l2 as f64 * part) as u64 / LINE * LINE).max(8 * LINE)
}

/// A number as a label.
fn label(number: f64) -> String {
    format!("{number}")
}

fn bandwidth(bench: &Bench<'_>, _: &Thresholds, group: &mut Group<'_>) -> Asked<()> {
    let about = bench.about();
    let times = if about.quick { 1 } else { 32 };
    let bytes = (times * about.l2).next_power_of_two().min(about.memory / 8) / LINE * LINE;
    let [from, other, to] = [(); 3].map(|()| bench.device().allocate(bytes));
    let (from, other, to) = (from?, other?, to?);
    for memory in [&from, &other, &to] {
        bench.device().fill(memory.address, 0, bytes)?;
    }
    let mut variants = Vec::new();
    let size = || ("bytes", bytes.to_string());
    let driver = [("kernel", "memcpy".to_owned()), ("language", "driver".to_owned()), size()];
    let copied = move |seconds: f64, each: u64| vec![("bytes_per_second", each as f64 / seconds)];
    variants.push(
        Variant::new(&driver, || {
            let seconds = bench.device().time(|| bench.device().copy(to.address, from.address, bytes))?;
            Ok(copied(seconds, 2 * bytes))
        })
        .baseline_if(true)
        .profiled_if(true),
    );
    for language in [Language::Rust, Language::Cuda] {
        for (kernel, width) in [("copy32", 4), ("copy64", 8), ("copy128", 16), ("triad", 16)] {
            let (to, from, other) = (to.address, from.address, other.address);
            let count = bytes / width;
            let (arguments, moved) = if kernel == "triad" {
                let s = Argument::F32(3.0);
                (vec![Argument::U64(to), Argument::U64(from), Argument::U64(other), s, Argument::U64(count)], 3 * bytes)
            } else {
                (vec![Argument::U64(to), Argument::U64(from), Argument::U32(count as u32)], 2 * bytes)
            };
            let labels = [("kernel", kernel.to_owned()), ("language", in_words(language).to_owned()), size()];
            let run = move || {
                // SAFETY: each piece of memory has so many bytes.
                let work =
                    || unsafe { bench.launch((language, Without::Nothing), kernel, bench.grid(count), &arguments) };
                Ok(copied(bench.device().time(work)?, moved))
            };
            variants.push(Variant::new(&labels, run).baseline_if(language == Language::Rust).profiled_if(true));
        }
    }
    group(variants)
}

fn in_words(language: Language) -> &'static str {
    match language {
        Language::Rust => "rust",
        Language::Cuda => "cuda",
    }
}

/// The hints of sweeps, by name.
fn hints() -> [(&'static str, Sweep); 6] {
    [
        ("none", Sweep::Plain),
        ("normal", Sweep::Policy(CachePolicy::encode_fractional::<L2EvictNormal>(1.0).bits())),
        ("first", Sweep::Policy(CachePolicy::encode_fractional::<L2EvictFirst>(1.0).bits())),
        ("last", Sweep::Policy(CachePolicy::encode_fractional::<L2EvictLast>(1.0).bits())),
        ("unchanged", Sweep::Policy(CachePolicy::encode_fractional::<L2EvictUnchanged>(1.0).bits())),
        ("no_allocate", Sweep::NoAllocate),
    ]
}

/// A hot set with links through some of its lines, and a stream.
struct Polluted {
    hot: Memory,
    stream: Memory,
    start: u64,
    steps: u32,
}

impl Polluted {
    fn new(bench: &Bench<'_>, hot: u64, stream: u64) -> Asked<Polluted> {
        let (hot, stream) = (bench.device().allocate(hot)?, bench.device().allocate(stream)?);
        bench.device().fill(stream.address, 0, stream.bytes)?;
        let steps = bench.steps(4096);
        let places = bench.spread(hot.bytes, steps);
        let start = bench.ring(hot.address, &places)?;
        Ok(Polluted { hot, stream, start, steps: places.len() as u32 })
    }

    /// The hot set, the stream, and what is left of the hot set.
    fn run(&self, bench: &Bench<'_>, cuts: &Thresholds, hot: Sweep, stream: Sweep, bytes: u64) -> Asked<Vec<Reading>> {
        bench.flush()?;
        bench.sweep(hot, self.hot.address, self.hot.bytes)?;
        bench.sweep(stream, self.stream.address, bytes)?;
        let clocks = bench.chase("chase_cg", cuts.multiprocessor, self.start, self.steps)?;
        Ok(probed(cuts, &clocks))
    }
}

fn pollution(bench: &Bench<'_>, cuts: &Thresholds, group: &mut Group<'_>) -> Asked<()> {
    set_aside_part(bench, 0.0)?;
    for hot in bench.sizes(&[2.0 / 15.0, 4.0 / 15.0, 0.5]) {
        let memory = Polluted::new(bench, part(bench, hot), part(bench, 8.0))?;
        let mut variants = Vec::new();
        for streamed in bench.sizes(&[0.5, 1.0, 2.0, 4.0, 8.0]) {
            for (a, on_hot) in hints() {
                for (b, on_stream) in hints() {
                    let labels = [
                        ("hot_size", label((hot * 100.0).round() / 100.0)),
                        ("stream_size", label(streamed)),
                        ("hot", a.to_owned()),
                        ("stream", b.to_owned()),
                    ];
                    let (memory, bytes) = (&memory, part(bench, streamed));
                    let variant = Variant::new(&labels, move || memory.run(bench, cuts, on_hot, on_stream, bytes));
                    let looked_at = ["none", "first", "last"];
                    let profiled = streamed == 2.0 && looked_at.contains(&a) && looked_at.contains(&b);
                    variants.push(variant.baseline_if(a == "none" && b == "none").profiled_if(profiled));
                }
            }
        }
        group(variants)?;
    }
    Ok(())
}

/// Sets a part of what can be set aside.
fn set_aside_part(bench: &Bench<'_>, part: f64) -> Asked<()> {
    bench.device().set_aside((bench.about().set_aside as f64 * part) as u64)
}

fn set_aside(bench: &Bench<'_>, cuts: &Thresholds, group: &mut Group<'_>) -> Asked<()> {
    for hot in bench.sizes(&[2.0 / 15.0, 4.0 / 15.0, 0.5]) {
        let memory = Polluted::new(bench, part(bench, hot), part(bench, 4.0))?;
        let mut variants = Vec::new();
        for aside in [0.0, 0.25, 0.5, 0.75] {
            for streamed in bench.sizes(&[1.0, 2.0, 4.0]) {
                for (a, on_hot) in hints().into_iter().filter(|(name, _)| ["none", "last"].contains(name)) {
                    for (b, on_stream) in hints().into_iter().filter(|(name, _)| ["none", "first"].contains(name)) {
                        let labels = [
                            ("aside", label(aside)),
                            ("hot_size", label((hot * 100.0).round() / 100.0)),
                            ("stream_size", label(streamed)),
                            ("hot", a.to_owned()),
                            ("stream", b.to_owned()),
                        ];
                        let (memory, bytes) = (&memory, part(bench, streamed));
                        let run = move || {
                            set_aside_part(bench, aside)?;
                            memory.run(bench, cuts, on_hot, on_stream, bytes)
                        };
                        let baseline = aside == 0.0 && a == "none" && b == "none";
                        let profiled = streamed == 2.0 && b == "none";
                        variants.push(Variant::new(&labels, run).baseline_if(baseline).profiled_if(profiled));
                    }
                }
            }
        }
        group(variants)?;
    }
    set_aside_part(bench, 0.0)
}

/// Blocks of the hot set that are probed one by one.
const BLOCKS: u32 = 16;

fn policies(bench: &Bench<'_>, cuts: &Thresholds, group: &mut Group<'_>) -> Asked<()> {
    let memory = Polluted::new(
        bench,
        part(bench, 0.4) / (u64::from(BLOCKS) * LINE) * u64::from(BLOCKS) * LINE,
        part(bench, 2.0),
    )?;
    let mut variants = Vec::new();
    for sixteenths in bench.sizes(&[1u32, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]) {
        let fraction = sixteenths as f32 / 16.0;
        let policy = Sweep::Policy(CachePolicy::encode_fractional::<(L2EvictLast, L2EvictFirst)>(fraction).bits());
        let labels = [("policy", "fraction".to_owned()), ("sixteenths", sixteenths.to_string())];
        let memory = &memory;
        let run = move || {
            set_aside_part(bench, 1.0)?;
            memory.run(bench, cuts, policy, Sweep::Plain, memory.stream.bytes)
        };
        variants.push(Variant::new(&labels, run).baseline_if(sixteenths % 8 == 0));
    }
    // The first half of the hot set is to stay.
    let half = (memory.hot.bytes / 2) as u32;
    let range =
        CachePolicy::encode_range::<(L2EvictLast, L2EvictFirst)>(memory.hot.address, half, memory.hot.bytes as u32);
    let policy = Sweep::Policy(range.bits());
    let block = memory.hot.bytes / u64::from(BLOCKS);
    for number in 0..BLOCKS {
        let at = memory.hot.address + u64::from(number) * block;
        let places = bench.spread(block, bench.steps(1024));
        // The ring of the whole set has the first words of the lines.
        let (start, steps) = (bench.ring(at + 8, &places)?, places.len() as u32);
        let labels = [("policy", "range".to_owned()), ("block", number.to_string())];
        let memory = &memory;
        let run = move || {
            set_aside_part(bench, 1.0)?;
            bench.flush()?;
            bench.sweep(policy, memory.hot.address, memory.hot.bytes)?;
            bench.sweep(Sweep::Plain, memory.stream.address, memory.stream.bytes)?;
            Ok(probed(cuts, &bench.chase("chase_cg", cuts.multiprocessor, start, steps)?))
        };
        variants.push(Variant::new(&labels, run).baseline_if(number == 0));
    }
    group(variants)?;
    set_aside_part(bench, 0.0)
}

/// Bytes of a sector.
const SECTOR: u32 = 32;

fn sizes(bench: &Bench<'_>, cuts: &Thresholds, group: &mut Group<'_>) -> Asked<()> {
    const APART: u32 = 512;
    let count = bench.steps(4096);
    let memory = bench.device().allocate(u64::from(count) * u64::from(APART))?;
    let touched = Places { at: memory.address, count, step: APART };
    let places = bench.places(count, APART);
    let mut variants = Vec::new();
    for sector in bench.sizes(&[0u32, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]) {
        // The second word of a sector: the first is what is touched.
        let start = bench.ring(memory.address + u64::from(sector * SECTOR) + 8, &places)?;
        for size in ["plain", "64", "128", "256"] {
            let labels = [("size", size.to_owned()), ("sector", sector.to_string())];
            let run = move || {
                bench.flush()?;
                let kernel = format!("touch_{size}");
                let clocks =
                    bench.stage(&kernel, cuts.multiprocessor, [touched, Places::default()], pause(), start, count)?;
                Ok(probed(cuts, &clocks))
            };
            let baseline = size == "plain" && [0, 4].contains(&sector);
            variants.push(Variant::new(&labels, run).baseline_if(baseline).profiled_if(sector == 0));
        }
    }
    group(variants)
}

/// Two microseconds, in clocks of two gigahertz.
fn pause() -> u32 {
    4000
}

fn first_level(bench: &Bench<'_>, cuts: &Thresholds, group: &mut Group<'_>) -> Asked<()> {
    let (hot, stream) = if bench.about().quick { (2 << 10, 8 << 10) } else { (64 << 10, 256 << 10) };
    let [hot, stream] = [hot, stream].map(|bytes| bench.device().allocate(bytes));
    let (hot, stream) = (hot?, stream?);
    bench.device().fill(stream.address, 0, stream.bytes)?;
    let places = bench.places((hot.bytes / LINE) as u32, LINE as u32);
    let start = bench.ring(hot.address, &places)?;
    let every_sector =
        |memory: &Memory| Places { at: memory.address, count: (memory.bytes / u64::from(SECTOR)) as u32, step: SECTOR };
    let (hot, stream) = (every_sector(&hot), every_sector(&stream));
    let kernels = ["plain", "normal", "unchanged", "first", "last", "no_allocate"];
    let kernels = kernels.iter().map(|hint| (format!("hot_stream_{hint}"), "none", *hint));
    let last = [("hot_last_stream_plain".to_owned(), "last", "plain")];
    let mut variants = Vec::new();
    for (kernel, on_hot, on_stream) in kernels.chain(last) {
        for streamed in ["no", "yes"] {
            let stream = if streamed == "yes" { stream } else { Places::default() };
            let labels =
                [("hot", on_hot.to_owned()), ("stream", on_stream.to_owned()), ("streamed", streamed.to_owned())];
            let (kernel, steps) = (kernel.clone(), places.len() as u32);
            let run = move || {
                let clocks = bench.stage(&kernel, cuts.multiprocessor, [hot, stream], 0, start, steps)?;
                Ok(probed(cuts, &clocks))
            };
            let baseline = on_hot == "none" && on_stream == "plain";
            variants.push(Variant::new(&labels, run).baseline_if(baseline).profiled_if(streamed == "yes"));
        }
    }
    group(variants)
}

fn latency(bench: &Bench<'_>, cuts: &Thresholds, group: &mut Group<'_>) -> Asked<()> {
    let loads = ["weak", "cg", "nc", "relaxed_gpu", "relaxed_sys", "acquire_gpu", "acquire_sys", "volatile", "mmio"];
    let few = 64;
    let buffer = bench.device().allocate(part(bench, 4.0))?;
    let steps = bench.steps(2048);
    let small = bench.device().allocate(u64::from(few) * LINE)?;
    let in_l1 = bench.ring(small.address, &bench.places(few, LINE as u32))?;
    // Other words of the same lines.
    let in_l2 = bench.ring(buffer.address + 8, &bench.spread(part(bench, 0.125), steps))?;
    let in_memory = bench.ring(buffer.address + 16, &bench.spread(buffer.bytes, steps))?;
    let mut variants = Vec::new();
    for load in loads {
        for place in ["l1", "l2", "memory"] {
            let labels = [("load", load.to_owned()), ("place", place.to_owned())];
            let buffer = &buffer;
            let run = move || {
                let kernel = format!("chase_{load}");
                let clocks = match place {
                    // What is in L1 after the first time through.
                    "l1" => bench.chase(&kernel, cuts.multiprocessor, in_l1, 4 * few)?.split_off(few as usize),
                    "l2" => {
                        bench.sweep(Sweep::Plain, buffer.address, part(bench, 0.125))?;
                        bench.chase(&kernel, cuts.multiprocessor, in_l2, steps)?
                    }
                    _ => {
                        bench.flush()?;
                        bench.chase(&kernel, cuts.multiprocessor, in_memory, steps)?
                    }
                };
                Ok(probed(cuts, &clocks))
            };
            variants.push(Variant::new(&labels, run).baseline_if(load == "relaxed_gpu"));
        }
    }
    if bench.about().sm >= CLUSTER.number {
        for (kernel, load) in [("chase_shared", "shared"), ("chase_neighbour", "neighbour")] {
            let labels = [("load", load.to_owned()), ("place", "shared".to_owned())];
            let run = move || Ok(probed(cuts, &bench.chase_cluster(kernel, steps)?));
            variants.push(Variant::new(&labels, run).baseline_if(load == "shared"));
        }
    }
    let hot = Places { at: small.address, count: few, step: LINE as u32 };
    let flag = bench.device().upload(&[0; 128])?;
    let after = ["nothing", "relaxed", "volatile", "acquire", "fence_acq_rel", "fence_sc"];
    for then in after {
        let labels = [("then", then.to_owned())];
        let once = Places { at: flag.address, count: u32::from(then != "nothing"), step: 4 };
        let run = move || {
            let kernel = if then == "nothing" { "hot_then_relaxed".into() } else { format!("hot_then_{then}") };
            let clocks = bench.stage(&kernel, cuts.multiprocessor, [hot, once], 0, in_l1, few)?;
            Ok(probed(cuts, &clocks))
        };
        variants.push(Variant::new(&labels, run).baseline_if(then == "nothing").profiled_if(true));
    }
    group(variants)
}

fn stores(bench: &Bench<'_>, _: &Thresholds, group: &mut Group<'_>) -> Asked<()> {
    let written = bench.device().allocate(part(bench, 0.5))?;
    let stream = bench.device().allocate(part(bench, 3.0))?;
    bench.device().fill(stream.address, 0, stream.bytes)?;
    bench.device().fill(written.address, 0, written.bytes)?;
    let mut variants = Vec::new();
    for store in ["none", "wb", "cg", "cs", "wt"] {
        for discarded in ["no", "yes"] {
            let labels = [("store", store.to_owned()), ("discarded", discarded.to_owned())];
            let (written, stream) = (&written, &stream);
            let run = move || {
                let device = bench.device();
                bench.flush()?;
                let mut readings = Vec::new();
                if store != "none" {
                    let fill = || bench.fill(store, written.address, written.bytes);
                    readings.push(("fill_seconds", device.time(fill)?));
                }
                if discarded == "yes" {
                    let discard = || bench.discard(written.address, written.bytes);
                    readings.push(("discard_seconds", device.time(discard)?));
                }
                // Dirty lines have to be written back before others take their place.
                let sweep = || bench.sweep(Sweep::Plain, stream.address, stream.bytes);
                readings.push(("after_seconds", device.time(sweep)?));
                Ok(readings)
            };
            let baseline = ["none", "wb"].contains(&store);
            variants.push(Variant::new(&labels, run).baseline_if(baseline).profiled_if(true));
        }
    }
    group(variants)
}

fn prefetches(bench: &Bench<'_>, cuts: &Thresholds, group: &mut Group<'_>) -> Asked<()> {
    let count = bench.steps(1024);
    let lines = bench.device().allocate(u64::from(count) * LINE)?;
    let stream = bench.device().allocate(part(bench, 2.0))?;
    bench.device().fill(stream.address, 0, stream.bytes)?;
    let start = bench.ring(lines.address, &bench.places(count, LINE as u32))?;
    let all = Places { at: lines.address, count, step: LINE as u32 };
    let mut variants = Vec::new();
    let bulk = bench.about().sm >= CLUSTER.number;
    let announced = ["nothing", "l1", "l2", "l2_last", "bulk"];
    for how in announced.into_iter().filter(|how| bulk || *how != "bulk") {
        let labels = [("prefetch", how.to_owned())];
        let run = move || {
            bench.flush()?;
            let kernel = format!("announce_{how}");
            let [a, b] = [all, Places::default()];
            let clocks = bench.stage(&kernel, cuts.multiprocessor, [a, b], pause(), start, count)?;
            Ok(probed(cuts, &clocks))
        };
        variants.push(Variant::new(&labels, run).baseline_if(how == "nothing").profiled_if(true));
    }
    for given_up in ["no", "yes"] {
        let labels = [("given_up", given_up.to_owned())];
        let stream = &stream;
        let run = move || {
            set_aside_part(bench, 1.0)?;
            bench.flush()?;
            let kernel = if given_up == "yes" { "keep_then_give_up" } else { "keep" };
            bench.stage(kernel, cuts.multiprocessor, [all, all], pause(), start, 0)?;
            bench.sweep(Sweep::Plain, stream.address, stream.bytes)?;
            let clocks = bench.chase("chase_cg", cuts.multiprocessor, start, count)?;
            set_aside_part(bench, 0.0)?;
            Ok(probed(cuts, &clocks))
        };
        variants.push(Variant::new(&labels, run).baseline_if(given_up == "no").profiled_if(true));
    }
    group(variants)
}

/// A problem's memory on the GPU.
struct OnGpu {
    output: Memory,
    at_first: u8,
    arguments: Vec<Argument>,
    grid: (u32, u32),
    _inputs: Vec<Memory>,
}

impl OnGpu {
    fn new(bench: &Bench<'_>, problem: &dyn Problem, output: u64) -> Asked<OnGpu> {
        let output = bench.device().allocate(output)?;
        let (mut inputs, mut arguments) = (Vec::new(), Vec::new());
        for input in problem.inputs() {
            arguments.push(match input {
                Input::Output | Input::Sums => Argument::U64(output.address),
                Input::Number(gpu::Argument::U32(number)) => Argument::U32(number),
                Input::Number(gpu::Argument::U64(number)) => Argument::U64(number),
                Input::Number(gpu::Argument::F32(number)) => Argument::F32(number),
                Input::Number(_) => {
                    return Err(Fault::new("a kernel takes an argument that the laboratory does not know"));
                }
                Input::Bytes(bytes) => {
                    inputs.push(bench.device().upload(bytes)?);
                    Argument::U64(inputs[inputs.len() - 1].address)
                }
                Input::Scratch(bytes) => {
                    let memory = bench.device().allocate(bytes as u64)?;
                    bench.device().fill(memory.address, 0, memory.bytes)?;
                    inputs.push(memory);
                    Argument::U64(inputs[inputs.len() - 1].address)
                }
            });
        }
        let grid = problem.grid(bench.about().processors * 8);
        let grid = (grid.blocks, grid.threads);
        Ok(OnGpu { output, at_first: problem.at_first(), arguments, grid, _inputs: inputs })
    }

    fn launch(&self, bench: &Bench<'_>, of: (Language, Without), kernel: &str) -> Asked<()> {
        // SAFETY: the arguments are those of the problem.
        unsafe { bench.launch(of, kernel, self.grid, &self.arguments) }
    }

    /// What a kernel makes of memory as it is at first.
    fn output(&self, bench: &Bench<'_>, of: (Language, Without), kernel: &str) -> Asked<Vec<u8>> {
        bench.device().fill(self.output.address, self.at_first, self.output.bytes)?;
        self.launch(bench, of, kernel)?;
        bench.device().wait()?;
        bench.device().read(self.output.address, self.output.bytes as usize)
    }
}

fn worked(bench: &Bench<'_>, _: &Thresholds, group: &mut Group<'_>) -> Asked<()> {
    let all = workloads::ALL.iter().chain(&workloads::ORDERED).filter(|workload| WORKED.contains(&workload.name()));
    for workload in all {
        for times in bench.sizes(&[1u64, 2, 4, 8]) {
            let bytes = if bench.about().quick { bench.about().l2 } else { times * bench.about().l2 };
            worked_at(bench, *workload, times, bytes, group)?;
        }
    }
    Ok(())
}

fn worked_at(bench: &Bench<'_>, workload: &dyn Workload, times: u64, bytes: u64, group: &mut Group<'_>) -> Asked<()> {
    let problem = workloads::problem_of(workload, bytes).1;
    let (name, output) = (workload.name(), problem.output_bytes() as u64);
    let memory = OnGpu::new(bench, &*problem, output)?;
    let rust = Without::EACH.map(|without| (Language::Rust, without));
    let of = rust.into_iter().chain([(Language::Cuda, Without::Nothing)]);
    let of: Vec<_> = of.filter(|(language, without)| bench.has(*language, *without, name)).collect();
    // Hints change no value: every variant has to give what the first one gives.
    let first = of.first().map(|of| memory.output(bench, *of, name)).transpose()?;
    let mut variants = Vec::new();
    for (language, without) in of {
        let labels = [
            ("kernel", name.to_owned()),
            ("size", times.to_string()),
            ("language", in_words(language).to_owned()),
            ("without", without.name().to_owned()),
        ];
        let differs = Some(memory.output(bench, (language, without), name)?) != first;
        let memory = &memory;
        let run = move || {
            if differs {
                return Err(Fault::new("its output differs from that of the kernel with all hints"));
            }
            bench.flush()?;
            memory.launch(bench, (language, without), name)?;
            let seconds = bench.device().time(|| memory.launch(bench, (language, without), name))?;
            Ok(vec![("seconds", seconds)])
        };
        let baseline = language == Language::Rust && without == Without::Nothing;
        let profiled = times <= 2 && language == Language::Rust && [Without::Nothing, Without::All].contains(&without);
        variants.push(Variant::new(&labels, run).baseline_if(baseline).profiled_if(profiled));
    }
    group(variants)
}
