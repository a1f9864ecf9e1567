use ptx_kernel::*;

shared! {
    fn tile() -> [f32; 32];
}

fn kernel(i: usize) -> f32 {
    tile()[i] = 1.0;
    tile()[0]
}

fn main() {}
