//! What a GPU launches: the same on each since sm_70, but for shared memory, of which the newest have the most.

use super::dim3::Dim3;

const THREADS: u32 = 1024;
const THREADS_IN_Z: u32 = 64;
const BLOCKS_IN_X: u32 = i32::MAX as u32;
const BLOCKS_IN_Y_AND_Z: u32 = 65_535;
const BLOCKS_OF_A_CLUSTER: u32 = 16;
/// Of `shared!`: more is refused by `ptxas`.
const SHARED: usize = 48 << 10;
/// Of `shared!` and dynamic shared memory together: what a block has on sm_90 and newer.
const SHARED_IN_ALL: usize = 227 << 10;

/// Panics if no GPU launches this; says how many blocks there are, and how many threads a block has.
pub(super) fn check_sizes(grid: Dim3, block: Dim3, cluster: u32) -> (u32, u32) {
    for (what, found, most) in [
        ("blocks in x", grid.x, BLOCKS_IN_X),
        ("blocks in y", grid.y, BLOCKS_IN_Y_AND_Z),
        ("blocks in z", grid.z, BLOCKS_IN_Y_AND_Z),
        ("threads in z", block.z, THREADS_IN_Z),
        ("blocks of a cluster", cluster, BLOCKS_OF_A_CLUSTER),
    ] {
        assert!(found <= most, "a launch has {found} {what}, and no GPU takes more than {most}");
    }
    let (blocks, threads) = (grid.count("blocks"), block.count("threads of a block"));
    assert!(threads <= THREADS, "a block has {threads} threads, and no GPU takes more than {THREADS}");
    assert!(
        cluster > 0 && grid.x.is_multiple_of(cluster),
        "a grid of {} blocks in x has no whole clusters of {cluster}",
        grid.x
    );
    (blocks, threads)
}

/// Panics if the shared memory is more than a block can have.
pub(super) fn check_shared(variables: usize, dynamic: usize) {
    assert!(
        variables <= SHARED,
        "the kernel's variables of shared! have {variables} bytes, and ptxas takes no more than {SHARED}: take \
         dynamic_shared, whose size the launch says"
    );
    let all = variables.saturating_add(dynamic);
    assert!(
        all <= SHARED_IN_ALL,
        "a block has {all} bytes of shared memory, {dynamic} of them dynamic, and no GPU has more than {SHARED_IN_ALL}"
    );
}

/// Panics if a kernel says that it is not launched like this.
pub(super) fn check_kernel(name: &str, lines: &[(&str, u32)], threads: u32, cluster: u32) {
    for &(line, number) in lines {
        match line {
            ".maxntid" => assert!(
                threads <= number,
                "{name} is launched with blocks of {threads} threads, and its #[launch_bounds] say {number} at most"
            ),
            ".reqnctapercluster" => assert!(
                cluster == number,
                "{name} is launched with clusters of {cluster}, and its #[cluster_size] is {number}: say \
                 `.cluster({number})` at the launch"
            ),
            _ => {}
        }
    }
}
