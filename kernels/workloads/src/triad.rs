//! STREAM's triad.

use super::{Facts, Input, Number, Output, Place, Problem, Random, Workload, bytes_of, each_thread};
use kernels::triad::triad;
use ptx_intrinsics::element::V4;

pub(super) struct Triad;

impl Workload for Triad {
    fn facts(&self) -> Facts {
        Facts {
            name: "triad",
            about: "a = b + s·c on 128-bit vectors",
            unit: "vectors of four floats",
            cpu_size: 1 << 20,
            gpu_size: 1 << 24,
        }
    }

    fn problem(&self, size: usize) -> Box<dyn Problem> {
        let mut random = Random(1);
        let mut vectors = || (0..size).map(|_| V4::from([(); 4].map(|()| random.float()))).collect();
        Box::new(Input3 { b: vectors(), c: vectors(), s: 3.0 })
    }
}

struct Input3 {
    b: Vec<V4<f32>>,
    c: Vec<V4<f32>>,
    s: f32,
}

impl Problem for Input3 {
    fn threads(&self) -> usize {
        self.b.len()
    }

    fn useful_bytes(&self) -> u64 {
        3 * size_of_val(&self.b[..]) as u64
    }

    fn inputs(&self) -> Vec<Input<'_>> {
        vec![
            Input::Output,
            Input::Bytes(bytes_of(&self.b)),
            Input::Bytes(bytes_of(&self.c)),
            Input::Number(Number::F32(self.s)),
            Input::Number(Number::U64(self.b.len() as u64)),
        ]
    }

    fn output_bytes(&self) -> usize {
        size_of_val(&self.b[..])
    }

    fn reference(&self) -> Output {
        let floats = |vectors: &[V4<f32>]| vectors.iter().flat_map(|vector| vector.0).collect::<Vec<_>>();
        let (b, c) = (floats(&self.b), floats(&self.c));
        Output::F32(b.iter().zip(&c).map(|(b, c)| b + self.s * c).collect())
    }

    unsafe fn run(&self, output: Place) {
        // SAFETY: the slices have the length that is passed; the output too, by this contract.
        unsafe {
            each_thread(self, || triad(output.at(), self.b.as_ptr(), self.c.as_ptr(), self.s, self.b.len()));
        };
    }
}
