//! What each instruction computes: on the GPU, and in the interpreter on the same machine, bit by bit.

use std::collections::HashMap;
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

use ::values::{BLOCK, Case, Judged, bytes_of_all, every, find, header, judge, numbers_of};
use rayon::prelude::*;
use serde_json::{Value, json};

use super::journal::{Found, Item, Known, Work};
use super::kernels::VALUES;
use super::stage::{Bench, Facts, Stage};
use launch::gpu::{Argument, Gpu, Launch, Module};
use ptx_build::error::{Error, Result};
use ptx_build::ptxas::On;
use ptx_build::target::Sm;
use workloads::image::{Image, assembled};

/// The generation whose instructions the tables have.
const GENERATION: u32 = 9;

/// Kernels of an image. They are launched together: where other programs use the GPU too, each wait for it may take tens of
/// milliseconds.
const ASSEMBLED: usize = 96;

/// The part of an item that launches the kernels after it.
const TOGETHER: &str = "with those after it";

const NO_PANIC: &str = "nobody panics with it";

/// The kernels as machine code, if the GPU is of their generation. That an assembler refuses one is an error of a table.
pub(super) fn images(on: &On) -> Result<Vec<Image>> {
    if !is_of_generation(on) {
        return Ok(Vec::new());
    }
    let (specific, plain): (Vec<&Case>, Vec<&Case>) = every().iter().partition(|case| case.is_specific);
    let own = Sm { suffix: Some('a'), ..on.sm };
    let parts = plain.chunks(ASSEMBLED).map(|cases| (cases, on.sm));
    let mut parts: Vec<_> = parts.chain(specific.chunks(ASSEMBLED).map(|cases| (cases, own))).collect();
    let place = |name: &str| every().iter().position(|case| case.name == name);
    parts.sort_by_key(|(cases, _)| place(&cases[0].name));
    let image = |(cases, target): &(&[&Case], Sm)| {
        let texts = cases.iter().map(|case| case.text());
        let text: String = std::iter::once(header(&on.version.to_string(), &target.to_string())).chain(texts).collect();
        assemble(cases.iter().map(|case| case.name.clone()).collect(), &text, *target, on)
    };
    parts.par_iter().map(image).collect()
}

/// Whether the tables have the instructions of a GPU.
fn is_of_generation(on: &On) -> bool {
    on.sm.number / 10 == GENERATION
}

/// An image of these kernels.
fn assemble(kernels: Vec<String>, text: &str, target: Sm, on: &On) -> Result<Image> {
    let cubin = assembled(text, target, on)?;
    let cubin =
        cubin.map_err(|rejected| Error::new(rejected).fix("correct its line in host-tests/values/src/tables"))?;
    Ok(Image { kernels, cubin })
}

/// The stage. Each kernel is an item; those of an image are launched together, as long as nothing goes wrong.
#[derive(Default)]
pub(super) struct Values {
    /// Kernels that could not be launched together with those after them, in this process or one before it.
    failed: OnceLock<Mutex<Vec<String>>>,
    /// What came of kernels whose turn has not come.
    ready: Mutex<HashMap<String, Result<Found>>>,
}

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
        if images.is_empty() {
            return bench.nothing("kernel of an instruction");
        }
        let work: Work = images.iter().flat_map(|image| image.kernels.clone()).collect();
        let missing = every().len() - work.items.len();
        let with = if missing > 0 { json!({ "kernels_that_are_not_here": missing }) } else { Value::Null };
        Ok(Work { with, ..work })
    }

    fn run(&self, bench: &Bench, item: &Item) -> Result<Option<Found>> {
        if let Some(found) = self.taken(item) {
            return found.map(Some);
        }
        if !self.is_one_by_one(bench, item)? {
            bench.begin(VALUES, item, Some(TOGETHER))?;
            match all_of(bench, &from(bench, item)?) {
                Ok(found) => self.ready.lock().expect(NO_PANIC).extend(found),
                Err(error) => {
                    bench.lose(VALUES, item, Some(TOGETHER), error)?;
                    self.failed(bench)?.lock().expect(NO_PANIC).push(item.name.clone());
                }
            }
            if bench.gpu_is_gone() {
                return Ok(None);
            }
            bench.begin(VALUES, item, None)?;
            if let Some(found) = self.taken(item) {
                return found.map(Some);
            }
        }
        let alone = all_of(bench, &[item.name.as_str()])?.pop();
        alone.map(|(_, found)| found).transpose()
    }
}

impl Values {
    fn taken(&self, item: &Item) -> Option<Result<Found>> {
        self.ready.lock().expect(NO_PANIC).remove(&item.name)
    }

