//! Launches that the user does not want to have checked: they only run.

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
