//! Copies of columns along the width of an image.

use ptx_intrinsics::on_cpu::tensor::Along;

use super::*;

/// Elements of each dimension: of the channels, of a row, and of the others.
const SIZES: [usize; 5] = [16, 150, 2, 2, 2];

/// Where a column begins: in the last of the channels, so that some are behind them.
const CHANNEL: i32 = 4;
const CHANNELS: usize = 16;

/// Pixels of a column, where it has not 128, and where it begins: three pixels before the end of its row.
const PIXELS: usize = 5;
const NEAR_END: i32 = 147;
const NEAR_BEGIN: i32 = 10;

/// The halo and the offset.
const INFO: [u16; 2] = [2, 1];

/// Room for all pixels in shared memory, as aligned as the swizzle wants it.
#[repr(C, align(1024))]
struct Room([u32; 2304]);

/// The map of the first dimensions. Each row begins one pixel before its image.
fn map(tensor: &mut [u32], rank: usize, along: Along) -> Map {
    let first = |all: [usize; 5]| std::array::from_fn(|at| if at < rank { all[at] as u32 } else { 0 });
    let stride = |at: usize| 4 * SIZES[..=at].iter().product::<usize>() as u64;
    let (channels, pixels) = (CHANNELS as u32, PIXELS as u32);
    let described = TensorMap {
        rank: rank as u32,
        element: 2,
        address: tensor.as_mut_ptr().expose_provenance() as u64,
        sizes: first(SIZES).map(u64::from),
        strides: std::array::from_fn(|at| if at + 1 < rank { stride(at) } else { 0 }),
        steps: first([1; 5]),
        columns: Some(Columns { lower: [-1, 0, 0], channels, pixels, along, ..Columns::default() }),
        ..TensorMap::default()
    };
    let described = described.swizzled(2);
    assert_eq!(described.check(), Ok(()));
    Map(described.encode())
}

/// The pixels in the order in which they are in shared memory: the place in the row, and the image.
fn pixels(along: Along) -> Vec<(i32, i32)> {
    // The offset moves the row, which is then from 0 to 150.
    let near_end = [(148, 0), (149, 0), (150, 0), (0, 1), (1, 1), (2, 1), (3, 1)];
    match along {
        Along::Width128 => (0..4).flat_map(|group| (0..34).map(move |at| (11 + 32 * group + at, 0))).collect(),
        _ => near_end.to_vec(),
    }
}

/// What is in shared memory.
fn expected(rank: usize, along: Along, tensor: &[u32]) -> Vec<u32> {
    let all = pixels(along);
    let mut words = vec![0; CHANNELS * all.len()];
    for (at, (place, image)) in all.into_iter().enumerate() {
        let mut place = [0, place, 1, 1, 1];
        place[rank - 1] = image;
        for channel in 0..CHANNELS {
            place[0] = CHANNEL + channel as i32;
            let is_inside = place[..rank].iter().zip(SIZES).all(|(place, size)| (0..size as i32).contains(place));
            let index = (0..rank).rev().fold(0, |index, d| index * SIZES[d] as i64 + i64::from(place[d]));
            // A swizzle of 64 bytes: bits 4 and 5 of an address by bits 7 and 8.
            let byte = 64 * at + 4 * channel;
            words[(byte ^ (byte >> 7 & 3) << 4) / 4] = if is_inside { tensor[index as usize] } else { 0 };
        }
    }
    words
}

/// What a copy that a barrier waits for leaves in shared memory.
fn loaded(words: usize, load: impl FnOnce(SharedPtr<u32>, SharedPtr<Mbarrier>)) -> Vec<u32> {
    let mut shared = Box::new(Room([77; 2304]));
    with_barrier(1, |bar, _| {
        // SAFETY: the barrier is initialised.
        let state = unsafe { mbarrier_arrive_expect_tx(bar, 4 * words as u32) };
        load(SharedPtr::new((&raw mut shared.0).cast()), bar);
        // SAFETY: the barrier is initialised.
        assert!(unsafe { mbarrier_test_wait(bar, state) }, "the barrier is told of {words} words");
    });
    assert!(shared.0[words..].iter().all(|number| *number == 77), "what is behind the column is as it was");
    shared.0[..words].to_vec()
}

