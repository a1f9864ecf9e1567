use ptx_intrinsics::prelude::*;

fn element(tile: SharedPtr<f32>, i: usize) -> f32 {
    unsafe { tile.add(i).read() + tile.add(1).read() }
}

fn main() {}
