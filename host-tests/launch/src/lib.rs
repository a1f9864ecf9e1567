//! The harness's calls into the driver. In the release profile they are optimised, as a user's are, and the rest of the harness
//! is not.

pub mod device;
pub mod gpu;
