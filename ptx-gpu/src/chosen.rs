//! Which launches are checked, where the user has chosen some. The others only run.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use ptx_interpreter::{DeviceLaunch, Launch, Overwritten, Record, Report, Used};

use crate::changed::is_checked;
use crate::children::Parent;
use crate::gpu::{Function, Gpu};
use crate::launch::{Grid, as_changed};
use crate::order::Point;
use crate::output::{print, tell};
use crate::settings::SETTINGS;
use crate::visible::one_of_several;
use crate::work::Shape;

/// Instructions of a launch that is not checked. Of one that takes more the checks have to say whether it ends.
const STEPS: u64 = 1 << 36;
/// The same, if it may wait for what is done later.
const STEPS_THAT_MAY_WAIT: u64 = 1 << 28;

/// A kernel and its blocks, threads and bytes of shared memory.
type Shaped = (String, [u32; 3], [u32; 3], u32);

/// How many launches of each kernel were checked, in each shape.
#[derive(Default)]
pub(crate) struct Chosen(HashMap<Shaped, u64>);

impl Chosen {
    /// Whether a launch is to be checked. It counts as one that was.
    fn takes(&mut self, kernel: &str, shape: &Shape) -> bool {
        let is_named = SETTINGS.kernels.is_empty() || SETTINGS.kernels.iter().any(|name| has_name(kernel, name));
        let Some(most) = SETTINGS.launches.filter(|_| is_named) else { return is_named };
        let shaped = (kernel.to_owned(), shape.blocks, shape.threads, shape.shared);
        let count = self.0.entry(shaped).or_default();
        *count += 1;
        *count <= most
    }
}

/// Whether a kernel has a name, as compilers write it: the parts of `space::kernel` one after the other.
fn has_name(kernel: &str, name: &str) -> bool {
    name.split("::").try_fold(kernel, |rest, part| Some(rest.split_once(part)?.1)).is_some()
}

impl Gpu {
    /// Runs a launch that the user does not want to have checked, and says what it has launched. If it goes wrong, memory is as it was: the
    /// checks say why.
    pub(crate) fn launch_unchecked(
        &mut self,
        grids: &[Grid<'_>],
        (function, shape): (&Function, &Shape),
        points: &mut [Point],
        (parent, may_wait): (Option<&Parent>, bool),
    ) -> Option<Vec<DeviceLaunch>> {
        let name = function.name();
        if !is_checked() || grids.len() > 1 || self.chosen.takes(&name, shape) {
            return None;
        }
        let (overwritten, heap) = (Mutex::<Overwritten>::default(), self.heap().clone());
        let steps = if may_wait { STEPS_THAT_MAY_WAIT } else { STEPS };
        let report = self.with_launch((grids, &name), shape, |program, outside, launch| {
            let launch = as_changed(Launch { seed: SETTINGS.seed, steps, overwritten: Some(&overwritten), ..launch });
            // SAFETY: the values are as long as the parameters, and the allocations are there to be used.
            Ok(unsafe { program.run_only(outside, &launch) })
        });
        let Some(report) = report.ok().filter(|report| report.stop.is_none()) else {
            self.take_back(&overwritten, &heap);
            return None;
        };
        let overwritten = overwritten.into_inner().unwrap_or_else(PoisonError::into_inner);
        self.memory.written_to(overwritten.places());
        self.has_run_unchecked(function, points, parent);
        self.has_counted(function, &report.counts);
        let Report { printed, instructions, launched, .. } = report;
        print(&printed);
        tell(&Record {
            kernel: name,
            launch: self.launches,
            gpu: one_of_several(self.gpu_of(function)),
            blocks: shape.blocks,
            threads: shape.threads,
            seed: SETTINGS.seed,
            instructions,
            is_unchecked: true,
            ..Record::default()
        });
        Some(launched)
    }

    /// It has its place in its stream. What it uses is not known.
    fn has_run_unchecked(&mut self, function: &Function, points: &mut [Point], parent: Option<&Parent>) {
        let Some(module) = self.modules.get(&function.module) else { return };
        let (name, program) = (function.name(), Arc::clone(&module.program));
        if program.may_wait(&name) {
            // By a flag it may have told others what came before it, or been told what they have done.
            (0..self.gpus.len()).for_each(|gpu| self.order.host_waits_for_gpu(gpu));
        }
        self.have_run(&name, &program, &Used::default(), points, parent);
    }
}

#[cfg(test)]
mod tests {
    use super::has_name;

    #[test]
    fn kernels_are_named_by_parts_of_their_names() {
        let kernel = "_ZN2at6native29vectorized_elementwise_kernelILi4EE";
        for name in ["elementwise", "at::native::vectorized_elementwise_kernel", "native::vectorized", kernel] {
            assert!(has_name(kernel, name), "{name}");
        }
        for name in ["native::at", "elementwise::elementwise", "reduce"] {
            assert!(!has_name(kernel, name), "{name}");
        }
    }
}
