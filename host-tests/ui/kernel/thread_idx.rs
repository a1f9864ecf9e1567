#![deny(deprecated)]
use ptx_kernel::*;

fn kernel() -> u32 {
    blockIdx.x * blockDim.x + threadIdx.x
}

fn main() {}
