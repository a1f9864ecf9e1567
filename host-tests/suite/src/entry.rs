//! What becomes a kernel of the suite.

use ptx_build::target::Sm;

use super::room::Room;

/// What becomes a kernel.
pub trait Entry: Sync {
    /// Its name.
    fn name(&self) -> &str;

    /// The oldest SM and PTX ISA version that have its instructions.
    fn needs(&self) -> (u32, u32);

    /// What it is assembled for to run on a GPU: with a suffix, where only such targets have its instructions. None if they lack
    /// one.
    fn target(&self, gpu: Sm) -> Option<Sm> {
        (self.needs().0 <= gpu.number).then_some(gpu)
    }

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
