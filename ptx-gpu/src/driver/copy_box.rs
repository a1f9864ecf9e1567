//! Copies of rectangles and boxes.

use super::copy::{Sides, copy_in};
use crate::call::{calls, get};
use crate::gpu::{Gpu, Handle, live};
use crate::output::note;
use crate::status::{INVALID_VALUE, NOT_SUPPORTED, Result};

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

/// One side of a copy: where it begins, and how far apart rows and planes are.
#[derive(Clone, Copy)]
pub(crate) struct Side {
    pub(crate) start: u64,
    pub(crate) is_device: bool,
    pub(crate) row: usize,
    pub(crate) plane: usize,
}

const HOST: u32 = 1;
const DEVICE: u32 = 2;
const UNIFIED: u32 = 4;

/// The start of a side, and whether it has to be the GPU's.
fn start(kind: u32, host: u64, device: u64, call: &str) -> Result<(u64, bool)> {
    match kind {
        HOST => Ok((host, false)),
        DEVICE => Ok((device, true)),
        UNIFIED => Ok((device, false)),
        _ => {
            note(&format!("{call}: arrays are missing here; copy between pieces of memory"));
            Err(NOT_SUPPORTED)
        }
    }
}

impl Plane {
    fn side(&self, call: &str) -> Result<Side> {
        let (start, is_device) = start(self.kind, self.host, self.device, call)?;
        Ok(Side { start: start + (self.y * self.pitch + self.x) as u64, is_device, row: self.pitch, plane: 0 })
    }
}

impl Space {
    fn side(&self, call: &str) -> Result<Side> {
        let (start, is_device) = start(self.kind, self.host, self.device, call)?;
        let plane = self.pitch * self.height;
        let at = self.z * plane + self.y * self.pitch + self.x;
        Ok(Side { start: start + at as u64, is_device, row: self.pitch, plane })
    }
}

/// Copies rows of `width` bytes, `height` of them in each of `depth` planes.
pub(crate) fn rows(gpu: &mut Gpu, to: Side, from: Side, [width, height, depth]: [usize; 3], call: &str) -> Result {
    let sides = match (to.is_device, from.is_device) {
        (true, true) => Sides::Both,
        (true, false) => Sides::To,
        (false, true) => Sides::From,
        (false, false) => Sides::Unknown,
    };
    if height > 1 && (to.row < width || from.row < width) {
        return Err(INVALID_VALUE);
    }
    for plane in 0..depth {
        for row in 0..height {
            let at = |side: Side| side.start + (plane * side.plane + row * side.row) as u64;
            copy_in(gpu, at(to), at(from), width, sides, call)?;
        }
    }
    Ok(())
}

fn rectangle(what: *const Rectangle, stream: Handle, call: &str) -> Result {
    let what = get(what)?;
    let mut gpu = live()?;
    gpu.stream(stream)?;
    rows(&mut gpu, what.to.side(call)?, what.from.side(call)?, [what.width, what.height, 1], call)
}

fn cuboid(what: *const Cuboid, stream: Handle, call: &str) -> Result {
    let what = get(what)?;
    let mut gpu = live()?;
    gpu.stream(stream)?;
    rows(&mut gpu, what.to.side(call)?, what.from.side(call)?, [what.width, what.height, what.depth], call)
}

calls! {
    #[ptds]
    fn cuMemcpy2D_v2(what: *const Rectangle) {
        rectangle(what, 0, "cuMemcpy2D_v2")
    }

    #[ptds]
    fn cuMemcpy2DUnaligned_v2(what: *const Rectangle) {
        rectangle(what, 0, "cuMemcpy2DUnaligned_v2")
    }

    #[ptsz]
    fn cuMemcpy2DAsync_v2(what: *const Rectangle, stream: Handle) {
        rectangle(what, stream, "cuMemcpy2DAsync_v2")
    }

    #[ptds]
    fn cuMemcpy3D_v2(what: *const Cuboid) {
        cuboid(what, 0, "cuMemcpy3D_v2")
    }

    #[ptsz]
    fn cuMemcpy3DAsync_v2(what: *const Cuboid, stream: Handle) {
        cuboid(what, stream, "cuMemcpy3DAsync_v2")
    }
}
