//! Where the bytes are that the threads of a warp access together.

use crate::machine::Machine;
use crate::machine::group::Group;
use crate::machine::lanes::{LANES, Lanes, each, lanes_of};
use crate::machine::stop::Result;
use crate::memory::spaces::{LOCAL, MODULE, PIECE};
use crate::parts::overlay::PAGE;
use crate::ptx::operand::Operand;

/// Where the threads of a group have their bytes on the host.
#[expect(clippy::large_enum_variant, reason = "it lives as long as an instruction is executed")]
pub(crate) enum Places {
    /// That far from their addresses.
    Away(u64),
    Each([*mut u8; LANES]),
}

impl Places {
    /// Of one thread.
    #[inline]
    pub(crate) fn of(&self, lane: usize, addresses: &Lanes) -> *mut u8 {
        match self {
            Places::Away(away) => addresses[lane].wrapping_add(*away) as *mut u8,
            Places::Each(places) => places[lane],
        }
    }
}

impl Machine<'_> {
    /// Where each thread of a group has its bytes. Nothing else uses the memory of the launch until the next instruction.
    #[inline]
    pub(crate) fn places(&mut self, group: Group, addresses: &Lanes, bytes: usize, writes: bool) -> Result<Places> {
        let (low, high) = ends(group.mask, addresses);
        // They are mostly in one piece of memory.
        let span = high.wrapping_sub(low).saturating_add(bytes as u64);
        // What lies between them need not be kept.
        let is_kept = writes && span > PAGE && self.launch.overwritten.is_some();
        let is_local = (LOCAL..MODULE).contains(&low);
        let first = if is_kept || is_local { None } else { self.place(low, span as usize, writes) };
        match first {
            Some(first) => Ok(Places::Away((first as u64).wrapping_sub(low))),
            None => self.each_place(group, addresses, bytes, writes),
        }
    }

    fn each_place(&mut self, group: Group, addresses: &Lanes, bytes: usize, writes: bool) -> Result<Places> {
        if let Some(places) = self.own_places(group, addresses, bytes) {
            return Ok(Places::Each(places));
        }
        let mut places = [std::ptr::null_mut(); LANES];
        for thread in group.threads() {
            let place = self.host(addresses[thread.lane], bytes, writes).map_err(|stop| stop.by(thread.lane));
            places[thread.lane] = place?;
        }
        Ok(Places::Each(places))
    }

    /// The same, if each has them in its own local memory.
    fn own_places(&mut self, group: Group, addresses: &Lanes, bytes: usize) -> Option<[*mut u8; LANES]> {
        let first = LOCAL + u64::from(self.id(group.thread(0))) * PIECE;
        let warp = self.warp_mut(group.warp);
        let mut places = [std::ptr::null_mut(); LANES];
        for lane in lanes_of(group.mask) {
            let at = addresses[lane].wrapping_sub(first + lane as u64 * PIECE) as usize;
            places[lane] = warp.local[lane].bytes.get_mut(at..at.checked_add(bytes)?)?.as_mut_ptr();
        }
        Some(places)
    }

    /// Whether each thread of a group has the bytes in its own local memory. Where they are written, it remembers so.
    pub(crate) fn is_own(&mut self, group: Group, addresses: &Lanes, bytes: usize, writes: bool) -> bool {
        let first = group.first().lane;
        if !(LOCAL..MODULE).contains(&addresses[first]) || self.own_places(group, addresses, bytes).is_none() {
            return false;
        }
        if writes {
            let warp = self.warp_mut(group.warp);
            each(group.mask, |lane| warp.local[lane].write((addresses[lane] % PIECE) as usize, bytes));
        }
        true
    }

    /// The threads of a group load numbers of at most eight bytes, `at` bytes behind their places, to a register.
    ///
    /// # Safety
    /// Each place is readable for `at + bytes` bytes.
    pub(crate) unsafe fn gather(
        &mut self,
        group: Group,
        (places, addresses): (&Places, &Lanes),
        (at, bytes): (usize, usize),
        to: usize,
    ) {
        let values = &mut self.warp_mut(group.warp).frames[group.frame].registers[to];
        let of = |lane: usize| places.of(lane, addresses).wrapping_add(at);
        // SAFETY: the caller says so; they need not be aligned.
        unsafe {
            match bytes {
                4 => each(group.mask, |lane| values[lane] = of(lane).cast::<u32>().read_unaligned().into()),
                8 => each(group.mask, |lane| values[lane] = of(lane).cast::<u64>().read_unaligned()),
                2 => each(group.mask, |lane| values[lane] = of(lane).cast::<u16>().read_unaligned().into()),
                _ => each(group.mask, |lane| values[lane] = of(lane).read().into()),
            }
        }
    }

    /// The threads of a group store an operand of at most eight bytes, `at` bytes behind their places, the one of the lowest lane first.
    ///
    /// # Safety
    /// Each place is writable for `at + bytes` bytes.
    pub(crate) unsafe fn scatter(
        &mut self,
        group: Group,
        (places, addresses): (&Places, &Lanes),
        (at, bytes): (usize, usize),
        from: &Operand,
    ) -> Result<()> {
        let mut made = None;
        let values = self.values(group, from, &mut made)?;
        let of = |lane: usize| places.of(lane, addresses).wrapping_add(at);
        // SAFETY: the caller says so; they need not be aligned.
        unsafe {
            match bytes {
                4 => each(group.mask, |lane| of(lane).cast::<u32>().write_unaligned(values[lane] as u32)),
                8 => each(group.mask, |lane| of(lane).cast::<u64>().write_unaligned(values[lane])),
                2 => each(group.mask, |lane| of(lane).cast::<u16>().write_unaligned(values[lane] as u16)),
                _ => each(group.mask, |lane| of(lane).write(values[lane] as u8)),
            }
        }
        // Nobody waits for what another thread writes to its own memory.
        let is_seen = |lane: usize| !(LOCAL..MODULE).contains(&addresses[lane]);
        self.progress += u64::from(lanes_of(group.mask).any(is_seen));
        Ok(())
    }
}

/// The lowest and the highest address of some lanes.
#[inline]
fn ends(mask: u32, addresses: &Lanes) -> (u64, u64) {
    let distance = addresses[1].wrapping_sub(addresses[0]);
    let apart = (1..LANES).fold(0, |apart, lane| apart | addresses[lane].wrapping_sub(addresses[lane - 1]) ^ distance);
    let (first, last) = (addresses[0], addresses[LANES - 1]);
    // Mostly each is as far from the one before.
    if mask == u32::MAX && apart == 0 && distance <= u32::MAX.into() && first <= last {
        return (first, last);
    }
    let (mut low, mut high) = (u64::MAX, 0);
    each(mask, |lane| (low, high) = (low.min(addresses[lane]), high.max(addresses[lane])));
    (low, high)
}
