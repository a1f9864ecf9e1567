//! Whether the interpreter's checks and the model agree about races: each order of a test's threads is run and judged.

mod compare;
mod draw;
mod many;
mod paths;

pub use compare::{Agreement, Disagreement, Values, agree, agree_on_values, ends_of_seeds, observed};
pub use draw::{draw, draw_on};
pub use many::{ORDERS, RUNS, compare_all};
