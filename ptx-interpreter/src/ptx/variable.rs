//! Variables of a module.

/// A variable of a module, in global memory or in the constant bank.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Its bytes.
    pub bytes: usize,
    /// How it is aligned.
    pub align: usize,
    /// What it begins with; zeros come after it.
    pub content: Vec<u8>,
    /// Addresses of other variables in it, which are zero there.
    pub pointers: Vec<Pointer>,
    /// Whether it is in the constant bank.
    pub constant: bool,
    /// Whether the host may use it too: `.attribute(.managed)`.
    pub managed: bool,
}

/// An address in what a variable begins with.
#[derive(Clone, Debug)]
pub struct Pointer {
    /// Where in the variable it is, and how many bytes of it there are.
    pub at: usize,
    /// See `at`.
    pub bytes: usize,
    /// The variable that it is of.
    pub to: String,
    /// What is added to that.
    pub add: u64,
    /// How many of its lowest bits are left out.
    pub shift: u32,
}

impl Pointer {
    /// Puts it into the content of its variable, once it is known where the other one is.
    pub fn put(&self, content: &mut [u8], address: u64) {
        let whole = u128::from(address.wrapping_add(self.add)) >> self.shift;
        if let Some(own) = content.get_mut(self.at..self.at + self.bytes) {
            own.copy_from_slice(&whole.to_le_bytes()[..self.bytes]);
        }
    }
}
