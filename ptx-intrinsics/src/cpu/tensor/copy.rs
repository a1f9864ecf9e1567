//! Copies of a box, which a CPU does at once.

use alloc::format;
use alloc::vec::Vec;

use super::map::{BYTES, TensorMap, round_to_tf32};
use super::pieces::{Piece, Place, pieces};
use super::refused::Refused;
use crate::cpu::mbarrier::{Address, complete};
use crate::cpu::reduced::change_each;
use crate::isa::atomic::AtomicOperation;

/// The bytes that a box in shared memory is aligned to.
const ALIGN: usize = 128;

/// Copies the box at these coordinates into shared memory, with what the map says for what is outside of the tensor, and tells the barrier.
///
/// # Safety
/// The map at `map` describes a readable tensor, the box is writable at `dst`, and `bar` is a barrier that expects its bytes.
pub(crate) unsafe fn load(dst: Address, map: *const u8, place: &Place<'_>, bar: Address) {
    let dst = dst.cast::<u8>();
    // SAFETY: the caller's promise.
    let map = unsafe { map_at(map, place) };
    let (all, bytes) = of(&map, place, dst);
    for piece in all {
        let to = in_shared(&map, dst, &piece);
        // SAFETY: the caller's promise.
        unsafe {
            match piece.global {
                Some(from) => {
                    to.copy_from(core::ptr::with_exposed_provenance(from as usize), piece.bytes);
                    if map.is_tf32() {
                        round_to_tf32(core::slice::from_raw_parts_mut(to, piece.bytes));
                    }
                }
                None => outside(&map, to, piece.bytes),
            }
        }
    }
    // SAFETY: the caller's promise.
    unsafe { complete(bar, bytes as u32) }
}

/// Fills what is outside of the tensor.
///
/// # Safety
/// The bytes are writable.
unsafe fn outside(map: &TensorMap, to: *mut u8, bytes: usize) {
    let fill = map.outside();
    // SAFETY: the caller's promise.
    (0..bytes).for_each(|at| unsafe { to.add(at).write(fill[at % 2]) });
}

/// Copies a box from shared memory to these coordinates, but for what is outside of the tensor.
///
/// # Safety
/// The map at `map` describes a writable tensor, and the box is readable at `src`.
pub(crate) unsafe fn store(map: *const u8, place: &Place<'_>, src: *mut u8) {
    // SAFETY: the caller's promise.
    unsafe { each(map, place, src, |_, to, from, bytes| to.copy_from(from, bytes)) }
}

/// Changes the elements at these coordinates by those of a box in shared memory, but for what is outside of the tensor.
///
/// # Safety
/// As for [`store`]; other threads access the elements only by atomics.
pub(crate) unsafe fn reduce(op: AtomicOperation, map: *const u8, place: &Place<'_>, src: *mut u8) {
    let name = op.ptx().trim_start_matches('.');
    let change = |map: &TensorMap, to: *mut u8, from: *const u8, bytes: usize| {
        let element = map.element().map_or("packed numbers", |(_, element)| element);
        let ty =
            map.changed_as(name).unwrap_or_else(|| panic!("PTX has no reduction .{name} of a tensor of {element}"));
        // SAFETY: the caller's promise.
        unsafe { change_each(op, &format!(".{ty}"), to, from, bytes) }
    };
    // SAFETY: the caller's promise.
    unsafe { each(map, place, src, change) }
}

/// Calls `act` for all bytes of a box that are in the tensor: where they are there, and where in shared memory.
unsafe fn each(map: *const u8, place: &Place<'_>, src: *mut u8, act: impl Fn(&TensorMap, *mut u8, *const u8, usize)) {
    // SAFETY: the caller's promise.
    let map = unsafe { map_at(map, place) };
    for piece in of(&map, &Place { writes: true, ..*place }, src).0 {
        let Some(to) = piece.global else { continue };
        assert!(
            !piece.is_behind,
            "the tensor's rows are no multiple of 16 bytes: a GPU writes {} bytes behind the end of one",
            piece.bytes
        );
        act(&map, core::ptr::with_exposed_provenance_mut(to as usize), in_shared(&map, src, &piece), piece.bytes);
    }
}

/// What the 128 bytes at an address describe.
unsafe fn map_at(map: *const u8, place: &Place<'_>) -> TensorMap {
    assert!(map.addr().is_multiple_of(64), "the tensor map at {map:p} is not aligned to 64 bytes: a GPU faults there");
    // SAFETY: the caller's promise.
    let bytes = unsafe { map.cast::<[u8; BYTES]>().read() };
    let map = TensorMap::decode(&bytes)
        .unwrap_or_else(|| panic!("at {map:p} is no tensor map of a CPU: `ptx_kernel::TensorMap::tiled` makes one"));
    let (rank, given) = (map.rank as usize, place.dimensions());
    assert!(rank == given, "a map of {rank} dimensions, for a copy of {given}");
    map
}

fn of(map: &TensorMap, place: &Place<'_>, shared: *mut u8) -> (Vec<Piece>, usize) {
    let aligned = shared.addr().is_multiple_of(ALIGN);
    assert!(aligned, "the box at {shared:p} in shared memory is not aligned to {ALIGN} bytes: a GPU faults there");
    pieces(map, place).unwrap_or_else(|refused: Refused| panic!("{}", refused.text()))
}

/// Where a piece is in shared memory, whose addresses the swizzle permutes.
fn in_shared(map: &TensorMap, begin: *mut u8, piece: &Piece) -> *mut u8 {
    let at = begin.addr() as u64 + piece.at;
    let place = map.place(at).expect("`pieces` refuses a swizzle that is not known");
    begin.with_addr(place as usize)
}
