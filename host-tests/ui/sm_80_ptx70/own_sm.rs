use ptx_intrinsics::target::{HasSm, Sm, sm_90};

struct Mine;

impl HasSm<Mine> for sm_90 {}

impl Sm for Mine {
    const NUMBER: u32 = 94;
    const REACHED: bool = true;
}

fn main() {}
