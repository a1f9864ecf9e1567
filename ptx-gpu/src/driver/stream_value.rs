//! A stream writes a number to memory, or waits for one.

use super::fill::fill;
use crate::call::calls;
use crate::gpu::Handle;
use crate::perform::submit;
use crate::work::{WaitValue, Work};

/// The calls for one width of numbers.
macro_rules! values {
    ($value:ty: $write:ident $wait:ident) => {
        calls! {
            #[ptsz]
            fn $write(stream: Handle, address: u64, value: $value, _flags: u32) {
                submit(stream, fill(address, value, 0, [1, 1], stringify!($write)))
            }

            #[ptsz]
            fn $wait(stream: Handle, address: u64, value: $value, flags: u32) {
                let (bytes, value) = (size_of::<$value>(), value.into());
                submit(stream, Work::WaitValue(WaitValue { address, value, bytes, flags, call: stringify!($wait) }))
            }
        }
    };
}

values! { u32: cuStreamWriteValue32 cuStreamWaitValue32 }
values! { u32: cuStreamWriteValue32_v2 cuStreamWaitValue32_v2 }
values! { u64: cuStreamWriteValue64 cuStreamWaitValue64 }
values! { u64: cuStreamWriteValue64_v2 cuStreamWaitValue64_v2 }
