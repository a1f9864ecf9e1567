//! What runs on a GPU, or on whatever takes its place in a test.

mod child;
pub mod lab;
pub mod suite;
