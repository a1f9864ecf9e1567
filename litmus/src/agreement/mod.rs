//! Whether the interpreter's checks and the model agree about races: each order of a test's threads is run and judged.

mod compare;
mod draw;
mod many;

pub use compare::{Agreement, Disagreement, Values, agree, agree_on_values};
pub use draw::draw;
pub use many::{ORDERS, compare_all};