    fn failed(&self, bench: &Bench) -> Result<&Mutex<Vec<String>>> {
        if self.failed.get().is_none() {
            let lost = Known::of(VALUES, &bench.journal.events()?).lost.into_iter();
            let failed = lost.filter(|(_, part, _)| part.as_deref() == Some(TOGETHER)).map(|(item, ..)| item);
            let _ = self.failed.set(Mutex::new(failed.collect()));
        }
        Ok(self.failed.get().expect("it was set"))
    }

    /// Whether a launch of several kernels of its image went wrong.
    fn is_one_by_one(&self, bench: &Bench, item: &Item) -> Result<bool> {
        let image = bench.kernels()?.image_of(VALUES, &item.name)?;
        let failed = self.failed(bench)?.lock().expect(NO_PANIC);
        Ok(failed.iter().any(|name| image.kernels.contains(name)))
    }
}

/// The wanted kernels of an item's image, from its own on: those before it have a result.
fn from<'b>(bench: &'b Bench, item: &Item) -> Result<Vec<&'b str>> {
    let image = bench.kernels()?.image_of(VALUES, &item.name)?;
    let wanted = &bench.settings.items;
    let is_wanted = |name: &&str| wanted.is_empty() || wanted.iter().any(|own| own == name);
    let names = image.kernels.iter().map(String::as_str).skip_while(|name| *name != item.name);
    Ok(names.filter(is_wanted).collect())
}

/// What came of some kernels of an image, each by itself. An error is one of the GPU.
fn all_of(bench: &Bench, names: &[&str]) -> Result<Vec<(String, Result<Found>)>> {
    let case = |name: &&str| find(name).ok_or_else(|| Error::new("no table has this kernel").at(name));
    let cases: Vec<&'static Case> = names.iter().map(case).collect::<Result<_>>()?;
    let (seed, quick) = (bench.settings.seed, bench.settings.quick);
    let work: Vec<Launched> =
        cases.into_par_iter().map(|case| Launched { case, input: case.input(seed, quick) }).collect();
    let module = bench.module(VALUES, names[0])?;
    let gpu = bench.gpu().map_err(Error::new)?;
    let (found, interpreted) = std::thread::scope(|scope| {
        // The GPU belongs to this thread.
        let interpreted = scope.spawn(|| {
            let interpret = |one: &Launched| one.case.interpret(&one.input).map_err(Error::new);
            work.par_iter().map(interpret).collect::<Vec<_>>()
        });
        (on_gpu(&work, gpu, &module), interpreted.join().expect("the interpreter does not panic"))
    });
    let judged = |((one, found), interpreted): ((&Launched, Vec<u64>), Result<Vec<u64>>)| {
        let found = interpreted.map(|interpreted| {
            let Judged { passed, text, data } = judge(one.case, &one.input, &found, &interpreted);
            Found { passed, text, data }
        });
        (one.case.name.clone(), found)
    };
    Ok(work.par_iter().zip(found?).zip(interpreted).map(judged).collect())
}

/// A kernel with its operands.
struct Launched {
    case: &'static Case,
    input: Vec<u64>,
}

/// What the GPU makes of the operands of each kernel. All lie in one buffer, and all results in another.
fn on_gpu(work: &[Launched], gpu: &Gpu, module: &Module) -> Result<Vec<Vec<u64>>> {
    let outputs: Vec<Vec<u64>> = work.iter().map(|one| one.case.poison(&one.input)).collect();
    let parts: Vec<&[u64]> = work.iter().map(|one| &one.input[..]).collect();
    let inputs = gpu.upload(&bytes_of_all(&parts))?;
    let parts: Vec<&[u64]> = outputs.iter().map(|output| &output[..]).collect();
    let results = gpu.upload(&bytes_of_all(&parts))?;
    let (mut from, mut to) = (inputs.address(), results.address());
    for (Launched { case, input }, output) in work.iter().zip(&outputs) {
        let launch = Launch {
            kernel: case.name.clone(),
            blocks: (input.len() / case.reads() / BLOCK) as u32,
            threads: BLOCK as u32,
            shared: 0,
            arguments: vec![Argument::U64(from), Argument::U64(to)],
        };
        // SAFETY: a kernel of the tables takes two addresses, and each of these threads has its operands and room for its results.
        unsafe { gpu.launch(module, &launch) }?;
        from += size_of_val(&input[..]) as u64;
        to += size_of_val(&output[..]) as u64;
    }
    gpu.wait()?;
    let (found, mut at) = (numbers_of(&gpu.download(&results)?), 0);
    let mut next = |output: &Vec<u64>| {
        at += output.len();
        found[at - output.len()..at].to_vec()
    };
    Ok(outputs.iter().map(&mut next).collect())
}
