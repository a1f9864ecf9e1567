//! The interpreter's checks against the model: every order of small programs, which are drawn, and of the collection's.

use std::path::{Path, PathBuf};

use litmus::agreement::{Agreement, Values, agree, agree_on_values, draw, draw_on};
use litmus::batch::files;
use litmus::{Limits, Space, Threads, parse};

/// Programs that are drawn here; `cargo xtask litmus --drawn` draws more.
const DRAWN: u64 = 80;
/// Runs of one program with weak loads, at most.
const RUNS: u64 = 1000;
/// Orders of one program, at most.
const ORDERS: u64 = 300;

#[test]
fn the_interpreter_finds_a_race_where_the_model_has_one() {
    let (mut racy, mut quiet) = (0, 0);
    // The last ones have an atomic after a read of the same thread, of which both are observed to be before a weak write; and an
    // access of a narrow scope after atomics of several blocks; and weak loads that race, whose values tell the order of two `fence.sc`, also
    // where a store that races has come after an access, and before what else comes after that.
    for seed in (0..DRAWN).chain([20460, 1467, 1902, 500921, 709222, 808264]) {
        let (program, text) = draw(seed);
        match agree(&program, if seed < DRAWN { ORDERS } else { 10 * ORDERS }, &Limits::default()) {
            Ok(Agreement { races: true, .. }) => racy += 1,
            Ok(_) => quiet += 1,
            Err(disagreement) => panic!("seed {seed}, threads {:?}: {}\n{text}", disagreement.order, disagreement.what),
        }
    }
    // Otherwise nothing is seen here.
    assert!(racy > 10 && quiet > 10, "{racy} race, {quiet} do not");
}

#[test]
fn the_collection_has_the_races_of_the_model() {
    let folder: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/litmus");
    let mut compared = 0;
    for file in files(&[folder]).expect("the collection is there") {
        let program = parse(&std::fs::read_to_string(&file).expect("it can be read")).expect("it is a test");
        if Threads::of(&program, &[], Space::Global).is_err() {
            continue;
        }
        match agree(&program, ORDERS, &Limits::default()) {
            Ok(_) => compared += 1,
            Err(disagreement) => panic!("{}, {:?}: {}", file.display(), disagreement.order, disagreement.what),
        }
    }
    assert!(compared > 40, "{compared} tests");
}

/// Drawn programs whose ends need this: a load that is late beyond a store to its place, or beyond a barrier; an atomic that waits
/// before a store, and one that releases; an exchange that returns what comes after a release. In the last ones an
/// atomic has acquired what forbids a late load its write, one that waits comes before what its thread releases by it, and a thread
/// knows what it has released itself.
const LATE: [u64; 8] = [163, 766, 1311, 2595, 8176, 1626, 208, 500431];

/// Drawn programs in which something was seen that is forbidden, an end or a race. An acquire that is late does not know what its
/// thread acquires later. An exchange that waits comes before a late load of its place. An atomic that waits releases what it has
/// acquired. A comparison that is late sees what a late load before it does. An atomic observes its own thread's store also if the write of
/// another one is newer. What a late exchange returns comes before what follows it. A read that comes after a late one returns nothing
/// older. A load is late after what its thread has to have acquired before it. The others had such ends when atomics could be late that
/// compute or compare.
const FORBIDDEN: [u64; 15] = [
    204372, 203688, 545840, 605445, 809809, 902001, 1101222, 512996, 201325, 201358, 201487, 202064, 202161, 204149,
    204515,
];

#[test]
fn weak_loads_return_what_the_model_allows() {
    let (mut more, mut without_race, mut ends, mut shown) = (0, 0, 0, 0);
    for seed in (0..DRAWN).chain(LATE).chain(FORBIDDEN) {
        let (program, text) = draw(seed);
        let runs = if seed < DRAWN { RUNS } else { 10 * RUNS };
        match agree_on_values(&program, Space::Global, runs, &Limits::default()) {
            Ok(Some(Values { cut: false, seen, allowed, in_order, races, .. })) => {
                more += usize::from(seen > in_order);
                without_race += usize::from(!races);
                (ends, shown) = (ends + allowed, shown + seen);
                assert!(races || seen == allowed, "seed {seed}: {seen} of {allowed} ends\n{text}");
            }
            Ok(_) => assert!(!LATE.contains(&seed), "seed {seed} is not run in all ways"),
            Err(disagreement) => panic!("seed {seed}, threads {:?}: {}\n{text}", disagreement.order, disagreement.what),
        }
    }
    // Those of the programs that race, too.
    assert_eq!(shown, ends);
    assert!(
        ends > 220 && more > 10 && without_race > 25,
        "{more} have more ends than with the newest values, {without_race} do not race"
    );
}

/// The same on two GPUs: the scope of one has no thread of the other.
#[test]
fn two_gpus_have_the_races_and_values_of_the_model() {
    let (mut racy, mut quiet, mut ends, mut shown) = (0, 0, 0, 0);
    for seed in 0..DRAWN {
        let (program, text) = draw_on(seed, 2);
        let said = |order: &[usize], what: &str| panic!("seed {seed}, threads {order:?}: {what}\n{text}");
        match agree(&program, ORDERS, &Limits::default()) {
            Ok(Agreement { races: true, .. }) => racy += 1,
            Ok(_) => quiet += 1,
            Err(disagreement) => said(&disagreement.order, &disagreement.what),
        }
        match agree_on_values(&program, Space::Global, RUNS, &Limits::default()) {
            Ok(Some(Values { cut: false, seen, allowed, races, .. })) => {
                (ends, shown) = (ends + allowed, shown + seen);
                assert!(races || seen == allowed, "seed {seed}: {seen} of {allowed} ends\n{text}");
            }
            Ok(_) => {}
            Err(disagreement) => said(&disagreement.order, &disagreement.what),
        }
    }
    assert!(racy > 10 && quiet > 5 && ends > 100, "{racy} race, {quiet} do not; {shown} of {ends} ends");
}

/// A weak load that is performed late comes after a strong one of the same place, which is before it in its thread.
#[test]
fn a_late_weak_load_stays_behind_a_strong_one() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/litmus");
    let text = std::fs::read_to_string(folder.join("CoRR-relaxed-weak.litmus")).expect("it is there");
    let program = parse(&text).expect("it is a test");
    match agree_on_values(&program, Space::Global, ORDERS, &Limits::default()) {
        Ok(Some(values)) => assert!(!values.cut && values.seen == values.allowed),
        Ok(None) => panic!("it is not compared"),
        Err(disagreement) => panic!("threads {:?}: {}", disagreement.order, disagreement.what),
    }
}
