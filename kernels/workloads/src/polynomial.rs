//! A polynomial whose coefficients are a parameter of the kernel.

use super::{Facts, Input, Number, Output, Place, Problem, Random, Workload, bytes_of, each_thread};
use kernels::polynomial::{COEFFICIENTS, Coefficients, polynomial};

pub(super) struct Polynomial;

impl Workload for Polynomial {
    fn facts(&self) -> Facts {
        Facts {
            name: "polynomial",
            about: "a polynomial of degree 6 at many points, its coefficients read out of the kernel's parameter",
            unit: "points",
            cpu_size: 1 << 20,
            gpu_size: 1 << 26,
        }
    }

    fn problem(&self, size: usize) -> Box<dyn Problem> {
        let mut random = Random(7);
        let coefficients = [(); COEFFICIENTS].map(|()| random.float());
        Box::new(Points { coefficients, x: (0..size).map(|_| random.float()).collect() })
    }
}

/// One less than the parameter has room for.
const DEGREE: usize = COEFFICIENTS - 2;

struct Points {
    coefficients: [f32; COEFFICIENTS],
    x: Vec<f32>,
}

impl Problem for Points {
    fn threads(&self) -> usize {
        self.x.len()
    }

    fn useful_bytes(&self) -> u64 {
        2 * size_of_val(&self.x[..]) as u64
    }

    fn inputs(&self) -> Vec<Input<'_>> {
        vec![
            Input::Output,
            Input::Bytes(bytes_of(&self.x)),
            Input::Number(Number::U64(self.x.len() as u64)),
            Input::Number(Number::U32(DEGREE as u32)),
            Input::Number(Number::F32x8(self.coefficients)),
        ]
    }

    fn reference(&self) -> Output {
        let (last, others) = self.coefficients[..=DEGREE].split_last().expect("a coefficient");
        let value = |x: &f32| others.iter().rev().fold(*last, |sum, coefficient| sum * x + coefficient);
        Output::F32(self.x.iter().map(value).collect())
    }

    unsafe fn run(&self, output: Place) {
        let coefficients = Coefficients(self.coefficients);
        // SAFETY: there are so many points, and more coefficients; the output is as promised.
        unsafe {
            each_thread(self, || polynomial(output.at(), self.x.as_ptr(), self.x.len(), DEGREE as u32, coefficients));
        }
    }
}
