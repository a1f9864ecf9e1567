//! What is made for a reader's eyes: the demo, explanations, lists and costs.

pub mod cost;
pub mod coverage;
pub mod explain;
pub mod forms_list;
pub mod from_cuda;
pub mod gates;
