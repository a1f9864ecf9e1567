use ptx_intrinsics::target::{HasPtx, Isa, ptx74};

struct Mine;

impl HasPtx<Mine> for ptx74 {}

impl Isa for Mine {
    const NUMBER: u32 = 94;
    const REACHED: bool = true;
}

fn main() {}
