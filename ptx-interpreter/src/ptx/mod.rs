//! The text of a module, and how it becomes code.

pub(crate) mod access;
pub(crate) mod code;
mod flow;
pub(crate) mod inlined;
pub(crate) mod linker;
mod live;
pub(crate) mod lockstep;
mod names;
pub(crate) mod operand;
pub(crate) mod order;
pub(crate) mod origins;
pub(crate) mod paths;
pub(crate) mod places;
pub(crate) mod pool;
pub(crate) mod read;
pub(crate) mod room;
pub(crate) mod scoped;
pub(crate) mod separate;
pub(crate) mod shape;
pub(crate) mod site;
pub(crate) mod special;
pub(crate) mod text;
pub(crate) mod variable;
mod word_order;
