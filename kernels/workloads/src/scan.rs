//! A prefix sum in one pass.

use super::{Facts, Grid, Input, Number, Output, Place, Problem, Random, Workload, bytes_of};
use kernels::scan::{THREADS, TILE, Tile, scan};

pub(super) struct Scan;

impl Workload for Scan {
    fn facts(&self) -> Facts {
        Facts {
            name: "scan",
            about: "the prefix sums of random numbers, in one pass with decoupled look-back",
            unit: "numbers",
            cpu_size: 1 << 20,
            gpu_size: 1 << 26,
        }
    }

    fn problem(&self, size: usize) -> Box<dyn Problem> {
        let mut random = Random(5);
        Box::new(Numbers { numbers: (0..size).map(|_| random.next() as u32).collect() })
    }
}

struct Numbers {
    numbers: Vec<u32>,
}

impl Numbers {
    fn tiles(&self) -> usize {
        self.numbers.len().div_ceil(TILE)
    }
}

impl Problem for Numbers {
    fn threads(&self) -> usize {
        self.tiles() * THREADS
    }

    fn useful_bytes(&self) -> u64 {
        2 * size_of_val(&self.numbers[..]) as u64
    }

    fn inputs(&self) -> Vec<Input<'_>> {
        vec![
            Input::Output,
            Input::Bytes(bytes_of(&self.numbers)),
            Input::Number(Number::U64(self.numbers.len() as u64)),
            Input::Scratch(self.tiles() * size_of::<Tile>()),
            Input::Scratch(size_of::<u32>()),
        ]
    }

    fn reference(&self) -> Output {
        let add = |sum: &mut u32, number: &u32| {
            *sum = sum.wrapping_add(*number);
            Some(*sum)
        };
        Output::U32(self.numbers.iter().scan(0, add).collect())
    }

    fn grid(&self, blocks: u32) -> Grid {
        let wanted = self.tiles().clamp(1, blocks as usize) as u32;
        Grid { blocks: wanted, threads: THREADS as u32, cluster: 1, shared: 0, resident: RESIDENT }
    }

    unsafe fn run(&self, output: Place) {
        let (mut tiles, mut next) = (vec![Tile::default(); self.tiles()], [0u32]);
        let (tiles, next) = (Place::new(&mut tiles), Place::new(&mut next));
        // The kernel wants the input aligned, as the output is.
        let (vectors, numbers) = (aligned(&self.numbers), self.numbers.len());
        let grid = self.grid(2 * RESIDENT);
        // SAFETY: the tiles and the number are new and as many as there must be; the output is as promised.
        unsafe { grid.run(|| scan(output.at(), vectors.as_ptr().cast(), numbers, tiles.at(), next.at())) };
    }
}

/// Blocks at a time on the CPU: enough that one waits for another, on a machine of any size.
const RESIDENT: u32 = 4;

/// The numbers at an address that is a multiple of 16.
fn aligned(numbers: &[u32]) -> Vec<u128> {
    let mut words = vec![0u128; numbers.len().div_ceil(4)];
    bytemuck::cast_slice_mut(&mut words)[..numbers.len()].copy_from_slice(numbers);
    words
}
