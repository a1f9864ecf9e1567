//! The lanes of a warp.

/// Threads of a warp.
pub(crate) const LANES: usize = 32;

/// A value for each thread of a warp.
pub(crate) type Lanes = [u64; LANES];

/// Does something for each lane of a mask, from the lowest on.
#[inline(always)]
pub(crate) fn each(mask: u32, mut then: impl FnMut(usize)) {
    if mask == u32::MAX {
        (0..LANES).for_each(then);
        return;
    }
    let mut rest = mask;
    while rest != 0 {
        then(rest.trailing_zeros() as usize);
        rest &= rest - 1;
    }
}

/// Those lanes of a mask for which something holds.
pub(crate) fn lanes_where(mask: u32, mut holds: impl FnMut(usize) -> bool) -> u32 {
    lanes_of(mask).filter(|lane| holds(*lane)).fold(0, |set, lane| set | 1 << lane)
}

/// The lanes of a mask, from the lowest on.
pub(crate) fn lanes_of(mask: u32) -> impl Iterator<Item = usize> {
    let mut rest = mask;
    std::iter::from_fn(move || {
        let lane = (rest != 0).then(|| rest.trailing_zeros() as usize);
        rest &= rest.wrapping_sub(1);
        lane
    })
}

/// Those lanes of a mask whose value is that of the first lane of all and `step` more for each lane after it.
#[inline]
pub(crate) fn lanes_in_row(mask: u32, values: &Lanes, first: u64, step: u64) -> u32 {
    // Mostly all of them are.
    let apart = (1..LANES).fold(0, |apart, lane| apart | values[lane].wrapping_sub(values[lane - 1]) ^ step);
    if values[0] == first && apart == 0 {
        return mask;
    }
    let mut at = first;
    let mut set = 0;
    for (lane, value) in values.iter().enumerate() {
        set |= u32::from(*value == at) << lane;
        at = at.wrapping_add(step);
    }
    set & mask
}
