//! The suite's litmus tests without a GPU: what the model says of them, and their kernels, compiled, assembled and launched
//! on `fake-gpu`, which interprets them. Where its memory is in order, it shows nothing that is forbidden, of a test or of a mutant.

use std::process::ExitCode;
use std::sync::LazyLock;

use fake_gpu_client::{SM_VARIABLE, library, on_machine};
use host_tests::check::{forms_check, whole};
use launch::gpu::Gpu;
use libtest_mimic::{Arguments, Failed, Trial};
use litmus::gpu::kernel::kernel;
use litmus::gpu::on_gpu;
use litmus::{Limits, Model, judge, parse};
use ptx_build::cuda_tools::CudaTools;
use ptx_build::error::{Error, Result};
use ptx_build::progress::Progress;
use ptx_build::target::{PtxVersion, Sm};
use ptx_build::toolchain::{DeviceToolchain, Route};
use ptx_driver::DRIVER_VARIABLE;
use ptx_interpreter::{Delays, L1, Program};
use rand::SeedableRng;
use rand::rngs::StdRng;
use rand::seq::{IndexedRandom, SliceRandom};
use suite::counted::{Counted, run};
use suite::image::compile;
use suite::litmus::{Amount, Litmus};

/// Tests, and their mutants.
const TESTS: usize = 53;
const MUTANTS: usize = 163;

/// What the interpreter runs of each. The fake GPU has four multiprocessors.
const AMOUNT: Amount = Amount { launches: 1, rounds: 3, blocks: 1 };

/// A test whose flag is a remote arrival, which is seldom seen in time.
const REMOTE: &str = "litmus_mp_mbarrier_cluster";

/// The GPUs that the kernels are assembled for: one of each generation, and how many tests it has. Two are drawn by the seed.
const GENERATIONS: [(u32, usize); 5] = [(75, 35), (80, 35), (90, TESTS), (100, TESTS), (120, TESTS)];

/// What draws.
static SEED: LazyLock<u64> = LazyLock::new(|| forms_check::seed().expect("a number"));

/// The tests that machines run: of each shape one scope, in an order that is drawn too.
static DRAWN: LazyLock<Vec<Litmus>> = LazyLock::new(|| {
    let mut random = StdRng::seed_from_u64(*SEED);
    let all = Litmus::all();
    let of_shape = |(shape, _): &(&str, Weak)| -> Vec<usize> {
        let own: Vec<usize> = (0..all.len()).filter(|at| broken(&all[*at]).0 == *shape).collect();
        own.sample(&mut random, whole::or(1)).copied().collect()
    };
    let mut places: Vec<usize> = BROKEN.iter().flat_map(of_shape).collect();
    places.shuffle(&mut random);
    places.into_iter().map(|at| all[at].clone()).collect()
});

/// Half of them for the machine that is as weak as the model allows, and half for their broken machines: each shape is on one of the two.
fn halves() -> [&'static [Litmus]; 2] {
    match whole::is_set() {
        true => [&DRAWN, &DRAWN],
        false => DRAWN.split_at(BROKEN.len() / 2).into(),
    }
}

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    // SAFETY: this process has one thread yet.
    unsafe {
        std::env::set_var(DRIVER_VARIABLE, library());
        std::env::set_var(SM_VARIABLE, "100");
    }
    let ptx = if arguments.list { Ok(String::new()) } else { prepare().map_err(|error| error.to_string()) };
    let with = |name: &str, test: fn(&str)| {
        let ptx = ptx.clone();
        Trial::test(name, move || {
            test(&ptx?);
            Ok::<(), Failed>(())
        })
    };
    let trials = vec![
        Trial::test("every_test_forbids_something_and_each_mutant_allows_some_of_it", || {
            every_test_forbids_something();
            Ok(())
        }),
        with("memory_in_order_shows_nothing_forbidden_and_every_run_is_counted", memory_in_order),
        with("each_test_is_sensitive_on_a_machine_as_weak_as_the_model_allows", a_weak_machine),
        with("each_test_has_a_broken_machine_that_it_shows", broken_machines),
        with("files_run_as_kernels_and_show_nothing_forbidden", |_| files_run()),
    ];
    // There is one machine for all.
    let arguments = Arguments { test_threads: Some(1), ..arguments };
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// Compiles the kernels, and assembles them.
fn prepare() -> Result<String> {
    let progress = Progress::new();
    let toolchain = DeviceToolchain::find(Route::chosen(None)?, &progress)?;
    let all = Litmus::all();
    let part = compile("litmus", 0, &all, &toolchain)?;
    let seed = *SEED;
    println!("seed {seed}; repeat with {}={seed}", forms_check::SEED_VARIABLE);
    let generations: Vec<_> = GENERATIONS.sample(&mut StdRng::seed_from_u64(seed), whole::or(2)).copied().collect();
    for on in CudaTools::find(&progress)?.every_gpu(&progress)? {
        let Some((_, tests)) = generations.iter().copied().find(|(sm, _)| *sm == on.sm.number) else { continue };
        let assembled: usize = part.assemble(&on)?.iter().map(|image| image.kernels.len()).sum();
        assert_eq!(assembled, tests, "{}", on.sm);
    }
    let text = part.text(&all.iter().collect::<Vec<_>>(), Sm::new(100), PtxVersion::new(9, 0))?;
    let gaps = Program::parse(&text).gaps();
    let error = || Error::new(format_args!("the interpreter does not know {gaps:?}"));
    if gaps.is_empty() { Ok(text) } else { Err(error().fix("add it to ptx-interpreter")) }
}

