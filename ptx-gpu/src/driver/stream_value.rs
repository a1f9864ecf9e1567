//! A stream writes a number to memory, or waits for one.

use super::fill::fill;
use crate::call::{calls, get};
use crate::gpu::{Handle, live};
use crate::status::{NOT_READY, Result};

/// It can only hold already, because everything before it is done.
fn wait(stream: Handle, address: u64, value: u64, bytes: usize, flags: u32, call: &str) -> Result {
    let mut gpu = live()?;
    gpu.stream(stream)?;
    gpu.memory.expect(address, bytes, call)?;
    let is = if bytes == 4 { get(address as *const u32)?.into() } else { get(address as *const u64)? };
    if holds(is, value, bytes, flags) { Ok(()) } else { Err(NOT_READY) }
}

/// `CU_STREAM_WAIT_VALUE_…`: at least, equal, a common bit, a bit that neither has.
fn holds(is: u64, value: u64, bytes: usize, flags: u32) -> bool {
    let unused = 64 - 8 * bytes as u32;
    match flags & 3 {
        0 => (is.wrapping_sub(value) << unused) as i64 >= 0,
        1 => is == value,
        2 => is & value != 0,
        _ => !(is | value) << unused != 0,
    }
}

/// The calls for one width of numbers.
macro_rules! values {
    ($value:ty: $write:ident $wait:ident) => {
        calls! {
            #[ptsz]
            fn $write(stream: Handle, address: u64, value: $value, _flags: u32) {
                fill(address, &value.to_le_bytes(), 0, [1, 1], stream, stringify!($write))
            }

            #[ptsz]
            fn $wait(stream: Handle, address: u64, value: $value, flags: u32) {
                wait(stream, address, value.into(), size_of::<$value>(), flags, stringify!($wait))
            }
        }
    };
}

values! { u32: cuStreamWriteValue32 cuStreamWaitValue32 }
values! { u32: cuStreamWriteValue32_v2 cuStreamWaitValue32_v2 }
values! { u64: cuStreamWriteValue64 cuStreamWaitValue64 }
values! { u64: cuStreamWriteValue64_v2 cuStreamWaitValue64_v2 }
