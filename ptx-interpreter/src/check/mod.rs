//! The checks: of every access what was before it, and whether anything orders the two.
//!
//! Each thread counts epochs, and a new one begins when it releases what it did. A [clock](clock::Clock) has of every
//! thread the last epoch that happened before. Each access leaves a [mark](shadow::Mark) with its epoch. A later access
//! to the same bytes is ordered after it if the clock of its thread has that epoch.

mod accesses;
mod actor;
mod alias;
mod apart;
mod cause;
mod chains;
mod checks;
mod clock;
mod coherence;
mod counted;
mod crowd;
mod dependents;
mod discards;
mod early;
mod explain;
mod factor;
mod fences;
mod finding;
mod footprint;
mod foreign;
mod further;
mod grids;
mod heads;
mod heap;
mod history;
mod late;
mod late_bytes;
mod launch_control;
mod lifetimes;
mod lost_order;
mod map_reads;
mod maps;
mod mark;
mod marks;
mod mbarriers;
mod merged;
mod metadata;
mod no_barrier;
mod orders;
mod packed;
mod pair;
mod peers;
mod pieces;
mod quick;
mod reach;
mod readers;
mod record;
mod sc;
mod scattered;
mod shadow;
#[cfg(test)]
mod short_ways;
mod spare;
mod tensor;
mod threads;
mod titles;
mod together;
mod too_early;
mod trail;
mod undefined;
mod used;
mod uses;
mod values;
mod visits;
mod weak_order;
mod whereabouts;

pub(crate) use actor::Actor;
pub(crate) use cause::{Absence, Cause, Origin};
pub(crate) use checks::{Checks, Event, Found};
pub(crate) use clock::Known;
pub use finding::{Call, Finding, Kind, Place};
pub(crate) use footprint::{Bytes, Footprint, are_changes};
pub use grids::Before;
pub(crate) use grids::Grids;
pub(crate) use heap::is_freed;
pub(crate) use lifetimes::OF_OTHER_BLOCK;
pub use pieces::Piece;
pub(crate) use pieces::Pieces;
pub(crate) use titles::{
    BEGINS_EARLY, BLOCK_ENDS, DIVERGENT, IN_A_BLOCK, IN_A_CLUSTER, IN_A_WARP, LATE, NARROW, NO_WAIT_FOR_GRID,
    NOT_BEGUN, OLDER, READ_BEFORE_COPY, TELLS,
};
pub(crate) use together::Together;
pub use uses::{Use, Used, UsedRange};
pub(crate) use values::Way;
