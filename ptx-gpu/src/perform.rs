//! Work is done, or recorded by a stream that captures.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use crate::called::Called;
use crate::caller::Caller;
use crate::calling;
use crate::executable::Executable;
use crate::gpu::{Gpu, Handle, any, contexts, current, live};
use crate::host_access::{close_unfinished, tell_accesses};
use crate::memory::Home;
use crate::order::{Clock, Group, Member, Point};
use crate::status::{INVALID_HANDLE, INVALID_VALUE, NOT_READY, Result};
use crate::transfer;
use crate::waiting::NEWS;
use crate::work::{Host, Side, Transfer, WaitValue, Work};

/// Gives work to a stream.
pub(crate) fn submit(stream: Handle, work: Work) -> Result {
    let caller = match &work {
        Work::Library(routine) => routine.caller.clone(),
        _ => Caller::of_call(),
    };
    let point = {
        let mut gpu = live()?;
        let (stream, captures) = gpu.enter(stream)?;
        gpu.is_of(&work, stream)?;
        if captures {
            gpu.check(&work)?;
            let event = work.event();
            gpu.record(stream, work)?;
            return event.map_or(Ok(()), |event| gpu.mark(stream, event));
        }
        work.event().map_or(Ok(()), |event| gpu.event_for(event, stream).map(drop))?;
        gpu.begin(&work, stream, caller)
    };
    give(&work, point, false)
}

/// Does work, or holds it if it waits for what is done later. The host may wait for it.
fn give(work: &Work, mut point: Point, waits: bool) -> Result {
    let (follows, may_wait) = (live()?.follows_held(work, &point), point.member.is_none());
    let mut called = None;
    let is_held = match work {
        _ if follows => true,
        Work::Kernel(kernel) => live()?.launch(&[kernel], std::slice::from_mut(&mut point), may_wait)?,
        Work::Host(host) if may_wait => {
            let begun = begin_call(host, &point)?;
            let has_ended = begun.wait_for(SHORT);
            called = Some(Work::Host(Host { called: Some(begun), ..host.clone() }));
            !has_ended
        }
        _ => perform(work, &mut point).map(|()| false)?,
    };
    let mut gpu = any();
    if is_held {
        gpu.hold(called.as_ref().unwrap_or(work), &mut point);
    }
    gpu.end(work, &point, waits);
    Ok(())
}

/// Gives work to a stream that nothing orders but the stream.
pub(crate) fn submit_batch(stream: Handle, works: &[Work]) -> Result {
    let caller = Caller::of_call();
    let (point, member) = {
        let mut gpu = live()?;
        let stream = gpu.enter_only(stream)?;
        (gpu.order.begin(stream, caller), gpu.order.member(Group::Batch))
    };
    for (at, work) in works.iter().enumerate() {
        let name = (at + 1).to_string();
        let member = (works.len() > 1).then(|| Member { name, ..member.clone() });
        give(work, Point { member, ..point.clone() }, false)?;
    }
    Ok(())
}

/// Does work and waits for it: in the default stream.
pub(crate) fn submit_and_wait(work: &Work) -> Result {
    let caller = Caller::of_call();
    let point = {
        let mut gpu = live()?;
        let stream = gpu.stream(0)?;
        gpu.is_idle(stream)?;
        gpu.begin(work, stream, caller)
    };
    give(work, point, true)
}

impl Gpu {
    /// Errors: a kernel is another GPU's than the stream.
    fn is_of(&self, work: &Work, stream: Handle) -> Result {
        let Work::Kernel(kernel) = work else { return Ok(()) };
        let gpu = self.gpu_of(self.function(kernel.function)?);
        if gpu == self.order.gpu_of(stream) { Ok(()) } else { Err(INVALID_HANDLE) }
    }

