//! Copies of columns of an image, and reductions by them.

use super::*;

/// Pixels of a column, and its channels.
const PIXELS: usize = 5;
const CHANNELS: usize = 4;

/// Where a column begins: the pixel is the last one of its row.
const PLACE: [i32; 5] = [12, 2, 1, 1, 1];

/// Where the box of pixels begins: before the image, but where it is written.
const READ: i32 = -1;
const WRITTEN: i32 = 0;

/// The map of the first dimensions of a tensor, as columns. The box of pixels ends at the last but one.
fn map(tensor: &mut Tensor, rank: usize, first: i32) -> Map {
    let (_, described) = tensor.map(rank, TILE);
    let each = |corner| std::array::from_fn(|at| if at + 2 < rank { corner } else { 0 });
    let (channels, pixels) = (CHANNELS as u32, PIXELS as u32);
    let columns = Columns { lower: each(first), upper: each(-1), channels, pixels, ..Columns::default() };
    let map = TensorMap { columns: Some(columns), tile: [0; 5], ..described };
    assert_eq!(map.check(), Ok(()));
    Map(map.encode())
}

/// The indices of the column's elements; none outside of the tensor.
fn indices(rank: usize, first: i32, offsets: &[u16]) -> Vec<Option<usize>> {
    let mut all = Vec::new();
    // The box of pixels ends at 2 in the second dimension, whose size is 4, and at 1 in the others.
    let pixels =
        if first < 0 { [(2, 0), (-1, 1), (0, 1), (1, 1), (2, 1)] } else { [(2, 0), (0, 1), (1, 1), (2, 1), (0, 2)] };
    for (pixel, beyond) in pixels {
        let mut place: Vec<i32> = PLACE[1..rank].to_vec();
        place[0] = pixel;
        // Behind the end of a dimension with pixels it begins again, one further in the next one.
        let mut at = 1;
        place[at] += beyond;
        while at + 2 < rank && place[at] > 1 {
            place[at] = first + place[at] - 2;
            at += 1;
            place[at] += 1;
        }
        for (place, offset) in place.iter_mut().zip(offsets) {
            *place += i32::from(*offset);
        }
        for channel in 0..CHANNELS as i32 {
            let whole: Vec<i32> = std::iter::once(PLACE[0] + channel).chain(place.iter().copied()).collect();
            let is_inside = whole.iter().zip(SIZES).all(|(place, size)| (0..size as i32).contains(place));
            let index = whole
                .iter()
                .zip(SIZES)
                .rev()
                .fold(0i64, |index, (place, size)| index * size as i64 + i64::from(*place));
            all.push(is_inside.then_some(index as usize));
        }
    }
    all
}

