//! Where the bytes are that the threads of a warp access together.

use crate::machine::Machine;
use crate::machine::group::Group;
use crate::machine::lanes::{LANES, Lanes, each, lanes_of};
use crate::machine::stop::Result;
use crate::memory::spaces::{LOCAL, MODULE, PIECE};
use crate::parts::overlay::PAGE;
use crate::ptx::operand::Operand;

/// Where the threads of a group have their bytes on the host.
pub(crate) enum Places {
    /// All lanes: where the first one has them, and how far apart those of neighbours are.
    Row(*mut u8, usize),
    /// That far from their addresses.
    Away(u64),
    Each(Box<[*mut u8; LANES]>),
}

impl Places {
    /// Of one thread.
    #[inline]
    pub(crate) fn of(&self, lane: usize, addresses: &Lanes) -> *mut u8 {
        match self {
            Places::Row(first, distance) => first.wrapping_add(lane * distance),
            Places::Away(away) => addresses[lane].wrapping_add(*away) as *mut u8,
            Places::Each(places) => places[lane],
        }
    }
}

impl Machine<'_> {
    /// Where each thread of a group has its bytes. Nothing else uses the memory of the launch until the next instruction.
    #[inline]
    pub(crate) fn places(&mut self, group: Group, addresses: &Lanes, bytes: usize, writes: bool) -> Result<Places> {
        let row = row(group.mask, addresses);
        let (low, high) =
            if row.is_some() { (addresses[0], addresses[LANES - 1]) } else { ends(group.mask, addresses) };
        // They are mostly in one piece of memory.
        let span = high.wrapping_sub(low).saturating_add(bytes as u64);
        // What lies between them need not be kept.
        let is_kept = writes && span > PAGE && self.launch.overwritten.is_some();
        let is_local = (LOCAL..MODULE).contains(&low);
        let first = if is_kept || is_local { None } else { self.place(low, span as usize, writes) };
        match (first, row) {
            (Some(first), Some(distance)) => Ok(Places::Row(first, distance)),
            (Some(first), None) => Ok(Places::Away((first as u64).wrapping_sub(low))),
            (None, _) => self.each_place(group, addresses, bytes, writes),
        }
    }

    fn each_place(&mut self, group: Group, addresses: &Lanes, bytes: usize, writes: bool) -> Result<Places> {
        if let Some(places) = self.own_places(group, addresses, bytes) {
            return Ok(Places::Each(Box::new(places)));
        }
        let mut places = [std::ptr::null_mut(); LANES];
        for thread in group.threads() {
            let place = self.host(addresses[thread.lane], bytes, writes).map_err(|stop| stop.by(thread.lane));
            places[thread.lane] = place?;
        }
        Ok(Places::Each(Box::new(places)))
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
        // SAFETY: the caller says so.
        unsafe {
            match places {
                Places::Row(first, apart) if *apart == bytes => read_row(values, bytes, first.wrapping_add(at)),
                Places::Row(first, apart) => {
                    read(values, group.mask, bytes, |lane| first.wrapping_add(lane * apart + at))
                }
                places => read_each(values, group.mask, (places, addresses), (at, bytes)),
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
        // SAFETY: the caller says so.
        unsafe {
            match places {
                Places::Row(first, apart) if *apart == bytes => write_row(values, bytes, first.wrapping_add(at)),
                Places::Row(first, apart) => {
                    write(values, group.mask, bytes, |lane| first.wrapping_add(lane * apart + at))
                }
                places => write_each(values, group.mask, (places, addresses), (at, bytes)),
            }
        }
        // Nobody waits for what another thread writes to its own memory.
        let is_seen = |lane: usize| !(LOCAL..MODULE).contains(&addresses[lane]);
        self.progress += u64::from(lanes_of(group.mask).any(is_seen));
        Ok(())
    }
}

/// Reads numbers of at most eight bytes.
///
/// # Safety
/// They can be read where `of` says; they need not be aligned.
#[inline(always)]
unsafe fn read(values: &mut Lanes, mask: u32, bytes: usize, of: impl Fn(usize) -> *mut u8) {
    // SAFETY: the caller says so.
    unsafe {
        match bytes {
            4 => each(mask, |lane| values[lane] = of(lane).cast::<u32>().read_unaligned().into()),
            8 => each(mask, |lane| values[lane] = of(lane).cast::<u64>().read_unaligned()),
            2 => each(mask, |lane| values[lane] = of(lane).cast::<u16>().read_unaligned().into()),
            _ => each(mask, |lane| values[lane] = of(lane).read().into()),
        }
    }
}

/// Writes the low bytes of numbers, at most eight.
///
/// # Safety
/// They can be written where `of` says; they need not be aligned.
#[inline(always)]
unsafe fn write(values: &Lanes, mask: u32, bytes: usize, of: impl Fn(usize) -> *mut u8) {
    // SAFETY: the caller says so.
    unsafe {
        match bytes {
            4 => each(mask, |lane| of(lane).cast::<u32>().write_unaligned(values[lane] as u32)),
            8 => each(mask, |lane| of(lane).cast::<u64>().write_unaligned(values[lane])),
            2 => each(mask, |lane| of(lane).cast::<u16>().write_unaligned(values[lane] as u16)),
            _ => each(mask, |lane| of(lane).write(values[lane] as u8)),
        }
    }
}

/// Reads them at places in no order.
///
/// # Safety
/// Each is readable for `at + bytes` bytes.
#[inline(never)]
unsafe fn read_each(
    values: &mut Lanes,
    mask: u32,
    (places, addresses): (&Places, &Lanes),
    (at, bytes): (usize, usize),
) {
    // SAFETY: the caller says so.
    unsafe { read(values, mask, bytes, |lane| places.of(lane, addresses).wrapping_add(at)) }
}

/// Writes them at places in no order.
///
/// # Safety
/// Each is writable for `at + bytes` bytes.
#[inline(never)]
unsafe fn write_each(values: &Lanes, mask: u32, (places, addresses): (&Places, &Lanes), (at, bytes): (usize, usize)) {
    // SAFETY: the caller says so.
    unsafe { write(values, mask, bytes, |lane| places.of(lane, addresses).wrapping_add(at)) }
}

/// Reads those of all lanes, each right behind that of the lane before.
///
/// # Safety
/// They can be read from `first` on; they need not be aligned.
#[inline]
unsafe fn read_row(values: &mut Lanes, bytes: usize, first: *mut u8) {
    // SAFETY: the caller says so.
    unsafe {
        match bytes {
            4 => *values = first.cast::<[u32; LANES]>().read_unaligned().map(u64::from),
            8 => *values = first.cast::<Lanes>().read_unaligned(),
            2 => *values = first.cast::<[u16; LANES]>().read_unaligned().map(u64::from),
            _ => *values = first.cast::<[u8; LANES]>().read_unaligned().map(u64::from),
        }
    }
}

/// Writes those of all lanes, each right behind that of the lane before.
///
/// # Safety
/// They can be written from `first` on; they need not be aligned.
#[inline]
unsafe fn write_row(values: &Lanes, bytes: usize, first: *mut u8) {
    // SAFETY: the caller says so.
    unsafe {
        match bytes {
            4 => first.cast::<[u32; LANES]>().write_unaligned(values.map(|value| value as u32)),
            8 => first.cast::<Lanes>().write_unaligned(*values),
            2 => first.cast::<[u16; LANES]>().write_unaligned(values.map(|value| value as u16)),
            _ => first.cast::<[u8; LANES]>().write_unaligned(values.map(|value| value as u8)),
        }
    }
}

/// How far the address of each lane is from the one before, if all of a warp are as far, as mostly.
#[inline]
fn row(mask: u32, addresses: &Lanes) -> Option<usize> {
    let distance = addresses[1].wrapping_sub(addresses[0]);
    let apart = (1..LANES).fold(0, |apart, lane| apart | addresses[lane].wrapping_sub(addresses[lane - 1]) ^ distance);
    let is_row = mask == u32::MAX && apart == 0 && distance <= u32::MAX.into() && addresses[0] <= addresses[LANES - 1];
    is_row.then_some(distance as usize)
}

/// The lowest and the highest address of some lanes.
#[inline]
fn ends(mask: u32, addresses: &Lanes) -> (u64, u64) {
    let (mut low, mut high) = (u64::MAX, 0);
    each(mask, |lane| (low, high) = (low.min(addresses[lane]), high.max(addresses[lane])));
    (low, high)
}
