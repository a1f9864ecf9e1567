//! Streams and events. What a stream is given is done before the call returns, so nobody has to wait.

use std::sync::MutexGuard;

use crate::call::{calls, get, put};
use crate::gpu::{Gpu, Handle, PER_THREAD, awake, current, live};
use crate::handle;
use crate::order::{Clock, Kind};
use crate::perform::submit;
use crate::status::{CAPTURED_EVENT, INVALID_HANDLE, INVALID_VALUE, Result};
use crate::stream::{Event, NON_BLOCKING, Stream, StreamValue};
use crate::work::Work;

/// `CU_EVENT_DISABLE_TIMING`
const NO_TIMING: u32 = 2;

fn create(stream: *mut Handle, flags: u32, priority: i32) -> Result {
    if flags > 1 {
        return Err(INVALID_VALUE);
    }
    let mut gpu = live()?;
    let handle = handle::next();
    put(stream, handle)?;
    let (context, priority) = (current(), priority.clamp(-5, 0));
    gpu.streams.insert(handle, Stream { context, flags, priority, captured: None });
    let (kind, here) = (if flags & NON_BLOCKING == 0 { Kind::Blocking } else { Kind::NonBlocking }, gpu.here());
    gpu.order.create(handle, kind, here);
    Ok(())
}

/// The driver for a stream. A default stream is the thread's own context's.
fn of_stream(stream: Handle) -> Result<MutexGuard<'static, Gpu>> {
    if stream <= PER_THREAD { live() } else { awake() }
}

fn elapsed(milliseconds: *mut f32, start: Handle, end: Handle) -> Result {
    let mut gpu = awake()?;
    if gpu.event(start)?.gpu != gpu.event(end)?.gpu {
        return Err(INVALID_HANDLE);
    }
    let mut done = Clock::default();
    let mut of = |event: Handle| {
        let event = gpu.event(event)?;
        done.join(&event.done);
        if event.captured.is_some() {
            return Err(CAPTURED_EVENT);
        }
        if event.flags & NO_TIMING != 0 { Err(INVALID_HANDLE) } else { event.recorded.ok_or(INVALID_HANDLE) }
    };
    let (start, end) = (of(start)?, of(end)?);
    // It is told only when both have happened.
    gpu.order.host_knows(&done);
    let between = if end >= start { (end - start).as_secs_f32() } else { -(start - end).as_secs_f32() };
    put(milliseconds, 1e3 * between)
}

/// `CU_EVENT_RECORD_EXTERNAL` and `CU_EVENT_WAIT_EXTERNAL`: a stream that captures gets a node for it.
const EXTERNAL: u32 = 1;

fn is_external(flags: u32) -> Result<bool> {
    if flags > EXTERNAL { Err(INVALID_VALUE) } else { Ok(flags == EXTERNAL) }
}

fn record(event: Handle, stream: Handle, is_external: bool) -> Result {
    {
        let mut gpu = live()?;
        let (stream, captures) = gpu.enter(stream)?;
        gpu.event_for(event, stream)?;
        if captures && !is_external {
            return gpu.mark(stream, event);
        }
    }
    submit(stream, Work::RecordEvent(event))
}

