//! Launches the kernel on a GPU, or runs it on the CPU where there is none, and checks every element.

use std::error::Error;

use cust::prelude::*;
use kernels::{THREADS, axpy_on_cpu, blocks};

// What build.rs made: `IMAGES`, the PTX for each GPU, and `image(sm)`, the newest that a GPU runs.
include!(concat!(env!("OUT_DIR"), "/kernels.rs"));

fn main() -> Result<(), Box<dyn Error>> {
    let a = 2.5;
    let x: Vec<f32> = (0..1 << 20).map(|i| i as f32).collect();
    let y: Vec<f32> = x.iter().map(|x| x / 3.0).collect();
    let mut result = y.clone();
    match ptx_driver::gpu() {
        Ok(gpu) => {
            println!("{} (sm_{}) runs the kernel.", gpu.name, gpu.sm);
            axpy_on_gpu(gpu.sm, a, &x, &mut result)?;
        }
        Err(no_gpu) => {
            println!("{no_gpu}\nThe CPU runs the kernel.");
            axpy_on_cpu(a, &x, &mut result);
        }
    }
    for (i, (x, y)) in x.iter().zip(y).enumerate() {
        let (expected, found) = (a.mul_add(*x, y), result[i]);
        if found != expected {
            return Err(format!("element {i} is {found}, and should be {expected}").into());
        }
    }
    println!("All {} elements are right.", x.len());
    Ok(())
}

/// Runs the kernel on the first GPU.
fn axpy_on_gpu(sm: u32, a: f32, x: &[f32], y: &mut [f32]) -> Result<(), Box<dyn Error>> {
    assert_eq!(x.len(), y.len());
    let n = u32::try_from(x.len())?;
    let ptx = image(sm)
        .ok_or_else(|| format!("no image runs on sm_{sm}: add .sm({sm}) in host/build.rs"))?;
    let _context = cust::quick_init()?;
    let module = Module::from_ptx(ptx, &[])?;
    let axpy = module.get_function("axpy")?;
    let stream = Stream::new(StreamFlags::DEFAULT, None)?;
    let (from, to) = (DeviceBuffer::from_slice(x)?, DeviceBuffer::from_slice(y)?);
    // SAFETY: these are the kernel's parameters, and both buffers have `n` elements.
    unsafe {
        launch!(axpy<<<blocks(x.len()), THREADS, 0, stream>>>(n, a, from.as_device_ptr(), to.as_device_ptr()))?;
    }
    stream.synchronize()?;
    to.copy_to(y)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use ptx_interpreter::{Program, Trial};

    use super::*;

    fn bytes(floats: &[f32]) -> Vec<u8> {
        floats.iter().flat_map(|x| x.to_le_bytes()).collect()
    }

    #[test]
    fn every_image_has_the_kernel_and_its_bounds() {
        for (sm, ptx) in IMAGES {
            assert!(ptx.contains(".entry axpy("), "sm_{sm}");
            assert!(ptx.contains(&format!(".maxntid {THREADS}")), "sm_{sm}");
        }
    }

    #[test]
    fn every_image_is_free_of_races_and_agrees_with_the_cpu() {
        let x: Vec<f32> = (0..1000).map(|i| i as f32 / 7.0).collect();
        let (y, mut on_cpu) = (vec![0.5; x.len()], vec![0.5; x.len()]);
        axpy_on_cpu(3.0, &x, &mut on_cpu);
        for (sm, ptx) in IMAGES {
            let program = Program::parse(ptx);
            let mut trial = Trial::new(&program, "axpy");
            trial.grid([blocks(x.len()), 1, 1]).block([THREADS, 1, 1]);
            trial.value(&1000u32.to_le_bytes());
            trial.value(&3.0f32.to_le_bytes());
            trial.buffer(&bytes(&x)).unwrap();
            trial.buffer(&bytes(&y)).unwrap();
            // Eight orders of the threads.
            let (report, seed) = trial.check_orders(0..8);
            assert!(report.is_clean(), "sm_{sm}, seed {seed}: {report}");
            // The fourth argument is `y`.
            assert!(trial.content(3) == bytes(&on_cpu), "sm_{sm}");
        }
    }

    #[test]
    #[ignore = "it needs a GPU: cargo test -- --ignored"]
    fn the_gpu_and_the_cpu_agree() {
        let gpu = ptx_driver::gpu().unwrap();
        let x: Vec<f32> = (0..100_000).map(|i| i as f32 / 7.0).collect();
        let [mut on_gpu, mut on_cpu] = [vec![0.5; x.len()], vec![0.5; x.len()]];
        axpy_on_gpu(gpu.sm, 3.0, &x, &mut on_gpu).unwrap();
        axpy_on_cpu(3.0, &x, &mut on_cpu);
        assert!(on_gpu == on_cpu);
    }
}