fn every_test_forbids_something() {
    let all = Litmus::all();
    assert_eq!(all.len(), TESTS);
    assert_eq!(all.iter().map(|litmus| litmus.mutants.len()).sum::<usize>(), MUTANTS);
    for litmus in &all {
        let forbidden = litmus.forbidden();
        assert!(!forbidden.is_empty() && !litmus.allowed.is_empty(), "{}", litmus.name);
        assert!(!litmus.mutants.is_empty(), "{}", litmus.name);
        for mutant in &litmus.mutants {
            assert!(mutant.allowed.iter().any(|outcome| forbidden.contains(outcome)), "{}", mutant.name);
            assert!(mutant.allowed.is_superset(&litmus.allowed), "{}", mutant.name);
        }
    }
    let of = |name: &str| all.iter().find(|litmus| litmus.name == name).unwrap();
    assert_eq!(of("litmus_mp_release_acquire_gpu").forbidden().into_iter().collect::<Vec<_>>(), [[1, 0]]);
    assert_eq!(of("litmus_sb_fence_sc_sys").forbidden().into_iter().collect::<Vec<_>>(), [[0, 0]]);
    assert_eq!(of("litmus_lb_release_acquire_cta").forbidden().into_iter().collect::<Vec<_>>(), [[1, 1]]);
    assert_eq!(of("litmus_iriw_fence_sc_cluster").forbidden().into_iter().collect::<Vec<_>>(), [[1, 0, 1, 0]]);
    let lacks: Vec<&str> = of("litmus_mp_async_gpu").mutants.iter().map(|mutant| mutant.lacks.as_str()).collect();
    let orders =
        ["the order of instruction 2 of P0", "the order of instruction 1 of P1", "the order of instruction 2 of P1"];
    assert_eq!(lacks, [&orders[..], &["every order"]].concat());
}

fn memory_in_order(ptx: &str) {
    let gpu = Gpu::find().unwrap();
    let module = gpu.load(ptx.as_bytes()).unwrap();
    for litmus in &*DRAWN {
        let counted = run(litmus, &gpu, &module, AMOUNT).unwrap();
        assert!(counted.nothing_is_wrong(), "{counted:?}");
        assert!(!counted.is_sensitive() && !counted.passed(), "{counted:?}");
        let verdict = format!("not sensitive: none of {} mutants shows it", litmus.mutants.len());
        assert_eq!(counted.verdict(), verdict);
        // 256 threads of each of four blocks play their parts three times; some threads of four have no part.
        let threads = litmus.program.threads.len().next_power_of_two() as u64;
        let runs = 4 * 256 * 3 / threads;
        let all = counted.mutants.iter().map(|mutant| &mutant.seen).chain([&counted.seen]);
        for seen in all {
            assert_eq!((seen.outcomes.values().sum::<u64>() + seen.apart, seen.strange), (runs, 0), "{counted:?}");
            assert!(seen.apart * 4 < runs, "{counted:?}");
        }
    }
}

/// A machine of the interpreter: its L1, and what accesses wait for.
type Weak = (L1, Delays);

/// As weak as the memory model allows it to be.
const WEAK: Weak = (L1::Kept, Delays::Allowed);
/// The same without an L1: there the first of two loads of a place would always be the old one.
const WEAK_WITHOUT_L1: Weak = (L1::None, Delays::Allowed);
const OLD_VALUES: Weak = (L1::Forgetful, Delays::None);
const LATE_STORES: Weak = (L1::None, Delays::StoresForgotten);
const LATE_LOADS: Weak = (L1::None, Delays::LoadsForgotten);
const OLD_COPIES: Weak = (L1::None, Delays::FencesForgotten);

/// The tests, and the broken machine on which each shows what it may not.
const BROKEN: [(&str, Weak); 17] = [
    ("mp_release_acquire", LATE_LOADS),
    ("mp_fence_acq_rel", LATE_LOADS),
    ("mp_fence_sc", LATE_LOADS),
    ("mp_atomic", LATE_STORES),
    ("mp_async", OLD_COPIES),
    ("mp_volatile", LATE_LOADS),
    ("mp_mbarrier_cta", LATE_STORES),
    ("mp_mbarrier_at_once_cta", LATE_STORES),
    ("mp_mbarrier_cluster", OLD_VALUES),
    ("lb_release_acquire", LATE_LOADS),
    ("sb_fence_sc", LATE_STORES),
    ("sb_weak_fence_sc", LATE_STORES),
    ("corr_relaxed", LATE_LOADS),
    ("corr_volatile", LATE_LOADS),
    ("2_2w_fence_sc", LATE_STORES),
    ("isa2_release_acquire", LATE_LOADS),
    ("iriw_fence_sc", LATE_LOADS),
];

