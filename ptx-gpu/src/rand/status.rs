//! `curandStatus_t`

use crate::status::Status;

pub(super) const NOT_INITIALIZED: Status = Status(101);
pub(super) const TYPE_ERROR: Status = Status(103);
pub(super) const OUT_OF_RANGE: Status = Status(104);
pub(super) const LENGTH_NOT_MULTIPLE: Status = Status(105);
pub(super) const LAUNCH_FAILURE: Status = Status(201);
pub(super) const PREEXISTING_FAILURE: Status = Status(202);
pub(super) const INITIALIZATION_FAILED: Status = Status(203);
pub(super) const INTERNAL_ERROR: Status = Status(999);
