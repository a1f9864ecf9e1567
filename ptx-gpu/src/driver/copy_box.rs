//! Copies of rectangles and boxes.

use crate::call::{calls, get};
use crate::gpu::{Handle, live};
use crate::perform::{submit, submit_and_wait};
use crate::status::{INVALID_VALUE, Result};
use crate::work::{Side, Transfer, Work};

/// `CUDA_MEMCPY2D`
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Rectangle {
    from: Plane,
    to: Plane,
    width: usize,
    height: usize,
}

#[derive(Clone, Copy)]
#[repr(C)]
struct Plane {
    x: usize,
    y: usize,
    kind: u32,
    host: u64,
    device: u64,
    array: u64,
    pitch: usize,
}

/// `CUDA_MEMCPY3D`
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Cuboid {
    from: Space,
    to: Space,
    width: usize,
    height: usize,
    depth: usize,
}

#[derive(Clone, Copy)]
#[repr(C)]
struct Space {
    x: usize,
    y: usize,
    z: usize,
    level: usize,
    kind: u32,
    host: u64,
    device: u64,
    array: u64,
    reserved: u64,
    pitch: usize,
    height: usize,
}

const HOST: u32 = 1;
const DEVICE: u32 = 2;
const ARRAY: u32 = 3;
const UNIFIED: u32 = 4;

/// The start of a side, and whether it has to be the GPU's.
fn start(kind: u32, host: u64, device: u64) -> Result<(u64, bool)> {
    match kind {
        HOST => Ok((host, false)),
        DEVICE => Ok((device, true)),
        UNIFIED => Ok((device, false)),
        _ => Err(INVALID_VALUE),
    }
}

impl Plane {
    fn side(&self, size: [usize; 3], call: &str) -> Result<Side> {
        if self.kind == ARRAY {
            return live()?.array(self.array as Handle)?.side([self.x, self.y, 0], size, call);
        }
        let (start, is_device) = start(self.kind, self.host, self.device)?;
        Ok(Side { start: start + (self.y * self.pitch + self.x) as u64, is_device, row: self.pitch, plane: 0 })
    }
}

impl Space {
    fn new(side: Side) -> Space {
        let (kind, height) = (if side.is_device { DEVICE } else { UNIFIED }, side.plane / side.row.max(1));
        Space {
            x: 0,
            y: 0,
            z: 0,
            level: 0,
            kind,
            host: side.start,
            device: side.start,
            array: 0,
            reserved: 0,
            pitch: side.row,
            height,
        }
    }

    fn side(&self, size: [usize; 3], call: &str) -> Result<Side> {
        if self.kind == ARRAY {
            return live()?.array(self.array as Handle)?.side([self.x, self.y, self.z], size, call);
        }
        let (start, is_device) = start(self.kind, self.host, self.device)?;
        let plane = self.pitch * self.height;
        let at = self.z * plane + self.y * self.pitch + self.x;
        Ok(Side { start: start + at as u64, is_device, row: self.pitch, plane })
    }
}

fn rectangle(what: *const Rectangle, call: &'static str) -> Result<Work> {
    let what = get(what)?;
    let size = [what.width, what.height, 1];
    let (to, from) = (what.to.side(size, call)?, what.from.side(size, call)?);
    Ok(Work::Copy(Transfer { to, from, size, call }))
}

/// The copy of a box.
pub(crate) fn cuboid(what: *const Cuboid, call: &'static str) -> Result<Work> {
    let what = get(what)?;
    let size = [what.width, what.height, what.depth];
    let (to, from) = (what.to.side(size, call)?, what.from.side(size, call)?);
    Ok(Work::Copy(Transfer { to, from, size, call }))
}

impl From<&Transfer> for Cuboid {
    fn from(what: &Transfer) -> Cuboid {
        let [width, height, depth] = what.size;
        Cuboid { from: Space::new(what.from), to: Space::new(what.to), width, height, depth }
    }
}

calls! {
    #[ptds]
    fn cuMemcpy2D_v2(what: *const Rectangle) {
        submit_and_wait(&rectangle(what, "cuMemcpy2D_v2")?)
    }

    #[ptds]
    fn cuMemcpy2DUnaligned_v2(what: *const Rectangle) {
        submit_and_wait(&rectangle(what, "cuMemcpy2DUnaligned_v2")?)
    }

    #[ptsz]
    fn cuMemcpy2DAsync_v2(what: *const Rectangle, stream: Handle) {
        submit(stream, rectangle(what, "cuMemcpy2DAsync_v2")?)
    }

    #[ptds]
    fn cuMemcpy3D_v2(what: *const Cuboid) {
        submit_and_wait(&cuboid(what, "cuMemcpy3D_v2")?)
    }

    // Contexts are where the structure for one GPU has nothing: the addresses say by themselves which GPU's each side is.
    #[ptds]
    fn cuMemcpy3DPeer(what: *const Cuboid) {
        submit_and_wait(&cuboid(what, "cuMemcpy3DPeer")?)
    }

    #[ptsz]
    fn cuMemcpy3DPeerAsync(what: *const Cuboid, stream: Handle) {
        submit(stream, cuboid(what, "cuMemcpy3DPeerAsync")?)
    }

    #[ptsz]
    fn cuMemcpy3DAsync_v2(what: *const Cuboid, stream: Handle) {
        submit(stream, cuboid(what, "cuMemcpy3DAsync_v2")?)
    }
}
