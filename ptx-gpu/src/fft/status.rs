//! `cufftResult`

use crate::status::Status;

pub(super) const INVALID_PLAN: Status = Status(1);
pub(super) const INVALID_VALUE: Status = Status(4);
pub(super) const INTERNAL_ERROR: Status = Status(5);
pub(super) const EXEC_FAILED: Status = Status(6);
pub(super) const SETUP_FAILED: Status = Status(7);
pub(super) const INVALID_SIZE: Status = Status(8);
pub(super) const NO_WORKSPACE: Status = Status(13);
pub(super) const NOT_IMPLEMENTED: Status = Status(14);
