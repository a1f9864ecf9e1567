//! A filter whose taps are in the constant bank.

use super::{Facts, Input, Number, Output, Place, Problem, Random, Workload, bytes_of, each_thread};
use kernels::convolve::{TAPS, convolve};

pub(super) struct Convolve;

impl Workload for Convolve {
    fn facts(&self) -> Facts {
        Facts {
            name: "convolve",
            about: "a signal through a filter of eight taps, which are in the constant bank",
            unit: "samples",
            cpu_size: 1 << 20,
            gpu_size: 1 << 26,
        }
    }

    fn problem(&self, size: usize) -> Box<dyn Problem> {
        let mut random = Random(8);
        Box::new(Signal { samples: (0..size + TAPS.len() - 1).map(|_| random.float()).collect() })
    }
}

/// A signal, which is longer than what comes out by all taps but one.
struct Signal {
    samples: Vec<f32>,
}

impl Problem for Signal {
    fn threads(&self) -> usize {
        self.samples.len() + 1 - TAPS.len()
    }

    fn useful_bytes(&self) -> u64 {
        ((self.samples.len() + self.threads()) * size_of::<f32>()) as u64
    }

    fn inputs(&self) -> Vec<Input<'_>> {
        vec![Input::Output, Input::Bytes(bytes_of(&self.samples)), Input::Number(Number::U64(self.threads() as u64))]
    }

    fn reference(&self) -> Output {
        let value = |window: &[f32]| window.iter().zip(TAPS).fold(0.0, |sum, (sample, tap)| sum + tap * sample);
        Output::F32(self.samples.windows(TAPS.len()).map(value).collect())
    }

    unsafe fn run(&self, output: Place) {
        // SAFETY: the signal is seven samples longer than what is passed; the output is as promised.
        unsafe { each_thread(self, || convolve(output.at(), self.samples.as_ptr(), self.threads())) };
    }
}
