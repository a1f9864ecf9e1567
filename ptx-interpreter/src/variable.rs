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
    /// Whether it is in the constant bank.
    pub constant: bool,
}
