//! Reading what other programs wrote: machine code, its lines, and the operands of an instruction.

pub mod debug_info;
pub mod line_table;
pub mod nvdisasm;
pub mod operands;
