//! Which launches are checked, where the user has chosen some.

use std::collections::HashMap;

use crate::settings::SETTINGS;
use crate::work::Shape;

/// A kernel and its blocks, threads and bytes of shared memory.
type Shaped = (String, [u32; 3], [u32; 3], u32);

/// How many launches of each kernel were checked, in each shape.
#[derive(Default)]
pub(crate) struct Chosen(HashMap<Shaped, u64>);

impl Chosen {
    /// Whether a launch is to be checked. It counts as one that was.
    pub(crate) fn takes(&mut self, kernel: &str, shape: &Shape) -> bool {
        let is_named = SETTINGS.kernels.is_empty() || SETTINGS.kernels.iter().any(|name| has_name(kernel, name));
        let Some(most) = SETTINGS.launches.filter(|_| is_named) else { return is_named };
        let shaped = (kernel.to_owned(), shape.blocks, shape.threads, shape.shared);
        let count = self.0.entry(shaped).or_default();
        *count += 1;
        *count <= most
    }
}

/// Whether a kernel has a name, as compilers write it: the parts of `space::kernel` one after the other.
fn has_name(kernel: &str, name: &str) -> bool {
    name.split("::").try_fold(kernel, |rest, part| Some(rest.split_once(part)?.1)).is_some()
}
