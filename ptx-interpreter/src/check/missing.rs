//! Which bytes of a read nobody has written, and whether that matters.

use crate::ptx::fate::Fate;

/// Which bytes of what an instruction reads nobody has written.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Unwritten {
    pub(super) site: u32,
    /// A bit for each.
    pub(super) bytes: u64,
    /// Whether these are all.
    pub(super) is_whole: bool,
}

impl Unwritten {
    /// Whether it matters, by what becomes of the elements of a load.
    pub(super) fn matters(&self, bytes: usize, fates: &[Fate]) -> bool {
        fates.iter().enumerate().any(|(number, fate)| {
            let all = (1u128 << bytes) - 1;
            let own = u128::from(self.bytes) >> (number * bytes) & all;
            own != 0 && *fate > self.harmless(own == all)
        })
    }

    /// What may become of an element of which all or some bytes are unwritten, without harm.
    fn harmless(&self, is_all_of_it: bool) -> Fate {
        match (is_all_of_it, self.is_whole) {
            (false, _) => Fate::Narrowed,
            (true, false) => Fate::Copied,
            (true, true) => Fate::Unused,
        }
    }
}
