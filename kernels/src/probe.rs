//! Look-ups in a hash table, as a hash join does them: each key costs one random access, which is
//! announced while the keys before it are looked up.

use ptx_intrinsics::prelude::*;
use ptx_kernel::*;

/// The key of an empty slot; no entry has it.
pub const EMPTY: u64 = u64::MAX;

/// The answer for a key that is not in the table.
pub const MISSING: u64 = u64::MAX;

/// A slot of the table: a key and its value.
pub type Slot = V2<u64>;

/// A key is read once.
const KEYS: LdGlobalNc<NoAllocate, Prefetch128> = ld_global_nc();

/// A slot is worth keeping only for the step to its neighbour.
const TABLE: LdGlobalNc<EvictFirst, NoPrefetch> = ld_global_nc();

/// How many keys are looked up while as many buckets are on their way.
const BATCH: usize = 4;

/// Where the search for `key` begins in a table of `2^bits` slots.
#[inline(always)]
pub fn home(key: u64, bits: u32) -> usize {
    (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - bits)) as usize
}

kernel! {
    /// Finds the value of each of `n` keys in a table of `2^bits` slots, filled by linear probing.
    ///
    /// # Safety
    /// `found` is valid for writes and `keys` for reads of `n` elements, fewer than 2^31, `table` for reads of
    /// `2^bits`, `bits` is 1 to 63 and at least one slot is empty. No key is [`EMPTY`]. Nobody else
    /// touches `found` and nobody writes to the others while the grid runs. A block has at most 256 threads.
    #[launch_bounds(256, 2)]
    pub unsafe fn probe(
        found: *mut u64,
        table: *const Slot,
        bits: u32,
        keys: *const u64,
        n: usize,
    ) {
        let (n, step) = (n as u32, global_size());
        let mut i = global_index();
        // SAFETY: a key's address is touched only below n; a home is a slot of the table.
        let announce = |first: u32| unsafe {
            let batch: [u64; BATCH] = core::array::from_fn(|k| {
                let at = first + k as u32 * step;
                KEYS.read_if(at < n, keys.wrapping_add(at as usize), EMPTY)
            });
            let homes = batch.map(|key| table.add(home(key, bits)));
            for slot in homes {
                prefetch_l2(slot);
            }
            (batch, homes)
        };
        let mut next = announce(i);
        while i < n {
            let (batch, homes) = next;
            // SAFETY: a home is a slot of the table, also that of the EMPTY after the last key.
            let homes: [Slot; BATCH] = homes.map(|slot| unsafe { TABLE.read(slot) });
            next = announce(i + BATCH as u32 * step);
            for k in 0..BATCH {
                let at = i + k as u32 * step;
                if at < n {
                    // SAFETY: `at` is below n; the table is as promised.
                    unsafe {
                        let value = walk(table, bits, batch[k], homes[k]);
                        st_global::<Cs>().write(found.add(at as usize), value);
                    }
                }
            }
            i += BATCH as u32 * step;
        }
    }
}

/// The value of `key`, searched from its home on, which is already read.
///
/// # Safety
/// As for [`probe`].
#[inline(always)]
unsafe fn walk(table: *const Slot, bits: u32, key: u64, home_slot: Slot) -> u64 {
    let last = (1 << bits) - 1;
    let mut at = home(key, bits);
    let mut slot = home_slot;
    loop {
        let [present, value] = slot.0;
        if present == key {
            return value;
        }
        if present == EMPTY {
            return MISSING;
        }
        at = (at + 1) & last;
        // SAFETY: `at` is below 2^bits.
        slot = unsafe { TABLE.read(table.add(at)) };
    }
}
