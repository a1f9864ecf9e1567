//! Stream capture.

use std::cell::RefCell;
use std::mem::ManuallyDrop;

use crate::call::{all, calls, get, put, put_if};
use crate::capture::MODE;
use crate::gpu::{Handle, live};
use crate::status::{INVALID_VALUE, Result};
use crate::stream::Mode;

thread_local! {
    /// What the last question about a capture was answered with: the program gets a pointer to it.
    static AFTER: ManuallyDrop<RefCell<Vec<Handle>>> = const { ManuallyDrop::new(RefCell::new(Vec::new())) };
}

fn mode(mode: u32) -> Result<Mode> {
    Mode::ALL.get(mode as usize).copied().ok_or(INVALID_VALUE)
}

/// Where a program wants to have what is captured: its number, the graph, and the nodes that the next one comes after.
pub(crate) struct Places {
    pub(crate) status: *mut u32,
    pub(crate) id: *mut u64,
    pub(crate) graph: *mut Handle,
    pub(crate) after: *mut *const Handle,
    pub(crate) edges: *mut *const u64,
    pub(crate) count: *mut usize,
}

pub(crate) fn info(stream: Handle, places: &Places) -> Result {
    let (status, found) = live()?.capture_of(stream)?;
    put(places.status, status)?;
    put_if(places.edges, std::ptr::null())?;
    let Some((captured, graph)) = found else { return Ok(()) };
    put_if(places.id, captured.capture as u64)?;
    put_if(places.graph, graph)?;
    AFTER.with(|all| {
        let mut after = all.borrow_mut();
        *after = captured.after;
        put_if(places.after, after.as_ptr())?;
        put_if(places.count, after.len())
    })
}

/// `CU_STREAM_ADD_CAPTURE_DEPENDENCIES` and `CU_STREAM_SET_CAPTURE_DEPENDENCIES`
fn update(stream: Handle, nodes: *const Handle, count: usize, flags: u32) -> Result {
    if flags > 1 {
        return Err(INVALID_VALUE);
    }
    live()?.set_after(stream, &all(nodes, count)?, flags == 0)
}

const NONE: Places = Places {
    status: std::ptr::null_mut(),
    id: std::ptr::null_mut(),
    graph: std::ptr::null_mut(),
    after: std::ptr::null_mut(),
    edges: std::ptr::null_mut(),
    count: std::ptr::null_mut(),
};

calls! {
    #[ptsz]
    fn cuStreamBeginCapture(stream: Handle) {
        live()?.begin_capture(stream, Mode::Global, None)
    }

    #[ptsz]
    fn cuStreamBeginCapture_v2(stream: Handle, how: u32) {
        live()?.begin_capture(stream, mode(how)?, None)
    }

    #[ptsz]
    fn cuStreamBeginCaptureToGraph(
        stream: Handle,
        graph: Handle,
        after: *const Handle,
        _edges: *const u64,
        count: usize,
        how: u32,
    ) {
        live()?.begin_capture(stream, mode(how)?, Some((graph, all(after, count)?)))
    }

    #[ptsz]
    fn cuStreamEndCapture(stream: Handle, graph: *mut Handle) {
        let ended = live()?.end_capture(stream);
        put_if(graph, *ended.as_ref().unwrap_or(&0))?;
        ended.map(drop)
    }

    #[ptsz]
    fn cuStreamIsCapturing(stream: Handle, status: *mut u32) {
        info(stream, &Places { status, ..NONE })
    }

    #[ptsz]
    fn cuStreamGetCaptureInfo(stream: Handle, status: *mut u32, id: *mut u64) {
        info(stream, &Places { status, id, ..NONE })
    }

    #[ptsz]
    fn cuStreamGetCaptureInfo_v2(
        stream: Handle,
        status: *mut u32,
        id: *mut u64,
        graph: *mut Handle,
        after: *mut *const Handle,
        count: *mut usize,
    ) {
        info(stream, &Places { status, id, graph, after, count, ..NONE })
    }

    #[ptsz]
    fn cuStreamGetCaptureInfo_v3(
        stream: Handle,
        status: *mut u32,
        id: *mut u64,
        graph: *mut Handle,
        after: *mut *const Handle,
        edges: *mut *const u64,
        count: *mut usize,
    ) {
        info(stream, &Places { status, id, graph, after, edges, count })
    }

    #[ptsz]
    fn cuStreamUpdateCaptureDependencies(stream: Handle, nodes: *const Handle, count: usize, flags: u32) {
        update(stream, nodes, count, flags)
    }

    #[ptsz]
    fn cuStreamUpdateCaptureDependencies_v2(
        stream: Handle,
        nodes: *const Handle,
        _edges: *const u64,
        count: usize,
        flags: u32,
    ) {
        update(stream, nodes, count, flags)
    }

    fn cuThreadExchangeStreamCaptureMode(how: *mut u32) {
        let before = MODE.replace(mode(get(how)?)?);
        put(how, before as u32)
    }
}
