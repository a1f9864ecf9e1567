use ptx_intrinsics::cp_async_bulk::*;
use ptx_intrinsics::prelude::*;

#[derive(Clone, Copy)]
struct Mine(u8);

impl PolicyPriorities for Mine {
    const ID: u8 = 0;
    const PRIMARY: u64 = 7;
    const SECONDARY: u64 = 7;
}

unsafe impl Element for Mine {
    type Ptx = u32;
}

impl TensorCoordinates for Mine {}

impl ptx_intrinsics::element::MovedAs<u32> for Mine {}
impl ptx_intrinsics::element::MovedAs<Mine> for u32 {}

impl ptx_intrinsics::ptx::Kind for Mine {
    type Rust = u64;
}

fn main() {}
