//! Scales numbers on a GPU, or on the CPU where there is none, and checks every one.

use std::error::Error;

use cust::prelude::*;
use kernels::{THREADS, scale_on_cpu};

/// What rust-cuda made of the kernels.
const PTX: &str = include_str!(concat!(env!("OUT_DIR"), "/kernels.ptx"));

fn main() -> Result<(), Box<dyn Error>> {
    let x: Vec<f32> = (0..1_000_000).map(|i| i as f32).collect();
    let y = match ptx_driver::gpu() {
        Ok(gpu) if gpu.sm >= 100 => {
            println!("{} (sm_{}) runs the kernel.", gpu.name, gpu.sm);
            scale_on_gpu(0.5, &x)?
        }
        Ok(gpu) => {
            println!("The kernel needs sm_100, and {} is sm_{}.\nThe CPU runs it.", gpu.name, gpu.sm);
            scale_on_cpu(0.5, &x)
        }
        Err(no_gpu) => {
            println!("{no_gpu}\nThe CPU runs the kernel.");
            scale_on_cpu(0.5, &x)
        }
    };
    if let Some(i) = (0..x.len()).find(|&i| y[i] != 0.5 * x[i]) {
        return Err(format!("element {i} is {}, and should be {}", y[i], 0.5 * x[i]).into());
    }
    println!("All {} elements are right.", y.len());
    Ok(())
}

/// Runs the kernel on the first GPU.
fn scale_on_gpu(a: f32, x: &[f32]) -> Result<Vec<f32>, Box<dyn Error>> {
    let _context = cust::quick_init()?;
    let module = Module::from_ptx(PTX, &[])?;
    let scale = module.get_function("scale")?;
    let stream = Stream::new(StreamFlags::DEFAULT, None)?;
    let (from, to) = (DeviceBuffer::from_slice(x)?, DeviceBuffer::<f32>::zeroed(x.len())?);
    let blocks = (x.len() as u32).div_ceil(THREADS);
    // SAFETY: these are the kernel's parameters.
    unsafe {
        launch!(scale<<<blocks, THREADS, 0, stream>>>(x.len() as u32, a, from.as_device_ptr(), to.as_device_ptr()))?;
    }
    stream.synchronize()?;
    Ok(to.as_host_vec()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hints_and_the_bounds_are_in_the_ptx() {
        for line in ["ld.global.nc.L1::no_allocate.L2::256B.f32", "st.global.cs.f32", "\n.maxntid 256\n"] {
            assert!(PTX.contains(line), "there is no {line} in:\n{PTX}");
        }
    }
}
