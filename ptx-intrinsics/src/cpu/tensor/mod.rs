//! Tensor copies on a CPU: what a tensor map describes, which bytes of a box are where, and copies of them.

mod columns;
mod copy;
mod given;
mod hardware;
mod map;
mod pieces;
mod refused;
mod replace;
mod rules;
mod walk;

pub use self::columns::{Along, Columns};
pub(crate) use self::copy::{load, reduce, store};
pub use self::given::Given;
pub use self::map::{BYTES, TensorMap, round_to_tf32};
pub use self::pieces::{Mode, Piece, Place, pieces};
pub use self::refused::Refused;
pub use self::replace::Field;
pub(crate) use self::replace::replace;

#[cfg(test)]
mod samples;
#[cfg(test)]
mod written;
