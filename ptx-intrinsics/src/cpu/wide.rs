//! The atomic of 64 bits: the CPU's, or one under the lock.

#[cfg(target_has_atomic = "64")]
pub(crate) use core::sync::atomic::AtomicU64;

#[cfg(not(target_has_atomic = "64"))]
pub(crate) use super::locked::AtomicU64;
