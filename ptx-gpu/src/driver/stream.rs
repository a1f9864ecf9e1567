//! Streams and events. What a stream is given is done before the call returns, so nobody has to wait.

use std::time::Instant;

use crate::call::{calls, get, put};
use crate::gpu::{Event, Handle, Stream, StreamValue, current, live};
use crate::status::{INVALID_HANDLE, INVALID_VALUE, Result};

/// `CU_EVENT_DISABLE_TIMING`
const NO_TIMING: u32 = 2;

fn create(stream: *mut Handle, flags: u32, priority: i32) -> Result {
    if flags > 1 {
        return Err(INVALID_VALUE);
    }
    let mut gpu = live()?;
    let handle = gpu.handle();
    put(stream, handle)?;
    gpu.streams.insert(handle, Stream { flags, priority: priority.clamp(-5, 0) });
    Ok(())
}

fn elapsed(milliseconds: *mut f32, start: Handle, end: Handle) -> Result {
    let mut gpu = live()?;
    let mut of = |event: Handle| {
        let event = gpu.event(event)?;
        if event.flags & NO_TIMING != 0 { Err(INVALID_HANDLE) } else { event.recorded.ok_or(INVALID_HANDLE) }
    };
    let (start, end) = (of(start)?, of(end)?);
    let between = if end >= start { (end - start).as_secs_f32() } else { -(start - end).as_secs_f32() };
    put(milliseconds, 1e3 * between)
}

fn record(event: Handle, stream: Handle) -> Result {
    let mut gpu = live()?;
    gpu.stream(stream)?;
    gpu.event(event)?.recorded = Some(Instant::now());
    Ok(())
}

calls! {
    fn cuStreamCreate(stream: *mut Handle, flags: u32) {
        create(stream, flags, 0)
    }

    fn cuStreamCreateWithPriority(stream: *mut Handle, flags: u32, priority: i32) {
        create(stream, flags, priority)
    }

    fn cuStreamDestroy_v2(stream: Handle) {
        live()?.streams.remove(&stream).map(drop).ok_or(INVALID_HANDLE)
    }

    #[ptsz]
    fn cuStreamSynchronize(stream: Handle) {
        live()?.stream(stream).map(drop)
    }

    #[ptsz]
    fn cuStreamQuery(stream: Handle) {
        live()?.stream(stream).map(drop)
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
    fn cuStreamWaitEvent(stream: Handle, event: Handle, _flags: u32) {
        let mut gpu = live()?;
        gpu.stream(stream)?;
        gpu.event(event).map(drop)
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
        live()?.stream(stream)?;
        put(context, current())
    }

    #[ptsz]
    fn cuStreamGetId(stream: Handle, id: *mut u64) {
        let stream = live()?.stream(stream)?;
        put(id, stream as u64)
    }

    #[ptsz]
    fn cuStreamGetDevice(stream: Handle, device: *mut i32) {
        live()?.stream(stream)?;
        put(device, 0)
    }

    // Nothing is captured: that call is missing.
    #[ptsz]
    fn cuStreamIsCapturing(stream: Handle, status: *mut u32) {
        live()?.stream(stream)?;
        put(status, 0)
    }

    fn cuThreadExchangeStreamCaptureMode(mode: *mut u32) {
        get(mode).map(drop)
    }

    fn cuEventCreate(event: *mut Handle, flags: u32) {
        let mut gpu = live()?;
        let handle = gpu.handle();
        put(event, handle)?;
        gpu.events.insert(handle, Event { flags, recorded: None });
        Ok(())
    }

    fn cuEventDestroy_v2(event: Handle) {
        live()?.events.remove(&event).map(drop).ok_or(INVALID_HANDLE)
    }

    #[ptsz]
    fn cuEventRecord(event: Handle, stream: Handle) {
        record(event, stream)
    }

    #[ptsz]
    fn cuEventRecordWithFlags(event: Handle, stream: Handle, _flags: u32) {
        record(event, stream)
    }

    fn cuEventSynchronize(event: Handle) {
        live()?.event(event).map(drop)
    }

    fn cuEventQuery(event: Handle) {
        live()?.event(event).map(drop)
    }

    #[also(cuEventElapsedTime_v2)]
    fn cuEventElapsedTime(milliseconds: *mut f32, start: Handle, end: Handle) {
        elapsed(milliseconds, start, end)
    }
}
