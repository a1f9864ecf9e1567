//! Streams that capture: what they are given becomes nodes of a graph. What cannot be done meanwhile ends the capture.

use std::cell::Cell;

use crate::caller::Caller;
use crate::calling::{self, Thread};
use crate::gpu::{Gpu, Handle};
use crate::handle;
use crate::output::note;
use crate::status::{
    CAPTURE_IMPLICIT, CAPTURE_INVALIDATED, CAPTURE_ISOLATION, CAPTURE_MERGE, CAPTURE_UNJOINED, CAPTURE_UNMATCHED,
    CAPTURE_UNSUPPORTED, CAPTURE_WRONG_THREAD, CAPTURED_EVENT, ILLEGAL_STATE, INVALID_VALUE, Result, Status,
};
use crate::stream::{Capture, Captured, Mode, NON_BLOCKING, Stream};
use crate::work::Work;

thread_local! {
    /// What this thread may do while streams capture.
    pub(crate) static MODE: Cell<Mode> = const { Cell::new(Mode::Global) };
}

impl Gpu {
    /// The stream that work is for, and whether it captures.
    pub(crate) fn enter(&mut self, stream: Handle) -> Result<(Handle, bool)> {
        let stream = self.stream(stream)?;
        self.uses(stream)?;
        let Some(captured) = self.captured(stream) else { return Ok((stream, false)) };
        if self.is_valid(captured.capture) { Ok((stream, true)) } else { Err(CAPTURE_INVALIDATED) }
    }

    /// As [`Gpu::enter`], for work that no graph can have.
    pub(crate) fn enter_only(&mut self, stream: Handle) -> Result<Handle> {
        match self.enter(stream)? {
            (stream, false) => Ok(stream),
            (stream, true) => Err(self.spoil_of(stream, CAPTURE_UNSUPPORTED)),
        }
    }

    /// A stream that the program waits for, or asks whether it has ended.
    pub(crate) fn wait_for(&mut self, stream: Handle) -> Result {
        let stream = self.stream(stream)?;
        self.is_idle(stream)?;
        self.order.host_waits(stream);
        Ok(())
    }

    /// Whether a call may wait for a stream.
    pub(crate) fn is_idle(&mut self, stream: Handle) -> Result {
        self.uses(stream)?;
        if self.captured(stream).is_some() {
            return Err(self.spoil_of(stream, CAPTURE_UNSUPPORTED));
        }
        self.is_unsafe()
    }

    /// The program waits for all work of a GPU.
    pub(crate) fn wait_for_gpu(&mut self, gpu: usize) -> Result {
        let captures = self.captures.iter().filter(|(_, capture)| self.order.gpu_of(capture.origin) == gpu);
        let captures: Vec<Handle> = captures.map(|(name, _)| *name).collect();
        self.spoil(&captures, CAPTURE_UNSUPPORTED)?;
        self.order.host_waits_for_gpu(gpu);
        Ok(())
    }

    /// An event that the program waits for, or asks about. None has to be waited for that was never recorded.
    pub(crate) fn wait_for_event(&mut self, event: Handle) -> Result {
        let event = self.event(event)?;
        let (was_recorded, done) = (event.recorded.is_some(), event.done.clone());
        if let Some(captured) = event.captured.clone() {
            return self.spoil(&[captured.capture], CAPTURED_EVENT).and(Err(CAPTURED_EVENT));
        }
        if was_recorded {
            self.is_unsafe()?;
            self.order.host_knows(&done);
        }
        Ok(())
    }

    /// A call such as an allocation, which a GPU may make wait for all streams. Errors: this thread may not make it while
    /// some stream captures.
    pub(crate) fn is_unsafe(&mut self) -> Result {
        let (mode, here) = (MODE.get(), Thread::current());
        let forbids = |capture: &Capture| match mode {
            Mode::Relaxed => false,
            _ if capture.thread == here => capture.mode != Mode::Relaxed,
            Mode::ThreadLocal => false,
            Mode::Global => capture.mode == Mode::Global,
        };
        let captures = self.captures.iter().filter(|(_, capture)| forbids(capture));
        let captures: Vec<Handle> = captures.map(|(name, _)| *name).collect();
        self.spoil(&captures, CAPTURE_UNSUPPORTED)
    }

    /// A GPU's default stream waits for all of its streams that are not created to do without it.
    fn uses(&mut self, stream: Handle) -> Result {
        let captures = self.captures_before(stream);
        self.spoil(&captures, CAPTURE_IMPLICIT)
    }