pub(crate) fn are_copied(tried: &mut Tried) {
    macro_rules! loads {
        ($of:ident by $to:path: $map:ident $place:ident $expected:ident $n:literal $($function:ident $(::<$group:ident, _, _>)? $with:ident;)*) => { $(
            let load = form!(tried |dst: $of<u32>, map: *const u32, coordinates: [i32; $n], bar: $of<Mbarrier>, info: [u16; 2]|
                $function$(::<$group, _, _>)?(dst, map, coordinates, bar, info));
            assert_eq!(loaded($expected.len(), |dst, bar| load($to(dst), $map, $place, $to(bar), INFO)), $expected);
            let load = form!(tried |dst: $of<u32>, map: *const u32, coordinates: [i32; $n], bar: $of<Mbarrier>, info: [u16; 2],
                policy: CachePolicy| $with$(::<$group, _, _>)?(dst, map, coordinates, bar, info, policy));
            assert_eq!(loaded($expected.len(), |dst, bar| load($to(dst), $map, $place, $to(bar), INFO, POLICY)), $expected);
        )* };
    }
    macro_rules! multicasts {
        ($map:ident $n:literal $($function:ident $(::<$group:ident, _, _>)? $with:ident;)*) => { $(
            let multicast = form!(tried |dst: SharedClusterPtr<u32>, map: *const u32, coordinates: [i32; $n],
                bar: SharedClusterPtr<Mbarrier>, info: [u16; 2], mask: u16|
                $function$(::<$group, _, _>)?(dst, map, coordinates, bar, info, mask));
            let multicast_with = form!(tried |dst: SharedClusterPtr<u32>, map: *const u32, coordinates: [i32; $n],
                bar: SharedClusterPtr<Mbarrier>, info: [u16; 2], mask: u16, policy: CachePolicy|
                $with$(::<$group, _, _>)?(dst, map, coordinates, bar, info, mask, policy));
            with_barrier(1, |bar, cluster| {
                let dst = SharedClusterPtr::of(bar.cast::<u32>());
                let why = "a CPU cannot copy to the blocks 0b11 of a cluster: it knows of none";
                assert_eq!(panic_of(|| multicast(dst, $map, [0; $n], cluster, INFO, 3)), why);
                assert_eq!(panic_of(|| multicast_with(dst, $map, [0; $n], cluster, INFO, 3, POLICY)), why);
            });
        )* };
    }
    macro_rules! ranks {
        ($along:expr, $begin:expr, [$own:ident $own_with:ident $own_group:ident $own_group_with:ident]
            [$cluster:ident $cluster_with:ident $group:ident $group_with:ident]
            [$multicast:ident $multicast_with:ident $multicast_group:ident $multicast_group_with:ident] $($n:literal)*) => { $({
            let mut tensor: Vec<u32> = (1..=SIZES.iter().product::<usize>() as u32).collect();
            let map = map(&mut tensor, $n, $along);
            let map = (&raw const map).cast::<u32>();
            let expected = expected($n, $along, &tensor);
            let mut place = [1; $n];
            (place[0], place[1], place[$n - 1]) = (CHANNEL, $begin, 0);
            loads! { SharedPtr by std::convert::identity: map place expected $n
                $own $own_with;
                $own_group::<CtaGroup1, _, _> $own_group_with;
                $own_group::<CtaGroup2, _, _> $own_group_with;
            }
            loads! { SharedClusterPtr by SharedClusterPtr::of: map place expected $n
                $cluster $cluster_with;
                $group::<CtaGroup1, _, _> $group_with;
                $group::<CtaGroup2, _, _> $group_with;
            }
            multicasts! { map $n
                $multicast $multicast_with;
                $multicast_group::<CtaGroup1, _, _> $multicast_group_with;
                $multicast_group::<CtaGroup2, _, _> $multicast_group_with;
            }
        })* };
    }
    ranks! { Along::Width, NEAR_END,
        [cp_async_bulk_tensor_shared_global_im2col_w cp_async_bulk_tensor_shared_global_im2col_w_with
            cp_async_bulk_tensor_shared_global_im2col_w_cta_group cp_async_bulk_tensor_shared_global_im2col_w_cta_group_with]
        [cp_async_bulk_tensor_shared_cluster_global_im2col_w cp_async_bulk_tensor_shared_cluster_global_im2col_w_with
            cp_async_bulk_tensor_shared_cluster_global_im2col_w_cta_group cp_async_bulk_tensor_shared_cluster_global_im2col_w_cta_group_with]
        [cp_async_bulk_tensor_shared_cluster_global_im2col_w_multicast cp_async_bulk_tensor_shared_cluster_global_im2col_w_multicast_with
            cp_async_bulk_tensor_shared_cluster_global_im2col_w_multicast_cta_group
            cp_async_bulk_tensor_shared_cluster_global_im2col_w_multicast_cta_group_with]
        3 4 5
    }
    ranks! { Along::Width128, NEAR_BEGIN,
        [cp_async_bulk_tensor_shared_global_im2col_w_128 cp_async_bulk_tensor_shared_global_im2col_w_128_with
            cp_async_bulk_tensor_shared_global_im2col_w_128_cta_group cp_async_bulk_tensor_shared_global_im2col_w_128_cta_group_with]
        [cp_async_bulk_tensor_shared_cluster_global_im2col_w_128 cp_async_bulk_tensor_shared_cluster_global_im2col_w_128_with
            cp_async_bulk_tensor_shared_cluster_global_im2col_w_128_cta_group cp_async_bulk_tensor_shared_cluster_global_im2col_w_128_cta_group_with]
        [cp_async_bulk_tensor_shared_cluster_global_im2col_w_128_multicast cp_async_bulk_tensor_shared_cluster_global_im2col_w_128_multicast_with
            cp_async_bulk_tensor_shared_cluster_global_im2col_w_128_multicast_cta_group
            cp_async_bulk_tensor_shared_cluster_global_im2col_w_128_multicast_cta_group_with]
        3 4 5
    }
}

