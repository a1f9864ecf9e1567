//! `clusterlaunchcontrol` on a CPU. A response is laid out as on a GPU, by what the assembler makes of the queries: x in 32
//! bits, y and z in 16, and whether a launch was cancelled in the 64th bit.

use alloc::vec;

use super::mbarrier::{Address, complete};
use super::thread::current;

const CANCELLED: u128 = 1 << 64;

/// Asks the executor for a cluster that has not begun, writes the response, and tells the barrier: in each block of the cluster if
/// it is `to_all`.
///
/// # Safety
/// `response` is writable, and `bar` is an initialised barrier that expects 16 bytes, in each of these blocks.
pub(crate) unsafe fn try_cancel(response: Address, bar: Address, to_all: bool) {
    assert!(response.addr().is_multiple_of(16), "{response:p} is not aligned to 16 bytes");
    let first = current().and_then(|thread| thread.cancel_launch()).map_or(0, of_block);
    let each = |at: Address| match current().filter(|_| to_all) {
        Some(thread) => thread.in_each_block(at),
        None => vec![at],
    };
    for (response, bar) in each(response).into_iter().zip(each(bar)) {
        // SAFETY: the caller's promise.
        unsafe {
            response.cast::<u128>().write(first);
            complete(bar, 16);
        }
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