    fn captures_before(&self, stream: Handle) -> Vec<Handle> {
        if !self.is_legacy(stream) {
            return Vec::new();
        }
        let gpu = self.order.gpu_of(stream);
        let is_before =
            |(name, stream): &(&Handle, &Stream)| stream.flags & NON_BLOCKING == 0 && self.order.gpu_of(**name) == gpu;
        let before = self.streams.iter().filter(is_before);
        before.filter_map(|(_, stream)| Some(stream.captured.as_ref()?.capture)).collect()
    }

    fn captured(&self, stream: Handle) -> Option<&Captured> {
        self.streams.get(&stream)?.captured.as_ref()
    }

    fn is_valid(&self, capture: Handle) -> bool {
        self.captures.get(&capture).is_some_and(|capture| capture.is_valid)
    }

    /// Errors: there are captures among these. They are worth nothing from now on.
    fn spoil(&mut self, captures: &[Handle], status: Status) -> Result {
        for name in captures {
            if let Some(capture) = self.captures.get_mut(name)
                && std::mem::replace(&mut capture.is_valid, false)
            {
                let why = status.words().map_or("", |words| words.text.to_str().unwrap_or_default());
                note(&format!(
                    "{}: {why} (error {}): the capture ends without a graph",
                    calling::name().unwrap_or_default(),
                    status.0
                ));
            }
        }
        if captures.is_empty() { Ok(()) } else { Err(status) }
    }

    fn spoil_of(&mut self, stream: Handle, status: Status) -> Status {
        let capture = self.captured(stream).map(|captured| captured.capture);
        self.spoil(capture.as_slice(), status).err().unwrap_or(status)
    }

    /// Begins a capture into a graph of its own, or into one that is given, after some of its nodes.
    pub(crate) fn begin_capture(&mut self, stream: Handle, mode: Mode, graph: Option<(Handle, Vec<Handle>)>) -> Result {
        let stream = self.stream(stream)?;
        if self.is_legacy(stream) {
            return Err(CAPTURE_UNSUPPORTED);
        }
        if self.captured(stream).is_some() {
            return Err(ILLEGAL_STATE);
        }
        if let Some((graph, after)) = &graph {
            self.graphs.belong(*graph, after)?;
        }
        let is_given = graph.is_some();
        let (graph, after) = graph.unwrap_or_else(|| (self.graphs.create(), Vec::new()));
        let (name, thread) = (handle::next(), Thread::current());
        let capture = Capture { graph, is_given, mode, thread, origin: stream, is_valid: true };
        self.captures.insert(name, capture);
        self.set_captured(stream, Some(Captured { capture: name, after, last: None }));
        Ok(())
    }

    fn set_captured(&mut self, stream: Handle, captured: Option<Captured>) {
        if let Some(stream) = self.streams.get_mut(&stream) {
            stream.captured = captured;
        }
    }

    /// Ends a capture and gives its graph.
    pub(crate) fn end_capture(&mut self, stream: Handle) -> Result<Handle> {
        let stream = self.stream(stream)?;
        let Some(Captured { capture: name, after, .. }) = self.captured(stream).cloned() else {
            return Err(ILLEGAL_STATE);
        };
        let Some(capture) = self.captures.get(&name) else { return Err(ILLEGAL_STATE) };
        if capture.origin != stream {
            return Err(self.spoil_of(stream, CAPTURE_UNMATCHED));
        }
        let (graph, is_given) = (capture.graph, capture.is_given);
        let status = if capture.mode != Mode::Relaxed && capture.thread != Thread::current() {
            Some(CAPTURE_WRONG_THREAD)
        } else if !capture.is_valid {
            Some(CAPTURE_INVALIDATED)
        } else if !self.is_joined(name, &after) {
            Some(CAPTURE_UNJOINED)
        } else {
            None
        };
        self.forget(name);
        let Some(status) = status else { return Ok(graph) };
        if !is_given {
            self.graphs.destroy(graph)?;
        }
        Err(status)
    }

    /// Whether the work of all other streams comes before these nodes.
    fn is_joined(&self, capture: Handle, after: &[Handle]) -> bool {
        let before = self.graphs.before(after);
        let captured = self.streams.values().filter_map(|stream| stream.captured.as_ref());
        let mut others = captured.filter(|captured| captured.capture == capture);
        others.all(|other| other.is_within(&before))
    }

    /// The streams of a capture do their work themselves again.
    fn forget(&mut self, capture: Handle) {
        self.captures.remove(&capture);
        for stream in self.streams.values_mut() {
            stream.captured.take_if(|captured| captured.capture == capture);
        }
    }

