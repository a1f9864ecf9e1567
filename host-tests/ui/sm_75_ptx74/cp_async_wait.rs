//! `cp.async.commit_group` and `cp.async.wait_group` begin with sm_80.
use ptx_intrinsics::cp_async::*;
use ptx_intrinsics::prelude::*;

fn main() {}

fn kernel() {
    unsafe { cp_async_commit_group(); cp_async_wait_group::<0>() }
}
