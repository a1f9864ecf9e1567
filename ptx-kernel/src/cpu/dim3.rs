//! Sizes and numbers in three dimensions.

/// A size or a number in up to three dimensions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dim3 {
    /// The first dimension.
    pub x: u32,
    /// The second dimension.
    pub y: u32,
    /// The third dimension.
    pub z: u32,
}

impl Dim3 {
    /// How many there are, which is to be at least one and fit into 32 bits.
    pub(super) fn count(self, of: &str) -> u32 {
        let count = [self.x, self.y, self.z].into_iter().try_fold(1u32, u32::checked_mul);
        let count = count.unwrap_or_else(|| panic!("{self:?} {of} are more than a launch can have"));
        assert!(count > 0, "a launch has at least one of its {of}, and this has {self:?}");
        count
    }

    /// The place of that number in a box of this size.
    pub(super) fn at(self, number: u32) -> Dim3 {
        Dim3 { x: number % self.x, y: number / self.x % self.y, z: number / self.x / self.y }
    }
}

impl From<u32> for Dim3 {
    fn from(x: u32) -> Dim3 {
        Dim3 { x, y: 1, z: 1 }
    }
}

impl From<(u32, u32)> for Dim3 {
    fn from((x, y): (u32, u32)) -> Dim3 {
        Dim3 { x, y, z: 1 }
    }
}

impl From<(u32, u32, u32)> for Dim3 {
    fn from((x, y, z): (u32, u32, u32)) -> Dim3 {
        Dim3 { x, y, z }
    }
}
