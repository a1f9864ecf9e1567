//! Memory is filled with a value.

use crate::call::calls;
use crate::gpu::{Handle, live};
use crate::status::{INVALID_VALUE, Result};

/// Fills rows of `width` elements. They begin `pitch` bytes apart.
pub(crate) fn fill(
    to: u64,
    value: &[u8],
    pitch: usize,
    [width, height]: [usize; 2],
    stream: Handle,
    call: &str,
) -> Result {
    let mut gpu = live()?;
    gpu.stream(stream)?;
    let row = width.checked_mul(value.len()).ok_or(INVALID_VALUE)?;
    if row == 0 || height == 0 {
        return Ok(());
    }
    if !to.is_multiple_of(value.len() as u64) || height > 1 && pitch < row {
        return Err(INVALID_VALUE);
    }
    let all = pitch.checked_mul(height - 1).and_then(|before| before.checked_add(row)).ok_or(INVALID_VALUE)?;
    gpu.memory.expect(to, all, call)?;
    for at in 0..height {
        // SAFETY: all rows are within one allocation, which only this call uses now.
        let row = unsafe { std::slice::from_raw_parts_mut((to + (at * pitch) as u64) as *mut u8, row) };
        match value {
            [byte] => row.fill(*byte),
            value => row.chunks_exact_mut(value.len()).for_each(|element| element.copy_from_slice(value)),
        }
    }
    gpu.memory.write(to);
    Ok(())
}

/// The calls for one width of elements: a row, rows, and both in a stream.
macro_rules! fills {
    ($value:ty: $row:ident $row_stream:ident $rows:ident $rows_stream:ident) => {
        calls! {
            #[ptds]
            fn $row(to: u64, value: $value, count: usize) {
                fill(to, &value.to_le_bytes(), 0, [count, 1], 0, stringify!($row))
            }

            #[ptsz]
            fn $row_stream(to: u64, value: $value, count: usize, stream: Handle) {
                fill(to, &value.to_le_bytes(), 0, [count, 1], stream, stringify!($row_stream))
            }

            #[ptds]
            fn $rows(to: u64, pitch: usize, value: $value, width: usize, height: usize) {
                fill(to, &value.to_le_bytes(), pitch, [width, height], 0, stringify!($rows))
            }

            #[ptsz]
            fn $rows_stream(
                to: u64,
                pitch: usize,
                value: $value,
                width: usize,
                height: usize,
                stream: Handle,
            ) {
                fill(to, &value.to_le_bytes(), pitch, [width, height], stream, stringify!($rows_stream))
            }
        }
    };
}

fills! { u8: cuMemsetD8_v2 cuMemsetD8Async cuMemsetD2D8_v2 cuMemsetD2D8Async }
fills! { u16: cuMemsetD16_v2 cuMemsetD16Async cuMemsetD2D16_v2 cuMemsetD2D16Async }
fills! { u32: cuMemsetD32_v2 cuMemsetD32Async cuMemsetD2D32_v2 cuMemsetD2D32Async }
