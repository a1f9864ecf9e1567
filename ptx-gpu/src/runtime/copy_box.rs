//! Copies and fills of boxes, for the runtime.

use super::error::runtime;
use super::memory::sides;
use crate::call::{get, put};
use crate::driver::memory::give;
use crate::gpu::Handle;
use crate::memory::Home;
use crate::output::note;
use crate::perform::{submit, submit_and_wait};
use crate::status::{INVALID_VALUE, NOT_SUPPORTED, Result};
use crate::work::{Fill, Side, Transfer, Work};

/// `cudaPitchedPtr`
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Pitched {
    start: u64,
    pitch: usize,
    width: usize,
    height: usize,
}

/// `cudaExtent`
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Extent {
    width: usize,
    height: usize,
    depth: usize,
}

/// `cudaMemcpy3DParms`
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Cuboid {
    from_array: usize,
    from_place: [usize; 3],
    from: Pitched,
    to_array: usize,
    to_place: [usize; 3],
    to: Pitched,
    size: [usize; 3],
    kind: u32,
}

impl Pitched {
    fn side(&self, [x, y, z]: [usize; 3], is_device: bool) -> Side {
        let plane = self.pitch * self.height;
        let at = z * plane + y * self.pitch + x;
        Side { start: self.start + at as u64, is_device, row: self.pitch, plane }
    }

    fn of(side: Side) -> Pitched {
        let Side { start, row, plane, .. } = side;
        Pitched { start, pitch: row, width: row, height: plane / row.max(1) }
    }
}

/// The copy of a box.
pub(super) fn cuboid(what: *const Cuboid, call: &'static str) -> Result<Work> {
    let what = get(what)?;
    if what.from_array != 0 || what.to_array != 0 {
        note(&format!("{call}: arrays are missing here; copy between pieces of memory"));
        return Err(NOT_SUPPORTED);
    }
    let [to, from] = sides(what.kind)?.are_device();
    let (to, from) = (what.to.side(what.to_place, to), what.from.side(what.from_place, from));
    Ok(Work::Copy(Transfer { to, from, size: what.size, call }))
}

impl From<&Transfer> for Cuboid {
    fn from(what: &Transfer) -> Cuboid {
        let kind = match (what.to.is_device, what.from.is_device) {
            (true, false) => 1,
            (false, true) => 2,
            (true, true) => 3,
            (false, false) => 4,
        };
        let (from, to) = (Pitched::of(what.from), Pitched::of(what.to));
        let (from_place, to_place) = ([0; 3], [0; 3]);
        Cuboid { from_array: 0, from_place, from, to_array: 0, to_place, to, size: what.size, kind }
    }
}

/// A box is filled plane by plane; planes without room between them are one.
fn filled(to: Pitched, value: i32, size: Extent, stream: Handle, call: &'static str) -> Result {
    let Extent { width, height, depth } = size;
    for plane in 0..depth {
        let to_plane = to.start + (plane * to.pitch * to.height) as u64;
        let value = u64::from(value as u8);
        let (element, pitch) = (1, to.pitch);
        submit(stream, Work::Fill(Fill { to: to_plane, value, element, pitch, size: [width, height], call }))?;
    }
    Ok(())
}

/// Rows of a pitched allocation begin at a multiple of this.
const PITCH: usize = 512;

runtime! {
    #[ptds]
    fn cudaMemcpy3D(what: *const Cuboid) {
        submit_and_wait(&cuboid(what, "cudaMemcpy3D")?)
    }

    #[ptsz]
    fn cudaMemcpy3DAsync(what: *const Cuboid, stream: Handle) {
        submit(stream, cuboid(what, "cudaMemcpy3DAsync")?)
    }

    #[ptds]
    fn cudaMemset3D(to: Pitched, value: i32, size: Extent) {
        filled(to, value, size, 0, "cudaMemset3D")
    }

    #[ptsz]
    fn cudaMemset3DAsync(to: Pitched, value: i32, size: Extent, stream: Handle) {
        filled(to, value, size, stream, "cudaMemset3DAsync")
    }

    fn cudaMalloc3D(place: *mut Pitched, size: Extent) {
        let Extent { width, height, depth } = size;
        let pitch = width.next_multiple_of(PITCH);
        let bytes = pitch.checked_mul(height).and_then(|plane| plane.checked_mul(depth)).ok_or(INVALID_VALUE)?;
        let mut start = 0;
        if bytes > 0 {
            give(&raw mut start, bytes, Home::Device, "cudaMalloc3D")?;
        }
        put(place, Pitched { start, pitch, width, height })
    }
}
