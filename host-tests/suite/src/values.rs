//! What each instruction computes: on the GPU, and in the interpreter on the same machine, bit by bit.

use std::time::Duration;

use ::values::{BLOCK, Case, Judged, bytes_of, every, find, header, judge, numbers_of};
use rayon::prelude::*;
use serde_json::{Value, json};

use super::journal::{Found, Item, Work};
use super::kernels::VALUES;
use super::stage::{Bench, Facts, Stage};
use launch::gpu::{Argument, Gpu, Launch, Module};
use ptx_build::error::{Error, Result};
use ptx_build::ptxas::On;
use ptx_build::target::Sm;
use workloads::image::{Image, keep};

/// The generation whose instructions the tables have.
const GENERATION: u32 = 9;

/// Kernels of an image.
const ASSEMBLED: usize = 60;

/// The kernels as machine code, if the GPU is of their generation. That an assembler refuses one is an error of a table.
pub(super) fn images(on: &On) -> Result<Vec<Image>> {
    if !is_of_generation(on) {
        return Ok(Vec::new());
    }
    let (specific, plain): (Vec<&Case>, Vec<&Case>) = every().iter().partition(|case| case.is_specific);
    let own = Sm { suffix: Some('a'), ..on.sm };
    let parts = plain.chunks(ASSEMBLED).map(|cases| (cases, on.sm));
    let parts: Vec<_> = parts.chain(specific.chunks(ASSEMBLED).map(|cases| (cases, own))).collect();
    let image = |(cases, target): &(&[&Case], Sm)| {
        let texts = cases.iter().map(|case| case.text());
        let text: String = std::iter::once(header(&on.version.to_string(), &target.to_string())).chain(texts).collect();
        assemble(cases.iter().map(|case| case.name.clone()).collect(), &text, *target, on)
    };
    parts.par_iter().map(image).collect()
}

/// Whether the tables have the instructions of a GPU.
pub(super) fn is_of_generation(on: &On) -> bool {
    on.sm.number / 10 == GENERATION
}

/// An image of these kernels.
pub(super) fn assemble(kernels: Vec<String>, text: &str, target: Sm, on: &On) -> Result<Image> {
    let scratch = tempfile::tempdir().map_err(|error| Error::io("create a folder in", &std::env::temp_dir(), error))?;
    let cubin = on.assembler.assemble_text(text, target, &scratch.path().join("values.cubin"))?;
    let cubin =
        cubin.map_err(|rejected| Error::new(rejected).fix("correct its line in host-tests/values/src/tables"))?;
    let cubin = std::fs::read(&cubin.path).map_err(|error| Error::io("read", &cubin.path, error))?;
    keep(&cubin, text, on.sm)?;
    Ok(Image { kernels, cubin })
}

/// The stage. Each kernel is an item.
pub(super) struct Values;

impl Stage for Values {
    fn facts(&self) -> Facts {
        let about = "What instructions compute, beside the interpreter";
        Facts { name: VALUES, about, limit: Duration::from_secs(60) }
    }

    fn launch_limit(&self) -> Duration {
        Duration::from_secs(10)
    }

    /// A GPU of another generation has none of them.
    fn work(&self, bench: &Bench) -> Result<Work> {
        let images = bench.kernels()?.section(VALUES);
        let work: Work = images.iter().flat_map(|image| image.kernels.clone()).collect();
        let missing = every().len() - work.items.len();
        let with = if missing > 0 { json!({ "kernels_that_are_not_here": missing }) } else { Value::Null };
        Ok(Work { with, ..work })
    }

    fn run(&self, bench: &Bench, item: &Item) -> Result<Option<Found>> {
        let case = find(&item.name).ok_or_else(|| Error::new("no table has this kernel"))?;
        let module = bench.module(VALUES, &item.name)?;
        let input = case.input(bench.settings.seed, bench.settings.quick);
        let found = on_gpu(case, &input, bench.gpu().map_err(Error::new)?, &module)?;
        let interpreted = case.interpret(&input).map_err(Error::new)?;
        let Judged { passed, text, data } = judge(case, &input, &found, &interpreted);
        Ok(Some(Found { passed, text, data }))
    }
}

/// What the GPU makes of these operands.
fn on_gpu(case: &Case, input: &[u64], gpu: &Gpu, module: &Module) -> Result<Vec<u64>> {
    let (from, to) = (gpu.upload(&bytes_of(input))?, gpu.upload(&bytes_of(&case.poison(input)))?);
    let launch = Launch {
        kernel: case.name.clone(),
        blocks: (input.len() / case.reads() / BLOCK) as u32,
        threads: BLOCK as u32,
        shared: 0,
        arguments: [&from, &to].map(|buffer| Argument::U64(buffer.address())).into(),
    };
    // SAFETY: a kernel of the tables takes two addresses, and each of these threads has its operands and room for its results.
    unsafe { gpu.launch(module, &launch) }?;
    gpu.wait()?;
    Ok(numbers_of(&gpu.download(&to)?))
}
