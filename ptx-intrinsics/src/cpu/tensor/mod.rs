//! Tensor copies on a CPU: what a tensor map describes, which bytes of a box are where, and copies of them.

mod copy;
mod map;
mod pieces;
mod replace;

pub(crate) use self::copy::{load, reduce, store};
pub use self::map::{BYTES, Columns, TensorMap, round_to_tf32};
pub use self::pieces::{Mode, Piece, Place, Refused, pieces};
pub use self::replace::Field;
pub(crate) use self::replace::replace;
