//! Memory that has several addresses.

/// Addresses of memory that has others too. Those of the others are its first ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alias {
    /// Where these begin.
    pub begin: u64,
    /// How many they are.
    pub bytes: u64,
    /// Where the first addresses of the same memory begin.
    pub of: u64,
}

impl Alias {
    /// The first address of a byte, if this is another one of it.
    fn first_of(&self, address: u64) -> Option<u64> {
        let at = address.wrapping_sub(self.begin);
        (at < self.bytes).then(|| self.of + at)
    }

    /// The part of some bytes that ends where an alias begins or ends, or all of them.
    fn cut(&self, address: u64, bytes: u64) -> u64 {
        let ends = [self.begin, self.begin + self.bytes];
        let within = ends.into_iter().filter(|end| (address + 1..address + bytes).contains(end));
        within.map(|end| end - address).min().unwrap_or(bytes)
    }
}

/// The first address of bytes which begin at an address, how many of them have it, and by which alias they were named: 0 if by none.
pub fn first_address(aliases: &[Alias], address: u64, bytes: u64) -> (u64, u64, u16) {
    let bytes = aliases.iter().fold(bytes, |bytes, alias| alias.cut(address, bytes));
    let mut all = (1..).zip(aliases);
    let found = all.find_map(|(number, alias)| Some((alias.first_of(address)?, bytes, number)));
    found.unwrap_or((address, bytes, 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_cut_where_an_alias_ends() {
        let aliases = [Alias { begin: 100, bytes: 8, of: 20 }, Alias { begin: 108, bytes: 8, of: 40 }];
        assert_eq!(first_address(&aliases, 96, 32), (96, 4, 0));
        assert_eq!(first_address(&aliases, 100, 32), (20, 8, 1));
        assert_eq!(first_address(&aliases, 112, 32), (44, 4, 2));
        assert_eq!(first_address(&aliases, 116, 32), (116, 32, 0));
    }
}
