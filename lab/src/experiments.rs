//! The experiments, each as its variants: what is done to the GPU, and what is read from it.

use ptx_intrinsics::caching::{CachePolicy, L2EvictFirst, L2EvictLast, L2EvictNormal, L2EvictUnchanged};

use super::bandwidth::bandwidth;
use super::bench::{Bench, LINE, Places, Sweep};
use super::beside::beside;
use super::images::CLUSTER;
use super::measure::Reading;
use super::statistics::median;
use super::thresholds::Thresholds;
use super::variant::{Experiment, Group, Variant, label, part, probed};
use super::worked::worked;
use crate::device::{Asked, Memory};

/// All of them, in their order.
pub const ALL: [Experiment; 11] = [
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
    Experiment { letter: 'K', title: "kernels in Rust beside the same in CUDA C++", run: beside },
];

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
    for hot in bench.sizes(&[2.0 / 15.0, 4.0 / 15.0, 0.5], &[4.0 / 15.0]) {
        let memory = Polluted::new(bench, part(bench, hot), part(bench, 8.0))?;
        let mut variants = Vec::new();
        for streamed in bench.sizes(&[0.5, 1.0, 2.0, 4.0, 8.0], &[2.0]) {
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
                    let profiled = looked_at.contains(&a) && looked_at.contains(&b);
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
    for hot in bench.sizes(&[2.0 / 15.0, 4.0 / 15.0, 0.5], &[4.0 / 15.0]) {
        let memory = Polluted::new(bench, part(bench, hot), part(bench, 4.0))?;
        let mut variants = Vec::new();
        for aside in [0.0, 0.25, 0.5, 0.75] {
            for streamed in bench.sizes(&[1.0, 2.0, 4.0], &[2.0]) {
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
                        let profiled = b == "none";
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
    for sixteenths in bench.sizes(&[1u32, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16], &[1, 8, 16]) {
        let fraction = sixteenths as f32 / 16.0;
        let policy = Sweep::Policy(CachePolicy::encode_fractional::<(L2EvictLast, L2EvictFirst)>(fraction).bits());
        let labels = [("policy", "fraction".to_owned()), ("sixteenths", sixteenths.to_string())];
        let memory = &memory;
        let run = move || {
            set_aside_part(bench, 1.0)?;
            memory.run(bench, cuts, policy, Sweep::Plain, memory.stream.bytes)
        };
        variants.push(Variant::new(&labels, run).baseline_if(sixteenths % 8 == 0).profiled_if(true));
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
        variants.push(Variant::new(&labels, run).baseline_if(number == 0).profiled_if([3, 12].contains(&number)));
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
    for sector in bench.sizes(&[0u32, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11], &[0]) {
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
            variants.push(Variant::new(&labels, run).baseline_if(baseline).profiled_if(true));
        }
    }
    group(variants)
}

/// Two microseconds, in clocks of two gigahertz.
fn pause() -> u32 {
    4000
}

fn first_level(bench: &Bench<'_>, cuts: &Thresholds, group: &mut Group<'_>) -> Asked<()> {
    bench.carved_out()?;
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
    // What the loop itself takes, beside what it loads.
    let with_latency = move |clocks: &[u32], empty: &[u32]| {
        let of = |clocks: &[u32]| median(&clocks.iter().map(|clock| f64::from(*clock)).collect::<Vec<_>>());
        let latency = of(clocks).zip(of(empty)).map(|(clocks, empty)| ("latency", clocks - empty));
        probed(cuts, clocks).into_iter().chain(latency).collect::<Vec<Reading>>()
    };
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
                let empty = bench.chase("chase_empty", cuts.multiprocessor, in_l1, few)?;
                Ok(with_latency(&clocks, &empty))
            };
            variants.push(Variant::new(&labels, run).baseline_if(load == "relaxed_gpu"));
        }
    }
    if bench.about().sm >= CLUSTER.number {
        for (kernel, load) in [("chase_shared", "shared"), ("chase_neighbour", "neighbour")] {
            let labels = [("load", load.to_owned()), ("place", "shared".to_owned())];
            let run = move || {
                let empty = bench.chase_cluster("chase_shared_empty", few)?;
                Ok(with_latency(&bench.chase_cluster(kernel, steps)?, &empty))
            };
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
