//! What is proved without a GPU: texts, gates, machine code, and the tests themselves.

pub mod conformance;
pub mod forms;
pub mod forms_check;
pub mod here;
pub mod ledger;
pub mod only;
pub mod operands;
pub mod other_names;
pub mod parity;
pub mod refused;
pub mod rust_cuda;
pub mod sass;
pub mod verdicts;
pub mod whole;
