//! Look-ups in a hash table.

use super::{Facts, Input, Number, Output, Place, Problem, Random, Workload, bytes_of, each_thread};
use kernels::probe::{EMPTY, MISSING, Slot, home, probe};
use std::collections::HashMap;

pub(super) struct Probe;

impl Workload for Probe {
    fn facts(&self) -> Facts {
        Facts {
            name: "probe",
            about: "keys looked up in a half-full hash table, every third of them in vain",
            unit: "keys looked up",
            cpu_size: 1 << 20,
            gpu_size: 1 << 24,
        }
    }

    fn problem(&self, size: usize) -> Box<dyn Problem> {
        let mut random = Random(4);
        let entries: HashMap<u64, u64> =
            (0..size / 4 + 1).map(|_| (random.next() & !(1 << 63), random.next() >> 1)).collect();
        let mut present: Vec<u64> = entries.keys().copied().collect();
        present.sort_unstable();
        // A key with the highest bit set is in no entry.
        let mut key = |at: usize| match at % 3 {
            0 => random.next() >> 1 | 1 << 63,
            _ => present[random.below(present.len() as u64) as usize],
        };
        let keys = (0..size).map(&mut key).filter(|key| *key != EMPTY).collect();
        let bits = (2 * entries.len()).next_power_of_two().ilog2();
        Box::new(Join { keys, bits, table: fill(&entries, &present, bits), entries })
    }
}

fn fill(entries: &HashMap<u64, u64>, order: &[u64], bits: u32) -> Vec<Slot> {
    let mut table = vec![Slot::from([EMPTY, 0]); 1 << bits];
    for key in order {
        let mut slot = home(*key, bits);
        while table[slot].0[0] != EMPTY {
            slot = (slot + 1) % table.len();
        }
        table[slot] = Slot::from([*key, entries[key]]);
    }
    table
}

struct Join {
    entries: HashMap<u64, u64>,
    table: Vec<Slot>,
    bits: u32,
    keys: Vec<u64>,
}

impl Problem for Join {
    fn threads(&self) -> usize {
        self.keys.len()
    }

    fn useful_bytes(&self) -> u64 {
        // Each look-up reads its key, one slot at least, and writes its answer.
        (self.keys.len() * (2 * size_of::<u64>() + size_of::<Slot>())) as u64
    }

    fn inputs(&self) -> Vec<Input<'_>> {
        vec![
            Input::Output,
            Input::Bytes(bytes_of(&self.table)),
            Input::Number(Number::U32(self.bits)),
            Input::Bytes(bytes_of(&self.keys)),
            Input::Number(Number::U64(self.keys.len() as u64)),
        ]
    }

    fn output_bytes(&self) -> usize {
        size_of_val(&self.keys[..])
    }

    fn reference(&self) -> Output {
        let value = |key| self.entries.get(key).copied().unwrap_or(MISSING);
        Output::U64(self.keys.iter().map(value).collect())
    }

    unsafe fn run(&self, output: Place) {
        let (table, keys) = (self.table.as_ptr(), self.keys.as_ptr());
        // SAFETY: the table has 2^bits slots, half of them empty; the output is as promised.
        unsafe { each_thread(self, || probe(output.at(), table, self.bits, keys, self.keys.len())) };
    }
}
