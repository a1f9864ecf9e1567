//! What becomes a kernel of the suite.

use super::room::Room;

/// What becomes a kernel.
pub trait Entry: Sync {
    /// Its name.
    fn name(&self) -> &str;

    /// The oldest SM and PTX ISA version that have its instructions.
    fn needs(&self) -> (u32, u32);

    /// Where its addresses lie.
    fn room(&self) -> Room;

    /// Its Rust.
    fn source(&self) -> String;

    /// Rust that all of its kind share.
    fn common() -> &'static str
    where
        Self: Sized,
    {
        ""
    }

    /// The functions of its PTX: those that it calls, and itself.
    fn functions(&self) -> Vec<String> {
        vec![self.name().to_owned()]
    }

    /// Bytes of shared memory that it wants.
    fn shared(&self) -> usize {
        0
    }
}
