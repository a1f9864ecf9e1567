//! Which launches a GPU refuses. The order of the rules decides which error a launch with two mistakes has: it is that of an H100.

use crate::gpu::{Function, Gpu};
use crate::status::{COOPERATIVE_LAUNCH_TOO_LARGE, INVALID_CLUSTER_SIZE, INVALID_VALUE, Result, Status};
use crate::work::Shape;

/// The most blocks of a grid, and the most threads of a block, in x, y and z.
const MOST_BLOCKS: [u32; 3] = [i32::MAX as u32, 65_535, 65_535];
const MOST_THREADS: [u32; 3] = [1024, 1024, 64];
/// Blocks of a cluster where the kernel allows more than every GPU with clusters has.
const LARGE_CLUSTER: i32 = 16;

/// What is wrong with a launch, and what is possible.
pub(crate) struct Refusal {
    pub(crate) status: Status,
    pub(crate) title: String,
    pub(crate) help: String,
}

type Allowed = std::result::Result<(), Refusal>;

fn expect(holds: bool, status: Status, title: impl FnOnce() -> String, help: impl FnOnce() -> String) -> Allowed {
    if holds { Ok(()) } else { Err(Refusal { status, title: title(), help: help() }) }
}

/// Sizes as they are written: `4 x 1 x 1`.
fn sizes([x, y, z]: [u32; 3]) -> String {
    format!("{x} x {y} x {z}")
}

fn product(sizes: [u32; 3]) -> u64 {
    // The largest sizes have no product of 64 bits.
    sizes.into_iter().map(u64::from).fold(1, u64::saturating_mul)
}

/// Whether each size is there, and none is too large.
fn fits(sizes: [u32; 3], most: [u32; 3]) -> bool {
    sizes.iter().zip(most).all(|(size, most)| (1..=most).contains(size))
}

impl Gpu {
    /// Whether a kernel may be launched so.
    pub(crate) fn allows(&self, function: &Function, shape: &Shape) -> Allowed {
        self.block(function, shape)?;
        grid(function, shape)?;
        self.cluster(function, shape)?;
        self.all_at_once(function, shape)?;
        shared(function, shape)
    }

    /// Whether a grid and its blocks can have these sizes.
    pub(crate) fn sizes_fit(&self, function: &Function, shape: &Shape) -> bool {
        self.block(function, shape).and_then(|()| grid(function, shape)).is_ok()
    }

    /// How many clusters of a launch the GPU has at one time. The launch may have too much of the other things.
    pub(crate) fn clusters(&self, function: &Function, shape: &Shape) -> Result<i32> {
        grid(function, shape).and_then(|()| self.cluster(function, shape)).map_err(|refusal| refusal.status)?;
        let threads = product(shape.threads);
        if threads == 0 || i32::try_from(threads).is_err() {
            return Err(INVALID_VALUE);
        }
        let cluster = product(shape.cluster) as i32;
        Ok(self.resident_clusters(function, cluster, threads, shape.shared as usize))
    }

    /// Blocks of a cluster, at most.
    pub(crate) fn most_of_cluster(&self, function: &Function) -> i32 {
        let most = self.device.cluster();
        if function.large_clusters && most > 1 { LARGE_CLUSTER } else { most }
    }

    fn block(&self, function: &Function, shape: &Shape) -> Allowed {
        let most = self.most_threads(function);
        expect(
            fits(shape.threads, MOST_THREADS) && product(shape.threads) <= most as u64,
            INVALID_VALUE,
            || format!("{} is launched with blocks of {} threads", function.title(), sizes(shape.threads)),
            || {
                let each = sizes(MOST_THREADS);
                format!("choose at least one thread, and at most {most} in all and {each} in each dimension")
            },
        )
    }

    fn cluster(&self, function: &Function, shape: &Shape) -> Allowed {
        let title = || {
            let (cluster, blocks) = (sizes(shape.cluster), sizes(shape.blocks));
            format!("{} is launched in clusters of {cluster} blocks, with a grid of {blocks}", function.title())
        };
        if let Some(own) = function.kernel.cluster {
            let help = || format!("the kernel says itself that its clusters are of {} blocks", sizes(own));
            expect(own == shape.cluster, INVALID_CLUSTER_SIZE, title, help)?;
        }
        let divides = (0..3).all(|at| shape.blocks[at].is_multiple_of(shape.cluster[at]));
        let most = self.most_of_cluster(function);
        expect(divides && product(shape.cluster) <= most as u64, INVALID_CLUSTER_SIZE, title, || {
            let more = "CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED";
            format!("choose sizes that divide the grid's, and at most {most} blocks ({more} allows {LARGE_CLUSTER})")
        })
    }

    fn all_at_once(&self, function: &Function, shape: &Shape) -> Allowed {
        let blocks = product(shape.blocks);
        let most = self.resident_blocks(function, shape);
        expect(
            !shape.is_cooperative || blocks <= most as u64,
            COOPERATIVE_LAUNCH_TOO_LARGE,
            || format!("{} is launched cooperatively with {blocks} blocks", function.title()),
            || match most {
                0 => "no such block has room: choose fewer threads, or fewer bytes of shared memory".into(),
                most => format!("at most {most} such blocks run at one time"),
            },
        )
    }

    /// Blocks of the GPU at one time.
    pub(crate) fn resident_blocks(&self, function: &Function, shape: &Shape) -> usize {
        let of_one = self.resident(function, product(shape.threads), shape.shared as usize);
        (of_one * self.device.multiprocessors) as usize
    }
}

fn grid(function: &Function, shape: &Shape) -> Allowed {
    expect(
        !shape.cluster.contains(&0),
        INVALID_CLUSTER_SIZE,
        || format!("{} is launched in clusters of {} blocks", function.title(), sizes(shape.cluster)),
        || "choose at least one block in each dimension".into(),
    )?;
    expect(
        fits(shape.blocks, MOST_BLOCKS),
        INVALID_VALUE,
        || format!("{} is launched with a grid of {} blocks", function.title(), sizes(shape.blocks)),
        || format!("choose at least one block, and at most {} in each dimension", sizes(MOST_BLOCKS)),
    )
}

fn shared(function: &Function, shape: &Shape) -> Allowed {
    let most = function.most_dynamic;
    expect(
        u64::from(shape.shared) <= most as u64,
        INVALID_VALUE,
        || {
            let name = function.title();
            format!(
                "{name} is launched with {} bytes of dynamic shared memory, and at most {most} are allowed",
                shape.shared
            )
        },
        || "allow it before with CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, or ask for less".into(),
    )
}
