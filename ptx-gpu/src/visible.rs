//! Which GPUs of the machine a program sees.

use crate::device::uuid;
use crate::output::note;
use crate::settings::SETTINGS;

const VARIABLE: &str = "CUDA_VISIBLE_DEVICES";

/// How many there are in the machine.
pub(crate) fn machine() -> usize {
    SETTINGS.gpus.unwrap_or(1)
}

/// How messages go on with a GPU, if there are several.
pub(crate) fn of_gpu(gpu: usize) -> String {
    one_of_several(gpu).map(|gpu| format!(" of GPU {gpu}")).unwrap_or_default()
}

/// The GPU, if there are several.
pub(crate) fn one_of_several(gpu: usize) -> Option<usize> {
    (machine() > 1).then_some(gpu)
}

/// The numbers of those that the program sees, in its order. The variable counts if `--gpus` says how many there are.
pub(crate) fn visible() -> Vec<usize> {
    let all = (0..machine()).collect();
    let Some(names) = SETTINGS.gpus.and_then(|_| std::env::var(VARIABLE).ok()) else { return all };
    let found = named(&names, machine());
    if found.is_empty() {
        note(&format!("{VARIABLE}={names} leaves none of the GPUs, which are {} (`--gpus`)", machine()));
    }
    found
}

/// Those that a list names, up to the first name of none. One that is named twice leaves none.
fn named(names: &str, count: usize) -> Vec<usize> {
    let found: Vec<usize> = names.split(',').map_while(|name| find(name.trim(), count)).collect();
    let is_twice = |(at, number): (usize, &usize)| found[..at].contains(number);
    if found.iter().enumerate().any(is_twice) { Vec::new() } else { found }
}

/// By its number, or by how its UUID begins.
fn find(name: &str, count: usize) -> Option<usize> {
    if name.starts_with("GPU-") {
        let mut all = (0..count).filter(|number| uuid(*number).starts_with(name));
        return all.next().filter(|_| all.next().is_none());
    }
    name.parse().ok().filter(|number| *number < count)
}