pub(crate) fn are_copied_to_and_fro(tried: &mut Tried) {
    macro_rules! loads {
        ($of:ident by $to:path: $tensor:ident $map:ident [$n:literal $m:literal] $($function:ident $(::<$group:ident, _, _>)? $with:ident;)*) => { $(
            let (place, offsets): ([i32; $n], [u16; $m]) = (std::array::from_fn(|at| PLACE[at]), [1; $m]);
            let expected: Vec<u32> = indices($n, READ, &offsets).iter().map(|index| index.map_or(0, |index| $tensor.0[index])).collect();
            let load = form!(tried |dst: $of<u32>, map: *const u32, coordinates: [i32; $n], bar: $of<Mbarrier>, offsets: [u16; $m]|
                $function$(::<$group, _, _>)?(dst, map, coordinates, bar, offsets));
            assert_eq!(loaded(80, |dst, bar| load($to(dst), $map, place, $to(bar), offsets)), expected);
            let load = form!(tried |dst: $of<u32>, map: *const u32, coordinates: [i32; $n], bar: $of<Mbarrier>, offsets: [u16; $m],
                policy: CachePolicy| $with$(::<$group, _, _>)?(dst, map, coordinates, bar, offsets, policy));
            assert_eq!(loaded(80, |dst, bar| load($to(dst), $map, place, $to(bar), offsets, POLICY)), expected);
        )* };
    }
    macro_rules! multicasts {
        ($map:ident [$n:literal $m:literal] $($function:ident $(::<$group:ident, _, _>)? $with:ident;)*) => { $(
            let multicast = form!(tried |dst: SharedClusterPtr<u32>, map: *const u32, coordinates: [i32; $n],
                bar: SharedClusterPtr<Mbarrier>, offsets: [u16; $m], mask: u16|
                $function$(::<$group, _, _>)?(dst, map, coordinates, bar, offsets, mask));
            let multicast_with = form!(tried |dst: SharedClusterPtr<u32>, map: *const u32, coordinates: [i32; $n],
                bar: SharedClusterPtr<Mbarrier>, offsets: [u16; $m], mask: u16, policy: CachePolicy|
                $with$(::<$group, _, _>)?(dst, map, coordinates, bar, offsets, mask, policy));
            with_barrier(1, |bar, cluster| {
                let dst = SharedClusterPtr::of(bar.cast::<u32>());
                let why = "a CPU cannot copy to the blocks 0b11 of a cluster: it knows of none";
                assert_eq!(panic_of(|| multicast(dst, $map, [0; $n], cluster, [0; $m], 3)), why);
                assert_eq!(panic_of(|| multicast_with(dst, $map, [0; $n], cluster, [0; $m], 3, POLICY)), why);
            });
        )* };
    }
    macro_rules! ranks {
        ($($n:literal $m:literal;)*) => { $({
            let mut tensor = Tensor::numbered();
            let map = map(&mut tensor, $n, READ);
            let map = (&raw const map).cast::<u32>();
            loads! { SharedPtr by std::convert::identity: tensor map [$n $m]
                cp_async_bulk_tensor_shared_global_im2col cp_async_bulk_tensor_shared_global_im2col_with;
                cp_async_bulk_tensor_shared_global_im2col_cta_group::<CtaGroup1, _, _> cp_async_bulk_tensor_shared_global_im2col_cta_group_with;
                cp_async_bulk_tensor_shared_global_im2col_cta_group::<CtaGroup2, _, _> cp_async_bulk_tensor_shared_global_im2col_cta_group_with;
            }
            loads! { SharedClusterPtr by SharedClusterPtr::of: tensor map [$n $m]
                cp_async_bulk_tensor_shared_cluster_global_im2col cp_async_bulk_tensor_shared_cluster_global_im2col_with;
                cp_async_bulk_tensor_shared_cluster_global_im2col_cta_group::<CtaGroup1, _, _>
                    cp_async_bulk_tensor_shared_cluster_global_im2col_cta_group_with;
                cp_async_bulk_tensor_shared_cluster_global_im2col_cta_group::<CtaGroup2, _, _>
                    cp_async_bulk_tensor_shared_cluster_global_im2col_cta_group_with;
            }
            multicasts! { map [$n $m]
                cp_async_bulk_tensor_shared_cluster_global_im2col_multicast cp_async_bulk_tensor_shared_cluster_global_im2col_multicast_with;
                cp_async_bulk_tensor_shared_cluster_global_im2col_multicast_cta_group::<CtaGroup1, _, _>
                    cp_async_bulk_tensor_shared_cluster_global_im2col_multicast_cta_group_with;
                cp_async_bulk_tensor_shared_cluster_global_im2col_multicast_cta_group::<CtaGroup2, _, _>
                    cp_async_bulk_tensor_shared_cluster_global_im2col_multicast_cta_group_with;
            }
            let mut shared = Box::new(Shared(std::array::from_fn(|at| 1000 + at as u32)));
            let src = SharedPtr::new((&raw mut shared.0).cast::<u32>());
            let map = self::map(&mut tensor, $n, WRITTEN);
            let map = (&raw const map).cast::<u32>();
            let before = tensor.0.clone();
            let mut after = before.clone();
            for (at, index) in indices($n, WRITTEN, &[]).iter().enumerate() {
                index.map(|index| after[index] = 1000 + at as u32);
            }
            assert_ne!(before, after);
            let place: [i32; $n] = std::array::from_fn(|at| PLACE[at]);
            let store = form!(tried |map: *const u32, coordinates: [i32; $n], src: SharedPtr<u32>|
                cp_async_bulk_tensor_global_shared_im2col_no_offs(map, coordinates, src));
            store(map, place, src);
            assert_eq!(tensor.0, after);
            tensor.0.copy_from_slice(&before);
            let store = form!(tried |map: *const u32, coordinates: [i32; $n], src: SharedPtr<u32>, policy: CachePolicy|
                cp_async_bulk_tensor_global_shared_im2col_no_offs_with(map, coordinates, src, policy));
            store(map, place, src, POLICY);
            assert_eq!(tensor.0, after);
        })* };
    }
    ranks! { 3 1; 4 2; 5 3; }
}

pub(crate) fn change(tried: &mut Tried) {
    macro_rules! ranks {
        ($($n:literal)*) => { $(reductions! { tried $n |tensor: &mut Tensor| map(tensor, $n, WRITTEN), std::array::from_fn(|at| PLACE[at]), indices($n, WRITTEN, &[]);
            cp_reduce_async_bulk_tensor_global_shared_add_im2col_no_offs cp_reduce_async_bulk_tensor_global_shared_add_im2col_no_offs_with
                u32::wrapping_add;
            cp_reduce_async_bulk_tensor_global_shared_min_im2col_no_offs cp_reduce_async_bulk_tensor_global_shared_min_im2col_no_offs_with
                Ord::min;
            cp_reduce_async_bulk_tensor_global_shared_max_im2col_no_offs cp_reduce_async_bulk_tensor_global_shared_max_im2col_no_offs_with
                Ord::max;
            cp_reduce_async_bulk_tensor_global_shared_inc_im2col_no_offs cp_reduce_async_bulk_tensor_global_shared_inc_im2col_no_offs_with
                |old, by| if old >= by { 0 } else { old + 1 };
            cp_reduce_async_bulk_tensor_global_shared_dec_im2col_no_offs cp_reduce_async_bulk_tensor_global_shared_dec_im2col_no_offs_with
                |old, by| if old == 0 || old > by { by } else { old - 1 };
            cp_reduce_async_bulk_tensor_global_shared_and_im2col_no_offs cp_reduce_async_bulk_tensor_global_shared_and_im2col_no_offs_with
                |old, by| old & by;
            cp_reduce_async_bulk_tensor_global_shared_or_im2col_no_offs cp_reduce_async_bulk_tensor_global_shared_or_im2col_no_offs_with
                |old, by| old | by;
            cp_reduce_async_bulk_tensor_global_shared_xor_im2col_no_offs cp_reduce_async_bulk_tensor_global_shared_xor_im2col_no_offs_with
                |old, by| old ^ by;
        })* };
    }
    ranks! { 3 4 5 }
}
