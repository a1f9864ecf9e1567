//! Memory is filled with a value.

use crate::call::calls;
use crate::gpu::Handle;
use crate::perform::submit;
use crate::work::{Fill, Work};

/// Fills rows of elements, which begin `pitch` bytes apart.
pub(crate) fn fill<T: Into<u64>>(to: u64, value: T, pitch: usize, size: [usize; 2], call: &'static str) -> Work {
    Work::Fill(Fill { to, value: value.into(), element: size_of::<T>(), pitch, size, call })
}

/// The calls for one width of elements: a row, rows, and both in a stream.
macro_rules! fills {
    ($value:ty: $row:ident $row_stream:ident $rows:ident $rows_stream:ident) => {
        calls! {
            #[ptds]
            fn $row(to: u64, value: $value, count: usize) {
                submit(0, fill(to, value, 0, [count, 1], stringify!($row)))
            }

            #[ptsz]
            fn $row_stream(to: u64, value: $value, count: usize, stream: Handle) {
                submit(stream, fill(to, value, 0, [count, 1], stringify!($row_stream)))
            }

            #[ptds]
            fn $rows(to: u64, pitch: usize, value: $value, width: usize, height: usize) {
                submit(0, fill(to, value, pitch, [width, height], stringify!($rows)))
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
                submit(stream, fill(to, value, pitch, [width, height], stringify!($rows_stream)))
            }
        }
    };
}

fills! { u8: cuMemsetD8_v2 cuMemsetD8Async cuMemsetD2D8_v2 cuMemsetD2D8Async }
fills! { u16: cuMemsetD16_v2 cuMemsetD16Async cuMemsetD2D16_v2 cuMemsetD2D16Async }
fills! { u32: cuMemsetD32_v2 cuMemsetD32Async cuMemsetD2D32_v2 cuMemsetD2D32Async }
