//! What the machine tells the checks of textures and surfaces.

use crate::machine::Machine;
use crate::machine::group::Group;
use crate::machine::lanes::{Lanes, lanes_of, lanes_where};
use crate::ptx::access::How;

impl Machine<'_> {
    /// The handles that threads of a group have, and who has each.
    pub(crate) fn of_each_handle(&self, group: Group, handles: &Lanes) -> impl Iterator<Item = (u64, Group)> + use<> {
        let (mut rest, handles) = (group.mask, *handles);
        std::iter::from_fn(move || {
            let handle = *handles.get(rest.trailing_zeros() as usize)?;
            let mask = lanes_where(rest, |lane| handles[lane] == handle);
            rest &= !mask;
            Some((handle, Group { mask, ..group }))
        })
    }

    /// Each thread of a group accesses `bytes` bytes of a texture or a surface. `is_same`: whether two lanes store the same.
    pub(crate) fn watch_elements(
        &mut self,
        group: Group,
        addresses: &Lanes,
        bytes: usize,
        how: How,
        is_same: &dyn Fn(usize, usize) -> bool,
    ) {
        if self.checks.is_none() || group.mask == 0 {
            return;
        }
        let rewrites = |lane: usize, stored: u32| {
            let mut now = lanes_of(stored & group.mask).filter(|other| addresses[*other] == addresses[lane]);
            stored & !group.mask == 0 && stored != 0 && now.all(|other| is_same(other, lane))
        };
        self.tell_together(group, addresses, bytes, how, &rewrites);
    }
}
