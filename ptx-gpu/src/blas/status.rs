//! `cublasStatus_t`

use std::ffi::{CStr, c_char};

use crate::status::Status;

pub(super) const NOT_INITIALIZED: Status = Status(1);
pub(super) const INVALID_VALUE: Status = Status(7);
pub(super) const MAPPING_ERROR: Status = Status(11);
pub(super) const EXECUTION_FAILED: Status = Status(13);
pub(super) const INTERNAL_ERROR: Status = Status(14);
pub(super) const NOT_SUPPORTED: Status = Status(15);

/// The number, the name and the text of each.
const WORDS: [(u32, &CStr, &CStr); 10] = [
    (0, c"CUBLAS_STATUS_SUCCESS", c"success"),
    (1, c"CUBLAS_STATUS_NOT_INITIALIZED", c"the library was not initialized"),
    (3, c"CUBLAS_STATUS_ALLOC_FAILED", c"the resource allocation failed"),
    (7, c"CUBLAS_STATUS_INVALID_VALUE", c"an invalid value was given"),
    (8, c"CUBLAS_STATUS_ARCH_MISMATCH", c"the GPU lacks what the function needs"),
    (11, c"CUBLAS_STATUS_MAPPING_ERROR", c"memory could not be accessed"),
    (13, c"CUBLAS_STATUS_EXECUTION_FAILED", c"the function failed on the GPU"),
    (14, c"CUBLAS_STATUS_INTERNAL_ERROR", c"an internal operation failed"),
    (15, c"CUBLAS_STATUS_NOT_SUPPORTED", c"what was asked for is not supported"),
    (16, c"CUBLAS_STATUS_LICENSE_ERROR", c"the license could not be checked"),
];

fn words(code: u32) -> (&'static CStr, &'static CStr) {
    let found = WORDS.iter().find(|(number, ..)| *number == code);
    found.map_or((c"CUBLAS_STATUS_UNKNOWN", c"a number that is no status"), |(_, name, text)| (*name, *text))
}

macro_rules! texts {
    ($($name:ident $part:tt)*) => {$(
        #[unsafe(no_mangle)]
        extern "C" fn $name(code: u32) -> *const c_char {
            std::hint::black_box(stringify!($name));
            words(code).$part.as_ptr()
        }
    )*};
}

texts! { cublasGetStatusName 0 cublasGetStatusString 1 cublasLtGetStatusName 0 cublasLtGetStatusString 1 }