/// The shape of a test, and its broken machine.
fn broken(litmus: &Litmus) -> (&'static str, Weak) {
    let shape = litmus.name.strip_prefix("litmus_").unwrap();
    let named = BROKEN.iter().find(|(name, _)| shape == *name || shape.rsplit_once('_').unwrap().0 == *name);
    *named.unwrap_or_else(|| panic!("{shape} has no machine"))
}

/// What is counted of each test on the machine that it is given.
fn on_machines(ptx: &str, tests: &[Litmus], machine: impl Fn(&Litmus) -> Weak) -> Vec<Counted> {
    let gpu = Gpu::find().unwrap();
    let module = gpu.load(ptx.as_bytes()).unwrap();
    let rounds = |name: &str| match name {
        REMOTE => 48,
        _ if ["iriw", "isa2", "async", "mbarrier"].iter().any(|shape| name.contains(shape)) => 24,
        _ => 8,
    };
    let count = |litmus: &Litmus| {
        let (l1, delays) = machine(litmus);
        on_machine(l1, delays);
        run(litmus, &gpu, &module, Amount { rounds: rounds(&litmus.name), ..AMOUNT }).unwrap()
    };
    let counted: Vec<Counted> = tests.iter().map(count).collect();
    on_machine(L1::None, Delays::None);
    assert!(counted.len() >= BROKEN.len() / 2, "{} tests", counted.len());
    counted
}

/// Hundredths of the mutants that show there what the test may not, at least: of all, and of those of a sample. Others lack an order
/// that the machine keeps: it shows a store to all threads at the same time, and stores of one place in order.
const SEEN: [usize; 2] = [67, 25];

/// Each test is sensitive on a machine that is as weak as it may be, and shows nothing that is forbidden there.
fn a_weak_machine(ptx: &str) {
    let (mut seen, mut mutants) = (0, 0);
    let [tests, _] = halves();
    let machine = |litmus: &Litmus| if litmus.name.contains("corr") { WEAK_WITHOUT_L1 } else { WEAK };
    for counted in on_machines(ptx, tests, machine) {
        assert!(counted.passed(), "{}: {}", counted.test, counted.verdict());
        seen += counted.mutants.iter().filter(|mutant| mutant.seen.forbidden > 0).count();
        mutants += counted.mutants.len();
    }
    println!("{seen} of {mutants} mutants are seen");
    assert!(seen * 100 >= mutants * SEEN[usize::from(!whole::is_set())], "{seen} of {mutants}");
}

/// On a machine that forgets what the test relies on, the test shows what it may not.
fn broken_machines(ptx: &str) {
    let [_, tests] = halves();
    for counted in on_machines(ptx, tests, |litmus| broken(litmus).1) {
        assert!(counted.violations() > 0, "{}: {}", counted.test, counted.verdict());
        assert!(!counted.passed() || counted.known.is_some(), "{}: {}", counted.test, counted.verdict());
    }
}

/// Files in `tests/litmus` that are kernels, those of them that can run on a GPU, and why others are none.
const KERNELS: [usize; 2] = [84, 57];
const NO_KERNELS: [(&str, usize); 8] = [
    ("the async proxy wants sm_90", 21),
    ("PTX has no fence.proxy.surface", 6),
    ("PTX has no fence.proxy.texture", 3),
    ("PTX has no fence.proxy.constant", 1),
    ("PTX has no such atomic", 2),
    ("it wants a cluster, which PTX for every GPU does not have", 1),
    ("its threads are in several clusters", 1),
    ("its threads are on several GPUs", 2),
];

fn files_run() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../litmus/tests/litmus");
    let gpu = Gpu::find().unwrap();
    let (mut made, mut ran, mut none) = (0, 0, Vec::new());
    for file in litmus::batch::files(&[folder.into()]).unwrap() {
        let test = parse(&std::fs::read_to_string(&file).unwrap()).unwrap();
        let kernel = match kernel("file", &test) {
            Ok(kernel) => kernel,
            Err(why) => {
                none.push(why);
                continue;
            }
        };
        made += 1;
        if kernel.not_run.is_some() {
            continue;
        }
        ran += 1;
        let seen = on_gpu::run(&test, "file", &kernel, &gpu, on_gpu::Amount { groups: 1, launches: 2 }).unwrap();
        assert_eq!((seen.so + seen.otherwise, seen.gave_up), (64, 0), "{}: {seen:?}", file.display());
        let holds = judge(&test, &Model::new(), &Limits::default()).unwrap().holds;
        assert_eq!(seen.contradicts(test.condition.quantifier, holds), 0, "{}: {seen:?}", file.display());
    }
    none.sort_unstable();
    let counts: Vec<(&str, usize)> = NO_KERNELS.into_iter().collect();
    let found =
        counts.iter().map(|(why, _)| (*why, none.iter().filter(|other| *other == why).count())).collect::<Vec<_>>();
    assert_eq!(
        ([made, ran], found, none.len()),
        (KERNELS, counts, NO_KERNELS.iter().map(|(_, count)| count).sum()),
        "{none:?}"
    );
}
