//! Many tests, of files and drawn ones.

use std::fmt::Write;
use std::ops::Range;
use std::path::PathBuf;

use ptx_build::error::{Error, Result};
use ptx_build::progress::Progress;
use rayon::prelude::*;

use super::compare::{Agreement, Disagreement, Values, agree, agree_on_values};
use super::draw::draw_on;
use crate::{Limits, Program, Space, Threads, parse};

/// Orders of one program that are run, at most.
pub const ORDERS: u64 = 3000;
/// The same, with weak loads.
pub const RUNS: u64 = 10_000;

/// A test, its text, and what came of it.
type Compared = (String, Option<Result<(Agreement, Option<Values>), Disagreement>>);

/// Compares the tests of files, and those of seeds, whose blocks are on so many GPUs. Says in words what came of it, and whether something disagrees.
pub fn compare_all(
    files: &[PathBuf],
    (seeds, gpus): (Range<u64>, usize),
    limits: &Limits,
    progress: &Progress,
) -> Result<(String, bool)> {
    let bar = progress.bar(files.len() as u64 + seeds.end - seeds.start, "Running all orders");
    let compare = |program: &Program, text: String| {
        let compare = || Ok((agree(program, ORDERS, limits)?, agree_on_values(program, Space::Global, RUNS, limits)?));
        let agreement = Threads::of(program, &[], Space::Global).is_ok().then(compare);
        bar.inc(1);
        (text, agreement)
    };
    let of_file = |file: &PathBuf| {
        let text = std::fs::read_to_string(file).map_err(|error| Error::io("read", file, error))?;
        let program = parse(&text).map_err(|unread| {
            Error::new(unread.to_string()).at(file.display()).fix("see `cargo xtask litmus` of this file")
        })?;
        Ok(compare(&program, format!("{}\n{text}", file.display())))
    };
    let of_seed = |seed: u64| {
        let (program, text) = draw_on(seed, gpus);
        compare(&program, text)
    };
    let mut all: Vec<Compared> = files.par_iter().map(of_file).collect::<Result<_>>()?;
    all.extend(seeds.into_par_iter().map(of_seed).collect::<Vec<_>>());
    Ok(told(&all))
}

fn told(all: &[Compared]) -> (String, bool) {
    let mut text = String::new();
    let compared = || all.iter().filter_map(|(_, compared)| compared.as_ref()?.as_ref().ok());
    let agreements = || compared().map(|(agreement, _)| agreement);
    let values = || compared().filter_map(|(_, values)| values.as_ref());
    let count = |is: &dyn Fn(&Agreement) -> bool| agreements().filter(|agreement| is(agreement)).count();
    let wrong: Vec<(&String, &Disagreement)> =
        all.iter().filter_map(|(text, compared)| Some((text, compared.as_ref()?.as_ref().err()?))).collect();
    for (test, disagreement) in &wrong {
        writeln!(text, "{test}the threads' turns {:?}: {}\n", disagreement.order, disagreement.what)
            .expect("a string takes all");
    }
    for (test, compared) in all {
        let Some(Ok((_, Some(values)))) = compared else { continue };
        if !values.cut && !values.missing.is_empty() {
            let missing = values.missing.join("\n");
            writeln!(text, "{test}with weak loads these ends were not seen:\n{missing}\n").expect("a string takes all");
        }
    }
    writeln!(
        text,
        "{} tests: {} do not fit, {} compared in {} orders, of which {} race; {} disagree\n\
         {} tests race in an order; {} only in executions that no order has; {} have more orders than were run\n\
         {} races of {} tests are those of another order of fence.sc, where each load returns the same\n\
         weak loads: {} tests in {} runs\n  that race: {}\n  that do not: {}",
        all.len(),
        all.iter().filter(|(_, compared)| compared.is_none()).count(),
        agreements().count() + wrong.len(),
        agreements().map(|agreement| agreement.orders).sum::<u64>(),
        agreements().map(|agreement| agreement.racy_orders).sum::<u64>(),
        wrong.len(),
        count(&|agreement| agreement.races),
        count(&|agreement| !agreement.races && agreement.model_races == Some(true)),
        count(&|agreement| agreement.cut),
        agreements().map(|agreement| agreement.other_fences.len()).sum::<usize>(),
        count(&|agreement| !agreement.other_fences.is_empty()),
        values().count(),
        values().map(|values| values.runs).sum::<u64>(),
        ends(values().filter(|values| values.races)),
        ends(values().filter(|values| !values.races)),
    )
    .expect("a string takes all");
    (text, !wrong.is_empty())
}

/// How many of the allowed ends were seen, of the tests that were run in all ways.
fn ends<'v>(values: impl Iterator<Item = &'v Values>) -> String {
    let whole: Vec<&Values> = values.filter(|values| !values.cut).collect();
    let sum = |of: &dyn Fn(&Values) -> usize| whole.iter().map(|values| of(values)).sum::<usize>();
    format!(
        "{} tests, run in all ways: {} ends are allowed, {} were seen, {} of them also with the newest values alone; all ends were \
         seen of {} tests",
        whole.len(),
        sum(&|values| values.allowed),
        sum(&|values| values.seen),
        sum(&|values| values.in_order),
        sum(&|values| usize::from(values.seen == values.allowed)),
    )
}
