//! The harness's calls into the driver. They are optimised, as a user's are; the rest of the harness is not.

mod arguments;
mod calls;
pub mod child;
pub mod gpu;
pub mod no_gpu;
pub mod shared;
pub mod tensor_map;
pub mod watch;
