//! Chunks that bulk copies bring and take away.

use super::{Facts, Grid, Input, Number, Output, Place, Problem, Random, Sm, Workload, bytes_of, rod};
use kernels::stages::{CHUNK, OFFSET, SCALE, THREADS, stages};

pub(super) struct Stages;

impl Workload for Stages {
    fn facts(&self) -> Facts {
        Facts {
            name: "stages",
            about: "numbers scaled in shared memory, through which bulk copies carry them",
            unit: "quads of numbers",
            cpu_size: 1 << 19,
            gpu_size: 1 << 24,
        }
    }

    fn oldest(&self) -> Sm {
        rod::OLDEST
    }

    fn problem(&self, size: usize) -> Box<dyn Problem> {
        let mut random = Random(11);
        // In words of 16 bytes, as a bulk copy wants them aligned.
        Box::new(Scaled {
            input: (0..size).map(|_| ptx_intrinsics::element::V4::new([(); 4].map(|()| random.float()))).collect(),
        })
    }
}

struct Scaled {
    input: Vec<ptx_intrinsics::element::V4<f32>>,
}

impl Problem for Scaled {
    fn threads(&self) -> usize {
        (4 * self.input.len()).div_ceil(CHUNK) * THREADS
    }

    fn useful_bytes(&self) -> u64 {
        2 * size_of_val(&self.input[..]) as u64
    }

    fn inputs(&self) -> Vec<Input<'_>> {
        let n = Input::Number(Number::U64(4 * self.input.len() as u64));
        vec![Input::Output, Input::Bytes(bytes_of(&self.input)), n]
    }

    fn reference(&self) -> Output {
        Output::F32(self.input.iter().flat_map(|quad| quad.0).map(|x| SCALE * x + OFFSET).collect())
    }

    unsafe fn run(&self, output: Place) {
        // Few blocks: each has chunks enough to go round its ring.
        let grid = Grid { resident: 4, ..self.grid(6) };
        // SAFETY: the input has so many elements; the output is as promised.
        unsafe { grid.run(|| stages(output.at(), self.input.as_ptr().cast(), 4 * self.input.len())) };
    }
}
