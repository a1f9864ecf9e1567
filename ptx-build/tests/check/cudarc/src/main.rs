//! A program on `cudarc`: PTX from a file, two streams that wait for each other, and a right sum of each block.

use cudarc::driver::{CudaContext, DriverError, LaunchConfig, PushKernelArg};
use cudarc::nvrtc::Ptx;

fn main() -> Result<(), DriverError> {
    let [_, file, kernel] = &std::env::args().collect::<Vec<_>>()[..] else { panic!("expected a file and a kernel") };
    let context = CudaContext::new(0)?;
    let (first, second) = (context.default_stream(), context.new_stream()?);
    let reduce = context.load_module(Ptx::from_file(file))?.load_function(kernel)?;
    let numbers: Vec<u32> = (0..512).collect();
    let given = first.clone_htod(&numbers)?;
    let mut sums = first.alloc_zeros::<u32>(2)?;
    second.join(&first)?;
    let config = LaunchConfig { grid_dim: (2, 1, 1), block_dim: (256, 1, 1), shared_mem_bytes: 0 };
    let mut launch = second.launch_builder(&reduce);
    launch.arg(&given).arg(&mut sums);
    // SAFETY: these are the kernel's parameters: 512 numbers, and a sum of each block.
    unsafe { launch.launch(config) }?;
    println!("{:?} {:?}", context.compute_capability()?, second.clone_dtoh(&sums)?);
    Ok(())
}
