//! An embedding gather.

use super::{Facts, Input, Number, Output, Place, Problem, Random, Workload, bytes_of, each_thread};
use kernels::gather::{ROW, gather};
use ptx_intrinsics::element::V4;

pub(super) struct Gather;

impl Workload for Gather {
    fn facts(&self) -> Facts {
        Facts {
            name: "gather",
            about: "rows of 64 floats gathered from a table by index, popular rows more often",
            unit: "rows",
            cpu_size: 1 << 16,
            gpu_size: 1 << 20,
        }
    }

    fn problem(&self, size: usize) -> Box<dyn Problem> {
        let mut random = Random(2);
        let table_rows = size / 4 + 1;
        let table = (0..table_rows * ROW).map(|_| V4::from([(); 4].map(|()| random.float()))).collect();
        // The smaller of two is small more often: a few rows are popular, most are not.
        let mut row = || random.below(table_rows as u64).min(random.below(table_rows as u64)) as u32;
        Box::new(Lookup { index: (0..size).map(|_| row()).collect(), table })
    }
}

struct Lookup {
    table: Vec<V4<f32>>,
    index: Vec<u32>,
}

impl Problem for Lookup {
    fn threads(&self) -> usize {
        self.index.len() * ROW
    }

    fn useful_bytes(&self) -> u64 {
        let row = (ROW * size_of::<V4<f32>>()) as u64;
        self.index.len() as u64 * (2 * row + size_of::<u32>() as u64)
    }

    fn inputs(&self) -> Vec<Input<'_>> {
        vec![
            Input::Output,
            Input::Bytes(bytes_of(&self.table)),
            Input::Bytes(bytes_of(&self.index)),
            Input::Number(Number::U64(self.index.len() as u64)),
        ]
    }

    fn output_bytes(&self) -> usize {
        self.index.len() * ROW * size_of::<V4<f32>>()
    }

    fn reference(&self) -> Output {
        let row = |row: &u32| self.table.iter().skip(*row as usize * ROW).take(ROW).flat_map(|vector| vector.0);
        Output::F32(self.index.iter().flat_map(row).collect())
    }

    unsafe fn run(&self, output: Place) {
        // SAFETY: the indices were drawn below the table's length; the output is as promised.
        unsafe {
            each_thread(self, || gather(output.at(), self.table.as_ptr(), self.index.as_ptr(), self.index.len()));
        };
    }
}
