//! `clusterlaunchcontrol` on a CPU. A response is laid out as on a GPU, by what the assembler makes of the queries: x in 32
//! bits, y and z in 16, and whether a launch was cancelled in the 64th bit.

use super::mbarrier::{Address, complete};
use super::thread::current;

const CANCELLED: u128 = 1 << 64;

/// Asks the executor for a cluster that has not begun, writes the response, and tells the barrier.
///
/// # Safety
/// The response may be written, and `bar` is a barrier that expects 16 bytes.
pub(crate) unsafe fn try_cancel(response: Address, bar: Address, to_all: bool) {
    let response: *mut u128 = response.cast();
    assert!(response.addr().is_multiple_of(16), "{response:p} is not aligned to 16 bytes");
    let first = current().and_then(|thread| thread.cancel_launch(to_all));
    // SAFETY: the caller's promise.
    unsafe {
        response.write(first.map_or(0, of_block));
        complete(bar, 16);
    }
}

fn of_block([x, y, z]: [u32; 3]) -> u128 {
    CANCELLED | u128::from(z) << 48 | u128::from(y) << 32 | u128::from(x)
}

pub(crate) fn is_cancelled(response: u128) -> bool {
    response & CANCELLED != 0
}

pub(crate) fn first_block(response: u128) -> (u32, u32, u32) {
    (response as u32, (response >> 32) as u16 as u32, (response >> 48) as u16 as u32)
}
