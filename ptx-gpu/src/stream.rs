//! Streams, events, and what is being captured.

use std::collections::HashSet;
use std::time::Instant;

use crate::calling::Thread;
use crate::handle::Handle;
use crate::order::Clock;

/// `CUstreamAttrValue`: for the hardware alone, so it is kept and changes nothing.
pub(crate) type StreamValue = [u64; 8];

/// `CU_STREAM_NON_BLOCKING`
pub(crate) const NON_BLOCKING: u32 = 1;

#[derive(Default)]
pub(crate) struct Stream {
    /// The context in which it was created.
    pub(crate) context: Handle,
    pub(crate) flags: u32,
    pub(crate) priority: i32,
    pub(crate) captured: Option<Captured>,
}

#[derive(Default)]
pub(crate) struct Event {
    /// The GPU for whose streams it is.
    pub(crate) gpu: usize,
    pub(crate) flags: u32,
    pub(crate) recorded: Option<Instant>,
    /// What is done when it has happened.
    pub(crate) done: Clock,
    /// What it stands for if it was last recorded in a stream that captures.
    pub(crate) captured: Option<Captured>,
}

impl Event {
    /// It stands for what is known to be done.
    pub(crate) fn is_recorded(&mut self, done: &Clock) {
        (self.recorded, self.captured, self.done) = (Some(Instant::now()), None, done.clone());
    }
}

/// A place in what is being captured: the next node comes after these.
#[derive(Clone, Debug)]
pub(crate) struct Captured {
    pub(crate) capture: Handle,
    pub(crate) after: Vec<Handle>,
    /// The node that the stream itself was given last.
    pub(crate) last: Option<Handle>,
}

impl Captured {
    /// Whether the next node comes after what the stream was given last, and after nothing else.
    pub(crate) fn is_in_stream(&self) -> bool {
        self.last.is_some_and(|last| self.after == [last])
    }

    /// Whether these nodes have all that the stream was given.
    pub(crate) fn is_within(&self, nodes: &HashSet<Handle>) -> bool {
        self.after.iter().all(|node| nodes.contains(node))
    }

    /// The next node comes after these too.
    pub(crate) fn comes_after(&mut self, nodes: &[Handle]) {
        for node in nodes {
            if !self.after.contains(node) {
                self.after.push(*node);
            }
        }
    }
}

/// `CUstreamCaptureMode`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Global,
    ThreadLocal,
    Relaxed,
}

impl Mode {
    pub(crate) const ALL: [Mode; 3] = [Mode::Global, Mode::ThreadLocal, Mode::Relaxed];
}

/// What is done in one stream, and in those that wait for it, becomes a graph.
#[derive(Debug)]
pub(crate) struct Capture {
    pub(crate) graph: Handle,
    /// Whether the graph was there before.
    pub(crate) is_given: bool,
    pub(crate) mode: Mode,
    pub(crate) thread: Thread,
    /// The stream in which it began, and has to end.
    pub(crate) origin: Handle,
    pub(crate) is_valid: bool,
}
