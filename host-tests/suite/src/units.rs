//! What the units for approximate functions give for every operand of some binades, beside the exact results.

use std::time::Duration;

use ::values::{UNITS, Unit, header, words_of};
use serde_json::Value;

use super::journal::{Found, Item, Work};
use super::kernels::UNITS as NAME;
use super::stage::{Bench, Facts, Stage};
use super::values::{assemble, is_of_generation};
use launch::gpu::{Argument, Launch};
use ptx_build::error::{Error, Result};
use ptx_build::ptxas::On;
use workloads::image::Image;

/// Threads of a block.
const THREADS: u32 = 128;

/// The kernels as machine code.
pub(super) fn images(on: &On) -> Result<Vec<Image>> {
    if !is_of_generation(on) {
        return Ok(Vec::new());
    }
    let text = header(&on.version.to_string(), &on.sm.to_string()) + &UNITS.iter().map(Unit::text).collect::<String>();
    let names = UNITS.iter().map(|unit| unit.name.to_owned()).collect();
    Ok(vec![assemble(names, &text, on.sm, on)?])
}

/// The stage. Each unit is an item.
pub(super) struct Units;

impl Stage for Units {
    fn facts(&self) -> Facts {
        Facts { name: NAME, about: "Units for approximate functions, whole", limit: Duration::from_secs(25) }
    }

    fn launch_limit(&self) -> Duration {
        Duration::from_secs(5)
    }

    fn work(&self, bench: &Bench) -> Result<Work> {
        let images = bench.kernels()?.section(NAME);
        if images.is_empty() {
            return bench.nothing("kernel of a unit");
        }
        Ok(images.iter().flat_map(|image| image.kernels.clone()).collect())
    }

    fn run(&self, bench: &Bench, item: &Item) -> Result<Option<Found>> {
        let unit = UNITS.iter().find(|unit| unit.name == item.name);
        let unit = unit.ok_or_else(|| Error::new("there is no such unit"))?;
        let binades = unit.binades(bench.settings.quick).into_iter();
        let judged = binades.map(|(first, count)| Ok(unit.judge(first, &results(bench, unit, first, count)?)));
        let judged = judged.collect::<Result<Vec<_>>>()?;
        let text: Vec<&str> = judged.iter().map(|judged| judged.text.as_str()).collect();
        let (passed, text) = (judged.iter().all(|judged| judged.passed), text.join("; "));
        Ok(Some(Found { passed, text, data: Value::Array(judged.into_iter().map(|judged| judged.data).collect()) }))
    }
}

/// What the GPU gives for the operands from the first one on.
fn results(bench: &Bench, unit: &Unit, first: u32, count: usize) -> Result<Vec<u32>> {
    let module = bench.module(NAME, unit.name)?;
    let gpu = bench.gpu().map_err(Error::new)?;
    let to = gpu.upload(&vec![0xa5; 4 * count])?;
    let launch = Launch {
        kernel: unit.name.into(),
        blocks: count as u32 / THREADS,
        threads: THREADS,
        shared: 0,
        arguments: vec![Argument::U64(to.address()), Argument::U32(first)],
    };
    // SAFETY: the kernel takes an address and a number, and each thread writes its own four bytes of the buffer.
    unsafe { gpu.launch(&module, &launch) }?;
    gpu.wait()?;
    Ok(words_of(&gpu.download(&to)?))
}
