//! How requests to cancel a launch are tried, and queries of a response.

use ptx_intrinsics::catalogue::Form;

use super::other::{Other, truth};
use super::room::Room;

/// All blocks of the grid have begun, so nothing is cancelled. The response comes, and nobody reads it: after one that is read
/// no other request may follow.
pub(super) fn request(form: &Form) -> Other {
    let before = if form.ptx().contains(".shared") {
        "let (response, bar) = (SharedPtr::new(p.cast::<u128>()), SharedPtr::new(p.add(24).cast::<Mbarrier>())); let own = bar;"
    } else {
        "let (response, bar) = (p.cast::<u128>(), p.add(24).cast::<Mbarrier>()); let own = SharedPtr::new(bar);"
    };
    let then = "mbarrier_init(own, 1); fence_mbarrier_init_release_cluster(); fence_proxy_async_shared_cta(); \
                mbarrier_arrive_expect_tx(own, 16); let early = mbarrier_test_wait_parity(own, 1); {}; put(to, (early & waited(own)) as u64);";
    Other { room: Room::Shared, before, then: then.into(), expected: truth }
}

/// Of a response that the assembler's code takes apart: the numbers of the thread's own block in x, y and z.
pub(super) fn query(form: &Form) -> Other {
    let before = "let (x, y, z) = (1 << 31 | thread as u32, 1 << 15 | thread as u32 + 1, thread as u32 + 2); \
                  let response = 1u128 << 64 | (z as u128) << 48 | (y as u128) << 32 | x as u128;";
    let then = match form.rust() {
        rust if rust.contains("is_canceled") => "let yes = {}; let response = 0; put(to, [yes, {}]);",
        rust if rust.contains("get_first_ctaid(") => "let (x, y, z) = {}; put(to, [x, y, z]);",
        _ => "put(to, {});",
    };
    Other { room: Room::Global, before, then: then.into(), expected: numbers }
}

fn numbers(form: &Form, thread: usize, _: &[u8], to: &mut [u8]) {
    let thread = thread as u32;
    let all = [1 << 31 | thread, 1 << 15 | (thread + 1), thread + 2];
    let found: Vec<u8> = match form.rust() {
        rust if rust.contains("is_canceled") => vec![1, 0],
        rust if rust.contains("get_first_ctaid(") => all.into_iter().flat_map(u32::to_le_bytes).collect(),
        rust => ["_x(", "_y(", "_z("]
            .iter()
            .zip(all)
            .filter(|(axis, _)| rust.contains(*axis))
            .flat_map(|(_, number)| number.to_le_bytes())
            .collect(),
    };
    to[..found.len()].copy_from_slice(&found);
}
