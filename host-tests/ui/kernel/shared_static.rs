use ptx_kernel::shared;

shared! {
    static TILE: [f32; 256];
}

fn main() {}
