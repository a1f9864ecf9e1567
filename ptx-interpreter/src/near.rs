//! Where the bytes are that the threads of a warp access together.

use crate::group::Group;
use crate::lanes::{LANES, Lanes, each};
use crate::machine::Machine;
use crate::overlay::PAGE;
use crate::spaces::{LOCAL, MODULE, PIECE};
use crate::stop::Result;

/// Of each thread of a group where its bytes are on the host.
pub(crate) type Places = [*mut u8; LANES];

impl Machine<'_> {
    /// Where each thread of a group has its bytes. Nothing else uses the memory of the launch until the next instruction.
    pub(crate) fn places(&mut self, group: Group, addresses: &Lanes, bytes: usize, writes: bool) -> Result<Places> {
        let mut places = [std::ptr::null_mut(); LANES];
        let (mut low, mut high) = (u64::MAX, 0);
        each(group.mask, |lane| (low, high) = (low.min(addresses[lane]), high.max(addresses[lane])));
        if (LOCAL..MODULE).contains(&low) && self.own_places(group, addresses, bytes, &mut places) {
            return Ok(places);
        }
        // They are mostly in one piece of memory.
        let span = high.wrapping_sub(low).saturating_add(bytes as u64);
        // What lies between them need not be kept.
        let is_kept = writes && span > PAGE && self.launch.overwritten.is_some();
        let first = if is_kept { None } else { self.place(low, span as usize, writes) };
        if let Some(first) = first {
            each(group.mask, |lane| places[lane] = first.wrapping_add((addresses[lane] - low) as usize));
            return Ok(places);
        }
        for thread in group.threads() {
            let place = self.host(addresses[thread.lane], bytes, writes).map_err(|stop| stop.by(thread.lane));
            places[thread.lane] = place?;
        }
        Ok(places)
    }

    /// The same, if each has them in its own local memory.
    fn own_places(&mut self, group: Group, addresses: &Lanes, bytes: usize, places: &mut Places) -> bool {
        let first = LOCAL + u64::from(self.id(group.thread(0))) * PIECE;
        let warp = self.warp_mut(group.warp);
        let mut are_own = true;
        each(group.mask, |lane| {
            let at = addresses[lane].wrapping_sub(first + lane as u64 * PIECE) as usize;
            match at.checked_add(bytes).and_then(|end| warp.local[lane].bytes.get_mut(at..end)) {
                Some(own) => places[lane] = own.as_mut_ptr(),
                None => are_own = false,
            }
        });
        are_own
    }

    /// Whether each thread of a group has the bytes in its own local memory. Where they are written, it remembers so.
    pub(crate) fn is_own(&mut self, group: Group, addresses: &Lanes, bytes: usize, writes: bool) -> bool {
        let first = group.first().lane;
        if !(LOCAL..MODULE).contains(&addresses[first])
            || !self.own_places(group, addresses, bytes, &mut [std::ptr::null_mut(); LANES])
        {
            return false;
        }
        if writes {
            let warp = self.warp_mut(group.warp);
            each(group.mask, |lane| warp.local[lane].write((addresses[lane] % PIECE) as usize, bytes));
        }
        true
    }

    /// The threads of a group store numbers of at most eight bytes.
    pub(crate) fn store_at_once(
        &mut self,
        group: Group,
        addresses: &Lanes,
        bytes: usize,
        values: &Lanes,
    ) -> Result<()> {
        let places = self.places(group, addresses, bytes, true)?;
        // Nobody waits for what another thread writes to its own memory.
        self.progress += u64::from(group.threads().any(|thread| !(LOCAL..MODULE).contains(&addresses[thread.lane])));
        // SAFETY: `places` checked that the bytes are there, and may be written.
        unsafe { scatter(group, &places, bytes, values) };
        Ok(())
    }

    /// The threads of a group load numbers of at most eight bytes, `at` bytes behind their places, to a register.
    ///
    /// # Safety
    /// Each place is readable for `at + bytes` bytes.
    pub(crate) unsafe fn gather(&mut self, group: Group, places: &Places, (at, bytes): (usize, usize), to: usize) {
        let values = &mut self.warp_mut(group.warp).frames[group.frame].registers[to];
        // SAFETY: the caller says so; they need not be aligned.
        unsafe {
            match bytes {
                4 => each(group.mask, |lane| values[lane] = places[lane].add(at).cast::<u32>().read_unaligned().into()),
                8 => each(group.mask, |lane| values[lane] = places[lane].add(at).cast::<u64>().read_unaligned()),
                2 => each(group.mask, |lane| values[lane] = places[lane].add(at).cast::<u16>().read_unaligned().into()),
                _ => each(group.mask, |lane| values[lane] = places[lane].add(at).read().into()),
            }
        }
    }
}

/// The threads of a group store to their places, the one of the lowest lane first.
///
/// # Safety
/// Each place is writable for `bytes` bytes.
unsafe fn scatter(group: Group, places: &Places, bytes: usize, values: &Lanes) {
    // SAFETY: the caller says so; they need not be aligned.
    unsafe {
        match bytes {
            4 => each(group.mask, |lane| places[lane].cast::<u32>().write_unaligned(values[lane] as u32)),
            8 => each(group.mask, |lane| places[lane].cast::<u64>().write_unaligned(values[lane])),
            2 => each(group.mask, |lane| places[lane].cast::<u16>().write_unaligned(values[lane] as u16)),
            _ => each(group.mask, |lane| places[lane].write(values[lane] as u8)),
        }
    }
}
