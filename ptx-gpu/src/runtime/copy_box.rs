//! Copies and fills of boxes, for the runtime.

use super::error::runtime;
use super::memory::sides;
use crate::array::Array;
use crate::call::{get, put};
use crate::driver::device::is_named;
use crate::driver::memory::give;
use crate::gpu::{Handle, live};
use crate::memory::Home;
use crate::perform::{submit, submit_and_wait};
use crate::status::{INVALID_VALUE, Result};
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
    from_array: Handle,
    from_place: [usize; 3],
    from: Pitched,
    to_array: Handle,
    to_place: [usize; 3],
    to: Pitched,
    size: [usize; 3],
    kind: u32,
}

impl Extent {
    pub(super) fn sizes(&self) -> [usize; 3] {
        [self.width, self.height, self.depth]
    }

    pub(super) fn of([width, height, depth]: [usize; 3]) -> Extent {
        Extent { width, height, depth }
    }
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

/// The array of a side, if it is one.
fn array(handle: Handle) -> Result<Option<Array>> {
    if handle == 0 { Ok(None) } else { live()?.array(handle).copied().map(Some) }
}

/// The copy of a box. With an array, its widths are in elements, and so are places in the array.
pub(super) fn cuboid(what: *const Cuboid, call: &'static str) -> Result<Work> {
    let what = get(what)?;
    let arrays = (array(what.to_array)?, array(what.from_array)?);
    let element = arrays.0.or(arrays.1).map_or(1, |array| array.element.size());
    let [width, height, depth] = what.size;
    let size = [width.checked_mul(element).ok_or(INVALID_VALUE)?, height, depth];
    let side = |array: Option<Array>, [x, y, z]: [usize; 3], memory: Pitched, is_device: bool| match array {
        Some(array) => array.side([x.saturating_mul(array.element.size()), y, z], size, call),
        None => Ok(memory.side([x, y, z], is_device)),
    };
    let [to, from] = sides(what.kind)?.are_device();
    let to = side(arrays.0, what.to_place, what.to, to)?;
    let from = side(arrays.1, what.from_place, what.from, from)?;
    Ok(Work::Copy(Transfer { to, from, size, call }))
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

/// `cudaMemcpy3DPeerParms`
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct PeerCuboid {
    from_array: Handle,
    from_place: [usize; 3],
    from: Pitched,
    from_device: i32,
    to_array: Handle,
    to_place: [usize; 3],
    to: Pitched,
    to_device: i32,
    size: [usize; 3],
}

/// The addresses say by themselves which GPU's each side is.
fn peer_cuboid(what: *const PeerCuboid, call: &'static str) -> Result<Work> {
    let PeerCuboid { from_array, from_place, from, from_device, to_array, to_place, to, to_device, size } = get(what)?;
    [to_device, from_device].into_iter().try_for_each(is_named)?;
    cuboid(&Cuboid { from_array, from_place, from, to_array, to_place, to, size, kind: 3 }, call)
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
    fn cudaMemcpy3DPeer(what: *const PeerCuboid) {
        submit_and_wait(&peer_cuboid(what, "cudaMemcpy3DPeer")?)
    }

    #[ptsz]
    fn cudaMemcpy3DPeerAsync(what: *const PeerCuboid, stream: Handle) {
        submit(stream, peer_cuboid(what, "cudaMemcpy3DPeerAsync")?)
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