    /// A stream is destroyed. What began in it has no end any more, unless it is joined with the stream in which the capture began.
    pub(crate) fn abandon(&mut self, stream: Handle) {
        let Some(own) = self.captured(stream).cloned() else { return };
        let origin = self.captures.get(&own.capture).map(|capture| capture.origin);
        let other = origin.filter(|origin| *origin != stream).and_then(|origin| self.captured(origin));
        if other.is_some_and(|other| own.is_within(&self.graphs.before(&other.after))) {
            return;
        }
        self.spoil_of(stream, CAPTURE_UNSUPPORTED);
        if origin == Some(stream) {
            self.forget(own.capture);
        }
    }

    /// A node of what is being captured.
    pub(crate) fn record(&mut self, stream: Handle, mut work: Work) -> Result {
        let Some(captured) = self.captured(stream).cloned() else { return Err(INVALID_VALUE) };
        if let Work::Kernel(kernel) = &mut work {
            kernel.shape.is_programmatic &= captured.is_in_stream();
        }
        let Captured { capture, after, .. } = captured;
        let graph = self.captures.get(&capture).ok_or(CAPTURE_INVALIDATED)?.graph;
        let node = self.graphs.add(graph, &after, work)?;
        self.set_captured(stream, Some(Captured { capture, after: vec![node], last: Some(node) }));
        Ok(())
    }

    /// A stream waits for an event. `is_node`: the graph waits for it each time.
    pub(crate) fn wait_in_stream(&mut self, stream: Handle, event: Handle, is_node: bool) -> Result {
        let of_event = self.event(event)?.captured.clone();
        let stream = self.stream(stream)?;
        self.uses(stream)?;
        let of_stream = self.captured(stream).cloned();
        match (of_stream, of_event) {
            (None, None) => {
                let done = self.event(event)?.done.clone();
                let mut point = self.order.begin(stream, Caller::default());
                point.clock.join(&done);
                self.order.end(stream, &point.clock);
                Ok(())
            }
            (Some(_), _) if !self.enter(stream)?.1 => Err(CAPTURE_INVALIDATED),
            (Some(_), _) if is_node => self.record(stream, Work::WaitEvent(event)),
            (Some(_), None) => Err(self.spoil_of(stream, CAPTURE_ISOLATION)),
            (Some(mut one), Some(other)) if one.capture == other.capture => {
                one.comes_after(&other.after);
                self.set_captured(stream, Some(one));
                Ok(())
            }
            (Some(one), Some(other)) if self.captures.contains_key(&other.capture) => {
                self.spoil(&[one.capture, other.capture], CAPTURE_MERGE)
            }
            (Some(_), Some(_)) => Err(self.spoil_of(stream, CAPTURE_ISOLATION)),
            (None, Some(other)) if self.is_legacy(stream) => self.spoil(&[other.capture], CAPTURE_UNSUPPORTED),
            (None, Some(other)) if self.is_valid(other.capture) => {
                self.set_captured(stream, Some(Captured { last: None, ..other }));
                Ok(())
            }
            (None, Some(other)) if self.captures.contains_key(&other.capture) => Err(CAPTURE_INVALIDATED),
            (None, Some(_)) => Err(CAPTURED_EVENT),
        }
    }

    /// An event is recorded in a stream that captures: it stands for the nodes so far.
    pub(crate) fn mark(&mut self, stream: Handle, event: Handle) -> Result {
        let captured = self.captured(stream).cloned();
        let event = self.event(event)?;
        (event.captured, event.recorded) = (captured, None);
        Ok(())
    }

    /// `CUstreamCaptureStatus`, and what is captured.
    pub(crate) fn capture_of(&mut self, stream: Handle) -> Result<(u32, Option<(Captured, Handle)>)> {
        let stream = self.stream(stream)?;
        if !self.captures_before(stream).is_empty() {
            return Err(CAPTURE_IMPLICIT);
        }
        let Some(captured) = self.captured(stream).cloned() else { return Ok((0, None)) };
        match self.captures.get(&captured.capture) {
            Some(capture) if capture.is_valid => Ok((1, Some((captured, capture.graph)))),
            _ => Ok((2, None)),
        }
    }

    /// Says what the next node comes after: these nodes, or these too.
    pub(crate) fn set_after(&mut self, stream: Handle, nodes: &[Handle], adds: bool) -> Result {
        let (1, Some((mut captured, graph))) = self.capture_of(stream)? else { return Err(ILLEGAL_STATE) };
        let stream = self.stream(stream)?;
        self.graphs.belong(graph, nodes)?;
        if !adds {
            captured.after.clear();
        }
        captured.comes_after(nodes);
        self.set_captured(stream, Some(captured));
        Ok(())
    }
}
