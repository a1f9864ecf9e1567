//! Names of a function, and the blocks in braces where they hold.

use std::collections::HashMap;

/// A block in braces by its number. The body of the function is block 0.
pub(crate) type Block = usize;

/// What names mean, each in its block.
pub(crate) struct Scoped<T> {
    named: HashMap<String, Vec<(Block, T)>>,
}

impl<T> Scoped<T> {
    pub(crate) fn new() -> Scoped<T> {
        Scoped { named: HashMap::new() }
    }

    /// Declares a name in a block. The first declaration of a block counts.
    pub(crate) fn declare(&mut self, block: Block, name: &str, meaning: impl FnOnce() -> T) {
        let all = self.named.entry(name.to_owned()).or_default();
        if all.iter().all(|(of, _)| *of != block) {
            all.push((block, meaning()));
        }
    }

    /// All that names mean.
    pub(crate) fn all_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.named.values_mut().flatten().map(|(_, meaning)| meaning)
    }

    /// What a name means in a block: what the innermost block around it says. `outer[b]` is the block around block `b`.
    pub(crate) fn get(&self, outer: &[Block], block: Block, name: &str) -> Option<&T> {
        let all = self.named.get(name)?;
        let mut around = std::iter::successors(Some(block), |block| (*block > 0).then(|| outer[*block]));
        around.find_map(|block| all.iter().find(|(of, _)| *of == block)).map(|(_, meaning)| meaning)
    }
}
