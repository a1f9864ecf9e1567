//! Each kernel of the corpus on the GPU as it is: does it end, and does the right one leave the bytes that the interpreter leaves?

use std::time::Duration;

use serde_json::json;

use super::case::{SIDES, pair_of};
use super::launched::{End, Launched};
use super::order;
use super::processes::{Job, Judged, Pairs, Processes, Ran, Unpacked, nothing};
use crate::journal::{Found, Item, Work};
use crate::stage::{Bench, Facts, Stage};
use ptx_build::error::{Error, Result};

/// The name of the stage.
pub const BARE: &str = "corpus";

/// How long a launch may take. The kernels take microseconds.
const LAUNCH: Duration = Duration::from_secs(2);

/// The stage.
pub struct Bare;

impl Stage for Bare {
    fn facts(&self) -> Facts {
        Facts { name: BARE, about: "Wrong kernels and their twins", limit: Duration::from_secs(60) }
    }

    fn launch_limit(&self) -> Duration {
        LAUNCH
    }

    fn work(&self, bench: &Bench) -> Result<Work> {
        let Some(pairs) = Pairs::of(bench)? else { return nothing(bench) };
        let kernels = SIDES.iter().rev().flat_map(|side| pairs.cases.iter().map(|case| case.kernel(side)));
        Ok(Work { with: json!({ "left_out": pairs.left_out }), ..kernels.collect() })
    }

    fn run(&self, _: &Bench, _: &Item) -> Result<Option<Found>> {
        Err(Error::new("its items are done side by side"))
    }

    fn side_by_side(&self, bench: &Bench, left: &[Item]) -> Option<Result<()>> {
        Some(launch(bench, left))
    }
}

fn launch(bench: &Bench, left: &[Item]) -> Result<()> {
    let Some(unpacked) = Unpacked::of(bench)? else { return Ok(()) };
    let limit = bench.settings.launch_limit.unwrap_or(LAUNCH);
    let names: Vec<String> = left.iter().map(|item| item.name.clone()).collect();
    let jobs = order::bare(&names, limit, &unpacked.pairs);
    let judge = |_: &Job, ran: &Ran, _: usize| {
        let found = ran.launched.iter().map(|one| Ok((one.kernel.clone(), found(&unpacked.pairs, one, ran.seconds)?)));
        Ok(Judged { found: found.collect::<Result<_>>()?, again: Vec::new() })
    };
    Processes::new(BARE, bench, &unpacked)?.run(jobs, &|_, _| None, &judge)
}

/// A wrong kernel may do what it likes. Its process took this number of seconds.
fn found(pairs: &Pairs, launched: &Launched, seconds: f64) -> Result<Found> {
    let case = pairs.case(&launched.kernel)?;
    let is_right = launched.end == End::Ended && launched.differ == 0 && launched.said.is_none();
    let passed = is_right || pair_of(&launched.kernel).0 == "wrong";
    let data = json!({ "kind": case.kind, "here": case.here, "launched": launched, "seconds": seconds });
    Ok(Found { passed, text: launched.text(), data })
}
