//! What the threads of a warp do together: outside of an executor a thread is alone in its warp, lane 0.

use ptx_intrinsics::prelude::*;

use crate::functions::Tried;

#[test]
fn a_thread_alone_leads() {
    let mut tried = Tried::default();
    let elect = form!(tried |mask: u32| elect_sync(mask));
    assert_eq!([elect(1), elect(u32::MAX)], [(0, true); 2]);
    tried.is_all_of(&["elect.sync"]);
}
