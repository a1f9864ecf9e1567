//! What is made for a reader's eyes: explanations and lists.

pub mod explain;
pub mod forms_list;
pub mod tables;