    /// Work was given to a stream, and the host may have waited for it.
    fn end(&mut self, work: &Work, point: &Point, waits: bool) {
        if let Some(Ok(event)) = work.event().map(|event| self.event(event)) {
            event.is_recorded(&point.clock);
        }
        self.order.end(point.stream, &point.clock);
        for gpu in self.holds_back(work, point.stream) {
            self.order.hold_back_gpu(gpu, &point.clock);
        }
        self.order.ends_with(point.stream, point.grid);
        if self.is_waited_for(work, waits) {
            self.order.host_knows(&point.clock);
        }
    }

    /// Work begins in a stream.
    fn begin(&mut self, work: &Work, stream: Handle, caller: Caller) -> Point {
        let mut point = self.order.begin(stream, caller);
        self.holds_back(work, stream).into_iter().for_each(|gpu| self.order.follow_gpu(&mut point, gpu));
        point
    }

    /// The GPUs whose work a copy between the memories of two waits for and holds back, in a default stream.
    fn holds_back(&self, work: &Work, stream: Handle) -> Vec<usize> {
        let Work::Copy(Transfer { to, from, .. }) = work else { return Vec::new() };
        let of = |side: &Side| self.memory.find(side.start).filter(|one| !one.is_of_the_host()).map(|one| one.gpu);
        match (of(to), of(from)) {
            (Some(to), Some(from)) if to != from && self.is_legacy(stream) => vec![to, from],
            _ => Vec::new(),
        }
    }
}

/// Launches what a graph became.
pub(crate) fn launch(executable: Handle, stream: Handle) -> Result {
    let caller = Caller::of_call();
    let (found, point) = {
        let mut gpu = live()?;
        let found = gpu.executables.get(&executable).cloned().ok_or(INVALID_VALUE)?;
        // A stream that captures takes no executable graph.
        let stream = gpu.enter_only(stream)?;
        let mut point = gpu.order.begin(stream, caller);
        // A launch waits for the one before, in whatever stream.
        point.clock.join(gpu.order.executable(executable));
        point.member = Some(gpu.order.member(Group::Graph));
        (found, point)
    };
    let clock = run(&found, &point)?;
    let mut gpu = any();
    gpu.order.end(point.stream, &clock);
    *gpu.order.executable(executable) = clock;
    Ok(())
}

fn run(executable: &Arc<Executable>, point: &Point) -> Result<Clock> {
    if executable.flags & AUTO_FREE != 0 {
        let mut gpu = live()?;
        for step in &executable.steps {
            if let Work::Allocate(place, bytes) = step.work {
                gpu.memory.sleep(place);
                gpu.order.forget(place, place + bytes as u64);
            }
        }
    }
    steps(executable, point)
}

/// `CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH`
const AUTO_FREE: u64 = 1;

/// Does the steps, and says what is done when all of them are.
fn steps(executable: &Executable, point: &Point) -> Result<Clock> {
    let mut clocks = vec![Clock::default(); executable.steps.len()];
    let mut grids = vec![None; executable.steps.len()];
    let mut all = point.clock.clone();
    for at in &executable.order {
        let step = &executable.steps[*at];
        // What goes wrong on the GPU shows at the next call.
        if any().fault.is_some() {
            break;
        }
        let mut own = point.clone();
        step.after.iter().for_each(|before| own.clock.join(&clocks[*before]));
        own.grid_before = if let [before] = step.after[..] { grids[before] } else { None };
        if let Some(member) = &mut own.member {
            let dot = if member.name.is_empty() { "" } else { "." };
            member.name = format!("{}{dot}{}", member.name, at + 1);
        }
        match &step.child {
            _ if !step.is_enabled => {}
            Some(child) => own.clock = steps(child, &own)?,
            None => perform(&step.work, &mut own)?,
        }
        all.join(&own.clock);
        (clocks[*at], grids[*at]) = (own.clock, own.grid);
    }
    Ok(all)
}

