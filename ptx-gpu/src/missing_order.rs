//! What to write where two pieces of work lack an order.

use crate::order::{Deed, Group, Kind};

impl Deed {
    /// The piece of work and its stream. Launches have no number here, so that the same finding has the same title each time.
    pub(crate) fn subject(&self) -> String {
        let name = self.name.split(", launch ").next().unwrap_or_default();
        match &self.member {
            Some(member) => format!("{name} in {member}"),
            None => format!("{name} in {}", self.stream),
        }
    }
}

/// What both are members of.
fn common_group(first: &Deed, second: &Deed) -> Option<Group> {
    let (first, second) = (first.member.as_ref()?, second.member.as_ref()?);
    (first.group == second.group).then_some(first.of)
}

/// What to write where a kernel begins before the one before it has ended.
pub(crate) const EARLY: &str = "execute `griddepcontrol.wait` (cudaGridDependencySynchronize()) in every thread before this access, or in one \
     before a barrier that is before it; or launch the second without the attribute";

/// What to write where a kernel uses what the one that launches it uses too.
pub(crate) const BESIDE: &str = "let the thread that launches come after all that the second needs, by a barrier of the block (__syncthreads()) or of \
     the grid; or launch the second into cudaStreamTailLaunch: it begins when the first has ended";

/// What to write where a kernel reads as constant what the one before it writes.
pub(crate) const NOT_CONSTANT: &str = "read it with plain `ld.global`: no `__ldg`, no `const … __restrict__` on a pointer to it; or launch the \
     second without the attribute; or let the first write before `griddepcontrol.launch_dependents`, with `__threadfence()` between";

/// Why a flag does not tell the host of an access.
pub(crate) const UNTOLD: &str =
    "the flag tells the host nothing of the first: between the two is no release for the system";

/// What to write where a flag lacks that.
pub(crate) const RELEASE_FLAG: &str = "put `fence.acq_rel.sys` (__threadfence_system()) between the first and the flag, or store the flag with \
     `.release.sys` (cuda::thread_scope_system)";

/// What to write where the host does not wait for a piece of work.
pub(crate) fn wait_for(deed: &Deed) -> String {
    let stream = &deed.stream;
    format!(
        "let the host wait before that, for {stream} (cudaStreamSynchronize), for an event that is recorded in it after the first \
         (cudaEventSynchronize), or for everything (cudaDeviceSynchronize)"
    )
}

/// What to write where a function of the host in a stream comes too early.
pub(crate) fn wait_in_stream(deed: &Deed, other: &str) -> String {
    let one = &deed.stream;
    format!(
        "record an event in {one} after the first (cudaEventRecord), and let {other} wait for it before the function \
         (cudaStreamWaitEvent)"
    )
}

/// What to write instead.
pub(crate) fn help(first: &Deed, second: &Deed) -> String {
    match common_group(first, second) {
        Some(Group::Graph) => {
            return "add an edge from the first node to the second (cudaGraphAddDependencies); where streams are captured, record an \
                    event after the first (cudaEventRecord), and let the stream of the second wait for it (cudaStreamWaitEvent)"
                .into();
        }
        Some(Group::Batch) => return "put the second into a later call: the copies of one call have no order".into(),
        None => {}
    }
    let (one, other) = (&first.stream, &second.stream);
    let event = format!(
        "record an event in {one} after the first (cudaEventRecord), and let {other} wait for it before the second \
         (cudaStreamWaitEvent)"
    );
    match (first.kind, second.kind) {
        _ if second.does == Some("frees") => format!("{event}; or free it in {one}"),
        _ if first.does == Some("allocates") => format!("{event}; or allocate it in {other}"),
        (Kind::Legacy, Kind::NonBlocking) | (Kind::NonBlocking, Kind::Legacy) => {
            format!(
                "{event}: a stream that does not block does not wait for the default stream, nor the default stream for it"
            )
        }
        _ => event,
    }
}