/// A halo that passes the end of its row is refused, and so is a map of another mode.
#[test]
fn what_is_not_known_is_refused() {
    let mut tensor: Vec<u32> = (1..=SIZES.iter().product::<usize>() as u32).collect();
    let map = map(&mut tensor, 3, Along::Width);
    let map = (&raw const map).cast::<u32>();
    with_barrier(1, |bar, _| {
        let mut shared = Box::new(Room([77; 2304]));
        let dst = SharedPtr::new((&raw mut shared.0).cast::<u32>());
        let load = |begin: i32, info: [u16; 2]| {
            // SAFETY: the tensor, the room and the barrier are there.
            panic_of(|| unsafe {
                cp_async_bulk_tensor_shared_global_im2col_w(dst, map, [CHANNEL, begin, 0], bar, info)
            })
        };
        let gap = "a halo that passes the end of the box of pixels: what a GPU does there is not known here";
        assert_eq!(load(145, [2, 0]), gap);
        assert_eq!(load(10, [512, 0]), "a halo of 512 pixels: 0 to 511 are possible");
        // SAFETY: as above.
        let other = panic_of(|| unsafe {
            cp_async_bulk_tensor_shared_global_im2col_w_128(dst, map, [CHANNEL, 10, 0], bar, INFO)
        });
        assert_eq!(other, "a map of columns along the width, for a copy of 128 pixels along the width");
    });
}