pub(crate) fn perform(work: &Work, point: &mut Point) -> Result {
    match work {
        Work::Kernel(kernel) => live()?.launch(&[kernel], std::slice::from_mut(point), false).map(drop),
        Work::Copy(what) => {
            let mut gpu = live()?;
            transfer::copy(&mut gpu, what)?;
            gpu.has_copied(what, point);
            Ok(())
        }
        Work::Fill(what) => {
            let mut gpu = live()?;
            transfer::fill(&mut gpu, what)?;
            gpu.has_filled(what, point);
            Ok(())
        }
        Work::Library(routine) => live()?.call_library(routine, point),
        // One that was called is done only once it has ended.
        Work::Host(host) if host.called.is_some() => Ok(()),
        Work::Host(host) => call_back(point, || host.call()),
        Work::Child(_) => Err(INVALID_VALUE),
        Work::Empty => Ok(()),
        Work::WaitEvent(event) => {
            point.clock.join(&live()?.event(*event)?.done);
            Ok(())
        }
        Work::RecordEvent(event) => {
            let mut gpu = live()?;
            gpu.event(*event)?.is_recorded(&point.clock);
            Ok(())
        }
        Work::Allocate(place, _) => {
            let mut gpu = live()?;
            gpu.memory.wake(*place)?;
            gpu.has_allocated(*place, "an allocation", point);
            Ok(())
        }
        Work::Free(place, call) => {
            let mut gpu = live()?;
            gpu.frees(*place, call, point);
            gpu.memory.free(*place, &[Home::Device, Home::Managed, Home::Graph], call)
        }
        Work::WaitValue(what) => wait(what, point),
    }
}

/// How long a function of the program's may take before the program goes on, and what comes after it in its stream is held.
const SHORT: Duration = Duration::from_millis(50);

/// Begins to call a function of the program's, as a driver does: in a thread of its own. It may wait for what the program does later, or
/// for a lock that this thread has.
pub(crate) fn begin_call(host: &Host, point: &Point) -> Result<Called> {
    before_call(point)?;
    let called = Called::default();
    let (call, host, stream, context) = (called.clone(), host.clone(), point.stream, current());
    thread::spawn(move || {
        contexts(|all| all.push(context));
        calling::call_back(stream, || host.call());
        tell_accesses();
        call.end();
        // Whoever looks for what can be done has seen the end, or is told.
        let _gpu = any();
        NEWS.tell();
    });
    Ok(called)
}

/// Calls a function of the program's in this thread, which may have Python's lock.
pub(crate) fn call_back(point: &Point, function: impl FnOnce()) -> Result {
    before_call(point)?;
    calling::call_back(point.stream, function);
    tell_accesses();
    Ok(())
}

/// A function of the program's comes after the work of its stream, and after other work that the host has waited for. It may tell the rest
/// of the program that it was called. The driver is not locked meanwhile.
fn before_call(point: &Point) -> Result {
    live()?.order.host_knows(&point.clock);
    close_unfinished();
    Ok(())
}

/// It can only hold already, because everything before it is done.
fn wait(what: &WaitValue, point: &mut Point) -> Result {
    let gpu = live()?;
    gpu.memory.expect(what.address, what.bytes, what.call)?;
    // SAFETY: these bytes are of an allocation.
    let is = unsafe {
        match what.bytes {
            4 => (what.address as *const u32).read_unaligned().into(),
            _ => (what.address as *const u64).read_unaligned(),
        }
    };
    let unused = 64 - 8 * what.bytes as u32;
    // At least, equal, a common bit, a bit that neither has.
    let holds = match what.flags & 3 {
        0 => (is.wrapping_sub(what.value) << unused) as i64 >= 0,
        1 => is == what.value,
        2 => is & what.value != 0,
        _ => !(is | what.value) << unused != 0,
    };
    if !holds {
        return Err(NOT_READY);
    }
    gpu.order.follow_writers(point, (what.address, what.address + what.bytes as u64), false);
    Ok(())
}
