//! Work is done, or recorded by a stream that captures.

use std::ffi::c_void;
use std::sync::Arc;
use std::time::Instant;

use crate::call::get;
use crate::executable::Executable;
use crate::gpu::{Handle, any, live};
use crate::memory::Home;
use crate::status::{INVALID_HANDLE, INVALID_VALUE, NOT_READY, Result};
use crate::transfer;
use crate::work::{Host, WaitValue, Work};

/// Gives work to a stream.
pub(crate) fn submit(stream: Handle, work: Work) -> Result {
    {
        let mut gpu = live()?;
        let (stream, captures) = gpu.enter(stream)?;
        if captures {
            gpu.check(&work)?;
            return gpu.record(stream, work);
        }
    }
    perform(&work)
}

/// Does work and waits for it: in the default stream.
pub(crate) fn submit_and_wait(work: &Work) -> Result {
    live()?.wait_for(0)?;
    perform(work)
}

/// Launches what a graph became.
pub(crate) fn launch(executable: Handle, stream: Handle) -> Result {
    let found = {
        let mut gpu = live()?;
        let found = gpu.executables.get(&executable).cloned().ok_or(INVALID_HANDLE)?;
        let (stream, captures) = gpu.enter(stream)?;
        if captures {
            let graph = gpu.graphs.of_executable(&found)?;
            return gpu.record(stream, Work::Child(graph));
        }
        found
    };
    run(&found)
}

fn run(executable: &Arc<Executable>) -> Result {
    if executable.flags & AUTO_FREE != 0 {
        let mut gpu = live()?;
        for step in &executable.steps {
            if let Work::Allocate(place, _) = step.work {
                gpu.memory.sleep(place);
            }
        }
    }
    steps(executable)
}

/// `CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH`
const AUTO_FREE: u64 = 1;

fn steps(executable: &Executable) -> Result {
    for at in &executable.order {
        let step = &executable.steps[*at];
        // What goes wrong on the GPU shows at the next call.
        if any().fault.is_some() {
            return Ok(());
        }
        match &step.child {
            _ if !step.is_enabled => {}
            Some(child) => steps(child)?,
            None => perform(&step.work)?,
        }
    }
    Ok(())
}

fn perform(work: &Work) -> Result {
    match work {
        Work::Kernel(kernel) => live()?.launch(kernel.function, &kernel.shape, &kernel.arguments.values),
        Work::Copy(what) => transfer::copy(&mut *live()?, what),
        Work::Fill(what) => transfer::fill(&mut *live()?, what),
        Work::Host(Host { function, data }) => {
            live().map(drop)?;
            // SAFETY: the program hands over a function and its data. The driver is not locked meanwhile.
            unsafe { function(*data as *mut c_void) };
            Ok(())
        }
        Work::Child(_) => Err(INVALID_VALUE),
        Work::Empty => Ok(()),
        Work::WaitEvent(event) => live()?.event(*event).map(drop),
        Work::RecordEvent(event) => {
            let mut gpu = live()?;
            let event = gpu.event(*event)?;
            (event.recorded, event.captured) = (Some(Instant::now()), None);
            Ok(())
        }
        Work::Allocate(place, _) => live()?.memory.wake(*place),
        Work::Free(place, call) => live()?.memory.free(*place, &[Home::Device, Home::Managed, Home::Graph], call),
        Work::WaitValue(what) => wait(what),
    }
}

/// It can only hold already, because everything before it is done.
fn wait(what: &WaitValue) -> Result {
    let gpu = live()?;
    gpu.memory.expect(what.address, what.bytes, what.call)?;
    let is = if what.bytes == 4 { get(what.address as *const u32)?.into() } else { get(what.address as *const u64)? };
    let unused = 64 - 8 * what.bytes as u32;
    // At least, equal, a common bit, a bit that neither has.
    let holds = match what.flags & 3 {
        0 => (is.wrapping_sub(what.value) << unused) as i64 >= 0,
        1 => is == what.value,
        2 => is & what.value != 0,
        _ => !(is | what.value) << unused != 0,
    };
    if holds { Ok(()) } else { Err(NOT_READY) }
}
