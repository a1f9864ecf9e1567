//! Bytes are copied and filled.

use crate::gpu::Gpu;
use crate::guard;
use crate::status::{INVALID_VALUE, Result};
use crate::work::{Fill, Side, Transfer};

/// Copies, when both sides are what the call says.
pub(crate) fn copy(gpu: &mut Gpu, what: &Transfer) -> Result {
    let Transfer { to, from, size: [width, height, depth], call } = *what;
    if height > 1 && (to.row < width || from.row < width) {
        return Err(INVALID_VALUE);
    }
    let mut undefined = Vec::new();
    for plane in 0..depth {
        for row in 0..height {
            let at = |side: Side| Side { start: side.start + (plane * side.plane + row * side.row) as u64, ..side };
            undefined.extend(copy_row(gpu, at(to), at(from), width, call)?);
        }
    }
    gpu.memory.stored_undefined(&undefined);
    Ok(())
}

/// Gives the bytes of the copy that have no value.
fn copy_row(gpu: &mut Gpu, to: Side, from: Side, bytes: usize, call: &str) -> Result<Vec<(u64, u64)>> {
    if bytes == 0 {
        return Ok(Vec::new());
    }
    if to.start == 0 || from.start == 0 {
        return Err(INVALID_VALUE);
    }
    for side in [to, from] {
        if side.is_device || gpu.memory.find(side.start).is_some() {
            gpu.memory.expect(side.start, bytes, call)?;
        }
    }
    [to, from].iter().for_each(|side| guard::open(side.start, bytes as u64));
    // SAFETY: what is the GPU's was looked at, and what is the host's the program answers for.
    unsafe { std::ptr::copy(from.start as *const u8, to.start as *mut u8, bytes) };
    Ok(gpu.memory.copied(from.start, to.start, bytes as u64))
}

/// Fills rows.
pub(crate) fn fill(gpu: &mut Gpu, what: &Fill) -> Result {
    let Fill { to, value, element, pitch, size: [width, height], call } = *what;
    let row = width.checked_mul(element).ok_or(INVALID_VALUE)?;
    if row == 0 || height == 0 {
        return Ok(());
    }
    if !to.is_multiple_of(element as u64) || height > 1 && pitch < row {
        return Err(INVALID_VALUE);
    }
    let all = pitch.checked_mul(height - 1).and_then(|before| before.checked_add(row)).ok_or(INVALID_VALUE)?;
    gpu.memory.expect(to, all, call)?;
    guard::open(to, all as u64);
    for at in 0..height {
        // SAFETY: all rows are within one allocation, which only this call uses now.
        let row = unsafe { std::slice::from_raw_parts_mut((to + (at * pitch) as u64) as *mut u8, row) };
        match &value.to_le_bytes()[..element] {
            [byte] => row.fill(*byte),
            value => row.chunks_exact_mut(value.len()).for_each(|element| element.copy_from_slice(value)),
        }
        gpu.memory.write(to + (at * pitch) as u64, row.len() as u64);
    }
    Ok(())
}
