//! What the accesses of a warp take: sectors of global memory, and passes over the banks of shared memory.

use crate::machine::lanes::{LANES, Lanes, lanes_of};
use crate::memory::spaces::{LOCAL, MODULE, SHARED, is_parameter, is_shared, is_tensor};

/// Bytes that global memory moves at once.
const SECTOR: u64 = 32;
/// Banks of shared memory, each of which has a word of 4 bytes in a pass.
const BANKS: u64 = 32;
const WORD: u64 = 4;

/// Memory that differs in what an access takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Moved {
    /// Sectors of 32 bytes of global memory.
    Sectors,
    /// Passes over the 32 banks of shared memory, in each of which a bank has one word of 4 bytes.
    Passes,
}

/// What some accesses took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Taken {
    /// How often a warp made the access.
    pub warps: u64,
    /// How many sectors or passes that took.
    pub taken: u64,
    /// How many the same bytes would take if they lay side by side.
    pub least: u64,
}

impl Taken {
    /// Adds those of other accesses.
    pub fn add(&mut self, other: Taken) {
        self.warps += other.warps;
        self.taken += other.taken;
        self.least += other.least;
    }
}

/// What an access by these lanes takes, if it is one of global or of shared memory. Each lane accesses `bytes` bytes, all in the same memory.
pub(crate) fn taken(mask: u32, addresses: &Lanes, bytes: usize) -> Option<(Moved, Taken)> {
    let first = addresses[mask.trailing_zeros() as usize % LANES];
    let moved = if is_shared(first) {
        Moved::Passes
    } else if is_parameter(first) || is_tensor(first) || (LOCAL..MODULE).contains(&first) {
        return None;
    } else {
        Moved::Sectors
    };
    let mut places = [0; LANES];
    let mut count = 0;
    for lane in lanes_of(mask) {
        places[count] = addresses[lane];
        count += 1;
    }
    let places = distinct(&mut places[..count]);
    let all = (places.len() * bytes) as u64;
    let (taken, least) = match moved {
        Moved::Sectors => (sectors(places), all.div_ceil(SECTOR)),
        Moved::Passes => (passes(places, bytes), all.div_ceil(BANKS * WORD)),
    };
    Some((moved, Taken { warps: 1, taken, least: least.min(taken) }))
}

/// They are sorted, each once.
fn distinct(places: &mut [u64]) -> &[u64] {
    places.sort_unstable();
    let mut count = 0;
    for at in 0..places.len() {
        if count == 0 || places[at] != places[count - 1] {
            places[count] = places[at];
            count += 1;
        }
    }
    &places[..count]
}

/// An aligned access is in one sector.
fn sectors(places: &[u64]) -> u64 {
    let mut last = None;
    let is_new = |place: &&u64| last.replace(**place / SECTOR) != Some(**place / SECTOR);
    places.iter().filter(is_new).count() as u64
}

/// The bank of which the most different words are used decides.
fn passes(places: &[u64], bytes: usize) -> u64 {
    let (mut used, mut last) = ([0; BANKS as usize], None);
    for place in places {
        let first = (place - SHARED) / WORD;
        for word in first..first + (bytes as u64).div_ceil(WORD) {
            if last.replace(word) != Some(word) {
                used[(word % BANKS) as usize] += 1;
            }
        }
    }
    used.into_iter().max().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(lane: impl Fn(u64) -> u64, bytes: usize) -> [u64; 2] {
        let (_, Taken { taken, least, .. }) =
            taken(u32::MAX, &std::array::from_fn(|at| lane(at as u64)), bytes).expect("it is counted");
        [taken, least]
    }

    #[test]
    fn global_memory_moves_sectors() {
        assert_eq!(of(|lane| 4096 + 4 * lane, 4), [4, 4]);
        assert_eq!(of(|lane| 4096 + 16 + 4 * lane, 4), [5, 4]);
        assert_eq!(of(|lane| 4096 + 16 * lane, 16), [16, 16]);
        assert_eq!(of(|lane| 4096 + 128 * lane, 4), [32, 4]);
        assert_eq!(of(|_| 4096, 4), [1, 1]);
        assert_eq!(of(|lane| 4096 + 4 * (31 - lane), 4), [4, 4]);
    }

    #[test]
    fn shared_memory_has_banks() {
        assert_eq!(of(|lane| SHARED + 4 * lane, 4), [1, 1]);
        assert_eq!(of(|lane| SHARED + 128 * lane, 4), [32, 1]);
        assert_eq!(of(|lane| SHARED + 132 * lane, 4), [1, 1]);
        assert_eq!(of(|lane| SHARED + 8 * lane, 4), [2, 1]);
        assert_eq!(of(|lane| SHARED + 8 * lane, 8), [2, 2]);
        assert_eq!(of(|lane| SHARED + 16 * lane, 16), [4, 4]);
        assert_eq!(of(|lane| SHARED + lane, 1), [1, 1]);
        assert_eq!(of(|_| SHARED + 64, 4), [1, 1]);
        assert!(taken(1, &[LOCAL; LANES], 4).is_none());
    }
}
