//! A ring between two blocks.

use super::{Facts, Grid, Input, Number, Output, Place, Problem, Random, Workload, bytes_of};
use kernels::ring::{Index, Slot, TURN, ring};

pub(super) struct Ring;

/// Threads in a block.
const THREADS: u32 = 64;

/// Slots of the ring: the blocks take four turns before they meet.
const SIZE: usize = 4 * TURN * THREADS as usize;

impl Workload for Ring {
    fn facts(&self) -> Facts {
        Facts {
            name: "ring",
            about: "numbers passed in order from one block to another through a ring of 1,024 slots",
            unit: "slots of two numbers",
            cpu_size: 1 << 19,
            gpu_size: 1 << 20,
        }
    }

    fn problem(&self, size: usize) -> Box<dyn Problem> {
        let mut random = Random(6);
        Box::new(Stream { slots: (0..size).map(|_| Slot::new([random.next(), random.next()])).collect() })
    }
}

struct Stream {
    slots: Vec<Slot>,
}

impl Problem for Stream {
    fn threads(&self) -> usize {
        2 * THREADS as usize
    }

    fn useful_bytes(&self) -> u64 {
        2 * size_of_val(&self.slots[..]) as u64
    }

    fn inputs(&self) -> Vec<Input<'_>> {
        vec![
            Input::Output,
            Input::Bytes(bytes_of(&self.slots)),
            Input::Number(Number::U64(self.slots.len() as u64)),
            Input::Scratch(SIZE * size_of::<Slot>()),
            Input::Number(Number::U64(SIZE as u64)),
            Input::Scratch(2 * size_of::<Index>()),
        ]
    }

    fn reference(&self) -> Output {
        let numbered = |(slot, number): (&Slot, u64)| [slot.0[0].wrapping_add(number), slot.0[1]];
        Output::U64(self.slots.iter().zip(0..).flat_map(numbered).collect())
    }

    fn grid(&self, _: u32) -> Grid {
        Grid { blocks: 2, threads: THREADS, cluster: 1, shared: 0, resident: 2 }
    }

    unsafe fn run(&self, output: Place) {
        let (mut slots, mut indices) = (vec![Slot::new([0; 2]); SIZE], [Index::default(); 2]);
        let (slots, indices) = (Place::new(&mut slots), Place::new(&mut indices));
        let (input, n) = (self.slots.as_ptr(), self.slots.len());
        // SAFETY: the ring and its indices are new and as long as is said; the output is as promised.
        unsafe { self.grid(2).run(|| ring(output.at(), input, n, slots.at(), SIZE, indices.at())) };
    }
}
