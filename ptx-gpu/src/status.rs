//! What a call returns.

use std::collections::BTreeMap;
use std::ffi::CString;
use std::sync::OnceLock;

/// What a call returns when it fails: a number that driver and runtime share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Status(pub(crate) u32);

pub(crate) type Result<T = ()> = std::result::Result<T, Status>;

/// What an error is called, and what it means.
pub(crate) struct Words {
    /// The driver's name of it, if the driver has it.
    pub(crate) driver: Option<CString>,
    /// The runtime's.
    pub(crate) runtime: Option<CString>,
    pub(crate) text: CString,
}

impl Status {
    pub(crate) fn words(self) -> Option<&'static Words> {
        static ALL: OnceLock<BTreeMap<u32, Words>> = OnceLock::new();
        ALL.get_or_init(|| include_str!("errors.txt").lines().filter_map(row).collect()).get(&self.0)
    }
}

/// A row of the table; none of a comment.
fn row(line: &str) -> Option<(u32, Words)> {
    let mut fields = line.splitn(4, ' ');
    let code = fields.next()?.parse().ok()?;
    let [driver, runtime] =
        [fields.next()?, fields.next()?].map(|name| (name != "-").then(|| CString::new(name).ok())?);
    let text = CString::new(fields.next()?).ok()?;
    Some((code, Words { driver, runtime, text }))
}

pub(crate) const SUCCESS: Status = Status(0);
pub(crate) const INVALID_VALUE: Status = Status(1);
pub(crate) const OUT_OF_MEMORY: Status = Status(2);
pub(crate) const NOT_INITIALIZED: Status = Status(3);
pub(crate) const NO_DEVICE: Status = Status(100);
pub(crate) const INVALID_DEVICE: Status = Status(101);
pub(crate) const INVALID_IMAGE: Status = Status(200);
pub(crate) const INVALID_CONTEXT: Status = Status(201);
pub(crate) const NO_BINARY_FOR_GPU: Status = Status(209);
pub(crate) const UNSUPPORTED_LIMIT: Status = Status(215);
pub(crate) const PEER_ACCESS_UNSUPPORTED: Status = Status(217);
pub(crate) const INVALID_PTX: Status = Status(218);
pub(crate) const FILE_NOT_FOUND: Status = Status(301);
pub(crate) const INVALID_HANDLE: Status = Status(400);
pub(crate) const ILLEGAL_STATE: Status = Status(401);
pub(crate) const NOT_FOUND: Status = Status(500);
pub(crate) const NOT_READY: Status = Status(600);
pub(crate) const ILLEGAL_ADDRESS: Status = Status(700);
pub(crate) const LAUNCH_TIMEOUT: Status = Status(702);
pub(crate) const PEER_ACCESS_ALREADY_ENABLED: Status = Status(704);
pub(crate) const PEER_ACCESS_NOT_ENABLED: Status = Status(705);
pub(crate) const ASSERT: Status = Status(710);
pub(crate) const HOST_MEMORY_ALREADY_REGISTERED: Status = Status(712);
pub(crate) const HOST_MEMORY_NOT_REGISTERED: Status = Status(713);
pub(crate) const MISALIGNED_ADDRESS: Status = Status(716);
pub(crate) const LAUNCH_FAILED: Status = Status(719);
pub(crate) const COOPERATIVE_LAUNCH_TOO_LARGE: Status = Status(720);
pub(crate) const NOT_SUPPORTED: Status = Status(801);
pub(crate) const CAPTURE_UNSUPPORTED: Status = Status(900);
pub(crate) const CAPTURE_INVALIDATED: Status = Status(901);
pub(crate) const CAPTURE_MERGE: Status = Status(902);
pub(crate) const CAPTURE_UNMATCHED: Status = Status(903);
pub(crate) const CAPTURE_UNJOINED: Status = Status(904);
pub(crate) const CAPTURE_ISOLATION: Status = Status(905);
pub(crate) const CAPTURE_IMPLICIT: Status = Status(906);
pub(crate) const CAPTURED_EVENT: Status = Status(907);
pub(crate) const CAPTURE_WRONG_THREAD: Status = Status(908);
pub(crate) const GRAPH_UPDATE_FAILURE: Status = Status(910);
pub(crate) const INVALID_CLUSTER_SIZE: Status = Status(912);
pub(crate) const UNKNOWN: Status = Status(999);
