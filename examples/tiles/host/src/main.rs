//! Multiplies two matrices on a GPU, or on the CPU where there is none, and checks every element.

use std::error::Error;

use cust::prelude::*;
use kernels::{Quad, THREADS, TILE, depth, multiply_on_cpu};

include!(concat!(env!("OUT_DIR"), "/kernels.rs"));

fn main() -> Result<(), Box<dyn Error>> {
    let (rows, inner, columns) = (128, 96, 160);
    let (left, right) = (|i: u32| i as f32 / 1000.0, |i: u32| 1.0 - i as f32 / 1000.0);
    let (a, b) = (quads(rows * inner, left), quads(inner * columns, right));
    let product = match ptx_driver::gpu() {
        Ok(gpu) => {
            println!("{} (sm_{}) runs the kernel.", gpu.name, gpu.sm);
            multiply_on_gpu(gpu.sm, rows, columns, &a, &b)?
        }
        Err(no_gpu) => {
            println!("{no_gpu}\nThe CPU runs the kernel.");
            floats(&multiply_on_cpu(rows, columns, &a, &b))
        }
    };
    for (i, found) in product.iter().enumerate() {
        let (row, column) = (i as u32 / columns, i as u32 % columns);
        // As the kernel does: one after the other, each rounded once.
        let add = |sum, k| left(row * inner + k).mul_add(right(k * columns + column), sum);
        let expected = (0..inner).fold(0.0, add);
        if *found != expected {
            return Err(
                format!("row {row}, column {column} is {found}, and should be {expected}").into(),
            );
        }
    }
    println!("All {} elements are right.", product.len());
    Ok(())
}

/// So many elements, in quads.
fn quads(elements: u32, value: impl Fn(u32) -> f32) -> Vec<Quad> {
    (0..elements / 4)
        .map(|quad| Quad::new(std::array::from_fn(|i| value(4 * quad + i as u32))))
        .collect()
}

fn floats(quads: &[Quad]) -> Vec<f32> {
    quads.iter().flat_map(|quad| quad.0).collect()
}

/// Runs the kernel on the first GPU.
fn multiply_on_gpu(
    sm: u32,
    rows: u32,
    columns: u32,
    a: &[Quad],
    b: &[Quad],
) -> Result<Vec<f32>, Box<dyn Error>> {
    let depth = depth(rows, columns, a, b);
    let ptx =
        image(sm).ok_or_else(|| format!("no image runs on sm_{sm}: the kernels need sm_80"))?;
    let _context = cust::quick_init()?;
    let module = Module::from_ptx(ptx, &[])?;
    let multiply = module.get_function("multiply")?;
    let stream = Stream::new(StreamFlags::DEFAULT, None)?;
    let (a, b) = (
        DeviceBuffer::from_slice(&floats(a))?,
        DeviceBuffer::from_slice(&floats(b))?,
    );
    let out = DeviceBuffer::<f32>::zeroed(rows as usize * columns as usize)?;
    let grid = (columns / TILE, rows / TILE);
    // SAFETY: these are the kernel's parameters; memory of the driver's begins at multiples of 256 bytes.
    unsafe {
        launch!(multiply<<<grid, THREADS, 0, stream>>>(
            depth,
            a.as_device_ptr(),
            b.as_device_ptr(),
            out.as_device_ptr()
        ))?;
    }
    stream.synchronize()?;
    Ok(out.as_host_vec()?)
}

#[cfg(test)]
mod tests {
    use ptx_interpreter::{Program, Trial};

    use super::*;

    fn bytes(quads: &[Quad]) -> Vec<u8> {
        floats(quads).iter().flat_map(|x| x.to_le_bytes()).collect()
    }

    #[test]
    fn copies_and_barriers_are_in_every_image() {
        assert_eq!(
            IMAGES.iter().map(|(sm, _)| *sm).collect::<Vec<_>>(),
            [80, 90]
        );
        for (sm, ptx) in IMAGES {
            for line in [
                "cp.async.cg.shared.global.L2::128B",
                "cp.async.wait_group 1",
                "bar",
                ".minnctapersm 4",
            ] {
                assert!(ptx.contains(line), "sm_{sm} has no {line}");
            }
        }
    }

    #[test]
    fn every_image_is_free_of_races_and_agrees_with_the_cpu() {
        let (a, b) = (
            quads(32 * 96, |i| i as f32 / 7.0),
            quads(96 * 64, |i| 3.0 - i as f32),
        );
        let product = multiply_on_cpu(32, 64, &a, &b);
        for (sm, ptx) in IMAGES {
            let program = Program::parse(ptx);
            let mut trial = Trial::new(&program, "multiply");
            trial.grid([64 / TILE, 32 / TILE, 1]).block([THREADS, 1, 1]);
            trial.value(&depth(32, 64, &a, &b).to_le_bytes());
            trial.buffer(&bytes(&a)).unwrap();
            trial.buffer(&bytes(&b)).unwrap();
            trial.unwritten(32 * 64 * 4).unwrap();
            // Eight orders of the threads.
            let (report, seed) = trial.check_orders(0..8);
            assert!(report.is_clean(), "sm_{sm}, seed {seed}: {report}");
            // The fourth argument is the product.
            assert!(trial.content(3) == bytes(&product), "sm_{sm}");
        }
    }

    #[test]
    #[ignore = "it needs a GPU: cargo test -- --ignored"]
    fn the_gpu_and_the_cpu_agree() {
        let gpu = ptx_driver::gpu().unwrap();
        let (a, b) = (
            quads(64 * 64, |i| i as f32 / 7.0),
            quads(64 * 96, |i| 3.0 - i as f32),
        );
        assert!(
            multiply_on_gpu(gpu.sm, 64, 96, &a, &b).unwrap()
                == floats(&multiply_on_cpu(64, 96, &a, &b))
        );
    }
}
