//! How often each byte occurs.

use super::{Facts, Grid, Input, Number, Output, Place, Problem, Random, Workload, bytes_of};
use kernels::histogram::{BINS, Quad, histogram};

pub(super) struct Histogram;

impl Workload for Histogram {
    fn facts(&self) -> Facts {
        Facts {
            name: "histogram",
            about: "bytes counted by their values, small ones more often, in bins that stay in L2",
            unit: "bytes",
            cpu_size: 1 << 22,
            gpu_size: 1 << 28,
        }
    }

    fn problem(&self, size: usize) -> Box<dyn Problem> {
        let mut random = Random(12);
        // The smaller of two is small more often: many threads add to the same bin.
        let mut word = || {
            let pairs = random.next().to_le_bytes().into_iter().zip(random.next().to_le_bytes());
            pairs.fold(0, |word, (a, b)| word << 8 | u64::from(a.min(b)))
        };
        let mut quad = || {
            let words = [word(), word()];
            Quad::new([words[0] as u32, (words[0] >> 32) as u32, words[1] as u32, (words[1] >> 32) as u32])
        };
        // The last quad is whole: what is there after the last byte must not be counted.
        Box::new(Bytes { quads: (0..size.div_ceil(16)).map(|_| quad()).collect(), count: size })
    }
}

struct Bytes {
    quads: Vec<Quad>,
    count: usize,
}

impl Problem for Bytes {
    fn threads(&self) -> usize {
        self.quads.len()
    }

    fn useful_bytes(&self) -> u64 {
        (self.count + BINS * size_of::<u32>()) as u64
    }

    fn inputs(&self) -> Vec<Input<'_>> {
        let count = Input::Number(Number::U64(self.count as u64));
        vec![Input::Sums, Input::Bytes(bytes_of(&self.quads)), count]
    }

    fn output_bytes(&self) -> usize {
        BINS * size_of::<u32>()
    }

    fn reference(&self) -> Output {
        let mut bins = vec![0; BINS];
        bytes_of(&self.quads)[..self.count].iter().for_each(|byte| bins[*byte as usize] += 1);
        Output::U32(bins)
    }

    unsafe fn run(&self, output: Place) {
        let grid = Grid { resident: 4, ..self.grid(super::CPU_BLOCKS) };
        // SAFETY: the input has so many bytes; the output is as promised, and zero at first.
        unsafe { grid.run(|| histogram(output.at(), self.quads.as_ptr().cast(), self.count)) };
    }
}
