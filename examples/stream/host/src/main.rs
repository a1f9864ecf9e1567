//! Scales the columns of a matrix on a GPU, or on the CPU where there is none, and checks every element.

use std::error::Error;

use cust::prelude::*;
use kernels::{Quad, THREADS, blocks, scale_on_cpu};

include!(concat!(env!("OUT_DIR"), "/kernels.rs"));

fn main() -> Result<(), Box<dyn Error>> {
    let (rows, columns) = (1000, 4096);
    let x = quads(rows * columns, |i| i as f32);
    let weights = quads(columns, |i| i as f32 / 3.0);
    let products = match ptx_driver::gpu() {
        Ok(gpu) => {
            println!("{} (sm_{}) runs the kernel.", gpu.name, gpu.sm);
            scale_on_gpu(gpu.sm, &x, &weights)?
        }
        Err(no_gpu) => {
            println!("{no_gpu}\nThe CPU runs the kernel.");
            floats(&scale_on_cpu(&x, &weights))
        }
    };
    for (i, found) in products.iter().enumerate() {
        let expected = i as f32 * ((i % columns) as f32 / 3.0);
        if *found != expected {
            return Err(format!("element {i} is {found}, and should be {expected}").into());
        }
    }
    println!("All {} elements are right.", products.len());
    Ok(())
}

/// So many elements, in quads.
fn quads(elements: usize, value: impl Fn(usize) -> f32) -> Vec<Quad> {
    (0..elements / 4)
        .map(|quad| Quad::new(std::array::from_fn(|i| value(4 * quad + i))))
        .collect()
}

fn floats(quads: &[Quad]) -> Vec<f32> {
    quads.iter().flat_map(|quad| quad.0).collect()
}

/// Runs the kernel on the first GPU.
fn scale_on_gpu(sm: u32, x: &[Quad], weights: &[Quad]) -> Result<Vec<f32>, Box<dyn Error>> {
    let [rows, width] = [x.len() / weights.len(), weights.len()].map(|size| size as u32);
    let ptx =
        image(sm).ok_or_else(|| format!("no image runs on sm_{sm}: the kernels need sm_80"))?;
    let _context = cust::quick_init()?;
    let module = Module::from_ptx(ptx, &[])?;
    let scale = module.get_function("scale")?;
    let stream = Stream::new(StreamFlags::DEFAULT, None)?;
    let (from, weights) = (
        DeviceBuffer::from_slice(&floats(x))?,
        DeviceBuffer::from_slice(&floats(weights))?,
    );
    let to = DeviceBuffer::<f32>::zeroed(from.len())?;
    // SAFETY: these are the kernel's parameters; memory of the driver's begins at multiples of 256 bytes.
    unsafe {
        launch!(scale<<<blocks(rows), THREADS, 0, stream>>>(
            rows,
            width,
            from.as_device_ptr(),
            weights.as_device_ptr(),
            to.as_device_ptr()
        ))?;
    }
    stream.synchronize()?;
    Ok(to.as_host_vec()?)
}

#[cfg(test)]
mod tests {
    use ptx_interpreter::{Program, Trial};

    use super::*;

    fn bytes(quads: &[Quad]) -> Vec<u8> {
        floats(quads).iter().flat_map(|x| x.to_le_bytes()).collect()
    }

    #[test]
    fn the_hints_are_in_every_image() {
        for (sm, ptx) in IMAGES {
            for line in [
                "ld.global.nc.L1::evict_last.L2::256B.v4.f32",
                "ld.global.nc.L1::no_allocate.L2::256B.v4.f32",
                "st.global.cs.v4.f32",
            ] {
                assert!(ptx.contains(line), "sm_{sm} has no {line}");
            }
        }
    }

    #[test]
    fn every_image_is_free_of_races_and_agrees_with_the_cpu() {
        let (rows, width) = (5u32, 300u32);
        let (x, weights) = (
            quads(4 * 5 * 300, |i| i as f32 / 7.0),
            quads(4 * 300, |i| i as f32),
        );
        let products = scale_on_cpu(&x, &weights);
        for (sm, ptx) in IMAGES {
            let program = Program::parse(ptx);
            let mut trial = Trial::new(&program, "scale");
            trial.grid([blocks(rows), 1, 1]).block([THREADS, 1, 1]);
            trial.value(&rows.to_le_bytes()).value(&width.to_le_bytes());
            trial.buffer(&bytes(&x)).unwrap();
            trial.buffer(&bytes(&weights)).unwrap();
            trial.unwritten(16 * x.len()).unwrap();
            // Eight orders of the threads.
            let (report, seed) = trial.check_orders(0..8);
            assert!(report.is_clean(), "sm_{sm}, seed {seed}: {report}");
            // The fifth argument is what comes out.
            assert!(trial.content(4) == bytes(&products), "sm_{sm}");
        }
    }

    #[test]
    #[ignore = "it needs a GPU: cargo test -- --ignored"]
    fn the_gpu_and_the_cpu_agree() {
        let gpu = ptx_driver::gpu().unwrap();
        let (x, weights) = (quads(70_000, |i| i as f32 / 7.0), quads(700, |i| i as f32));
        assert!(scale_on_gpu(gpu.sm, &x, &weights).unwrap() == floats(&scale_on_cpu(&x, &weights)));
    }
}