calls! {
    fn cuStreamCreate(stream: *mut Handle, flags: u32) {
        create(stream, flags, 0)
    }

    fn cuStreamCreateWithPriority(stream: *mut Handle, flags: u32, priority: i32) {
        create(stream, flags, priority)
    }

    #[also(cuStreamDestroy)]
    fn cuStreamDestroy_v2(stream: Handle) {
        let mut gpu = of_stream(stream)?;
        gpu.abandon(stream);
        gpu.order.destroy(stream);
        gpu.streams.remove(&stream).map(drop).ok_or(INVALID_HANDLE)
    }

    #[ptsz]
    fn cuStreamSynchronize(stream: Handle) {
        of_stream(stream)?.wait_for(stream)
    }

    #[ptsz]
    fn cuStreamQuery(stream: Handle) {
        of_stream(stream)?.wait_for(stream)
    }

    #[ptsz]
    fn cuStreamSetAttribute(stream: Handle, which: u32, value: *const StreamValue) {
        let mut gpu = live()?;
        let stream = gpu.stream(stream)?;
        gpu.attributes.insert((stream, which), get(value)?);
        Ok(())
    }

    #[ptsz]
    fn cuStreamGetAttribute(stream: Handle, which: u32, value: *mut StreamValue) {
        let mut gpu = live()?;
        let stream = gpu.stream(stream)?;
        put(value, gpu.attributes.get(&(stream, which)).copied().unwrap_or_default())
    }

    #[ptsz]
    fn cuStreamCopyAttributes(to: Handle, from: Handle) {
        let mut gpu = live()?;
        let (to, from) = (gpu.stream(to)?, gpu.stream(from)?);
        let of = gpu.attributes.iter().filter(|((stream, _), _)| *stream == from);
        let copied: Vec<_> = of.map(|((_, which), value)| ((to, *which), *value)).collect();
        gpu.attributes.extend(copied);
        Ok(())
    }

    #[ptsz]
    fn cuStreamWaitEvent(stream: Handle, event: Handle, flags: u32) {
        let is_external = is_external(flags)?;
        of_stream(stream)?.wait_in_stream(stream, event, is_external)
    }

    #[ptsz]
    fn cuStreamGetFlags(stream: Handle, flags: *mut u32) {
        let mut gpu = live()?;
        let stream = gpu.stream(stream)?;
        put(flags, gpu.streams.get(&stream).map_or(0, |stream| stream.flags))
    }

    #[ptsz]
    fn cuStreamGetPriority(stream: Handle, priority: *mut i32) {
        let mut gpu = live()?;
        let stream = gpu.stream(stream)?;
        put(priority, gpu.streams.get(&stream).map_or(0, |stream| stream.priority))
    }

    #[ptsz]
    fn cuStreamGetCtx(stream: Handle, context: *mut Handle) {
        let mut gpu = live()?;
        let stream = gpu.stream(stream)?;
        put(context, gpu.streams.get(&stream).map_or(current(), |stream| stream.context))
    }

    #[ptsz]
    fn cuStreamGetCtx_v2(stream: Handle, context: *mut Handle, part: *mut Handle) {
        let mut gpu = live()?;
        let stream = gpu.stream(stream)?;
        put(context, gpu.streams.get(&stream).map_or(current(), |stream| stream.context))?;
        put(part, 0)
    }

    // No stream here is of a part of the GPU.
    fn cuStreamGetGreenCtx(stream: Handle, part: *mut Handle) {
        live()?.stream(stream)?;
        put(part, 0)
    }

    #[ptsz]
    fn cuStreamGetId(stream: Handle, id: *mut u64) {
        let stream = live()?.stream(stream)?;
        put(id, stream as u64)
    }

    #[ptsz]
    fn cuStreamGetDevice(stream: Handle, device: *mut i32) {
        let mut gpu = live()?;
        let stream = gpu.stream(stream)?;
        put(device, gpu.order.gpu_of(stream) as i32)
    }

    // An event of several processes takes no times.
    fn cuEventCreate(event: *mut Handle, flags: u32) {
        if flags >= 8 || flags & 6 == 4 {
            return Err(INVALID_VALUE);
        }
        let mut gpu = live()?;
        let handle = handle::next();
        put(event, handle)?;
        let here = gpu.here();
        gpu.events.insert(handle, Event { gpu: here, flags, ..Event::default() });
        Ok(())
    }

    #[also(cuEventDestroy)]
    fn cuEventDestroy_v2(event: Handle) {
        awake()?.events.remove(&event).map(drop).ok_or(INVALID_HANDLE)
    }

    #[ptsz]
    fn cuEventRecord(event: Handle, stream: Handle) {
        record(event, stream, false)
    }

    #[ptsz]
    fn cuEventRecordWithFlags(event: Handle, stream: Handle, flags: u32) {
        record(event, stream, is_external(flags)?)
    }

    fn cuEventSynchronize(event: Handle) {
        awake()?.wait_for_event(event)
    }

    fn cuEventQuery(event: Handle) {
        awake()?.wait_for_event(event)
    }

    #[also(cuEventElapsedTime_v2)]
    fn cuEventElapsedTime(milliseconds: *mut f32, start: Handle, end: Handle) {
        elapsed(milliseconds, start, end)
    }
}
