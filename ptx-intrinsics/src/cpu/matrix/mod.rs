//! What a warp does with matrices, for executors that have all of its lanes: `mma.sync`, `ldmatrix`, `stmatrix`.

mod element;
mod layout;
mod product;
mod rows;
mod scaled;
mod sparse;
mod steps;

pub use element::{Element, Small};
pub use product::{Operand, Product};
pub use rows::{ROW, Rows};
pub use scaled::{Scaled, Selected};
pub use sparse::{Meaningless, Sparse};
