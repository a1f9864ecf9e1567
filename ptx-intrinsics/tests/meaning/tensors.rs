//! Tensor copies on a CPU: which elements are copied, filled and changed, and what a barrier is told.

use ptx_intrinsics::cp_async_bulk::*;
use ptx_intrinsics::mbarrier::*;
use ptx_intrinsics::on_cpu::tensor::{Columns, TensorMap};
use ptx_intrinsics::prelude::*;

use crate::barriers::with_barrier;
use crate::functions::{Tried, panic_of};

/// Tries each reduction of a tensor by shared memory: `$map` makes the map, and `$indices` are those of its elements at `$place`.
macro_rules! reductions {
    ($tried:ident $n:literal $map:expr, $place:expr, $indices:expr; $($function:ident $with:ident $new:expr;)*) => { $({
        let mut tensor = Tensor::numbered();
        let map = $map(&mut tensor);
        let map = (&raw const map).cast::<u32>();
        let place: [i32; $n] = $place;
        let mut shared = Box::new(Shared(std::array::from_fn(|at| 3 * at as u32 % 50)));
        let src = SharedPtr::new((&raw mut shared.0).cast::<u32>());
        let new: fn(u32, u32) -> u32 = $new;
        let mut after = tensor.0.clone();
        let mut change = || {
            for (at, index) in $indices.into_iter().enumerate() {
                index.map(|index| after[index] = new(after[index], 3 * at as u32 % 50));
            }
            after.clone()
        };
        form!($tried |map: *const u32, coordinates: [i32; $n], src: SharedPtr<u32>| $function(map, coordinates, src))(map, place, src);
        assert_eq!(tensor.0, change(), "{}", stringify!($function));
        form!($tried |map: *const u32, coordinates: [i32; $n], src: SharedPtr<u32>, policy: CachePolicy|
            $with(map, coordinates, src, policy))(map, place, src, POLICY);
        assert_eq!(tensor.0, change(), "{}", stringify!($with));
    })* };
}

#[path = "columns.rs"]
mod columns;
#[path = "width.rs"]
mod width;

const POLICY: CachePolicy = CachePolicy::EVICT_LAST;

/// Elements of each dimension, and of the box.
const SIZES: [usize; 5] = [16, 4, 3, 3, 3];
const TILE: [usize; 5] = [8, 2, 1, 2, 1];

/// Where boxes are: over an edge in two dimensions.
const PLACE: [i32; 5] = [12, 3, 1, 0, 2];

/// A map, as aligned as a copy wants it.
#[repr(C, align(64))]
struct Map([u8; 128]);

/// A box in shared memory.
#[repr(C, align(1024))]
struct Shared([u32; 256]);

/// A tensor of five dimensions, numbered.
struct Tensor(Box<[u32]>);

impl Tensor {
    fn numbered() -> Tensor {
        Tensor((0..SIZES.iter().product::<usize>() as u32).map(|at| at + 1).collect())
    }

    /// The map of its first dimensions.
    fn map(&mut self, rank: usize, tile: [usize; 5]) -> (Map, TensorMap) {
        let first = |all: [usize; 5]| std::array::from_fn(|at| if at < rank { all[at] as u32 } else { 0 });
        let strides =
            std::array::from_fn(|at| if at + 1 < rank { 4 * SIZES[..=at].iter().product::<usize>() as u64 } else { 0 });
        let map = TensorMap {
            rank: rank as u32,
            element: 2,
            address: self.0.as_mut_ptr().expose_provenance() as u64,
            sizes: first(SIZES).map(u64::from),
            strides,
            tile: first(tile),
            steps: first([1; 5]),
            ..TensorMap::default()
        };
        (Map(map.encode()), map)
    }
}

/// The indices of the box's elements in the tensor, in order; none outside of it.
fn indices(rank: usize, place: &[i32]) -> Vec<Option<usize>> {
    let count: usize = TILE[..rank].iter().product();
    let index = |mut at: usize| {
        let (mut index, mut stride) = (0, 1);
        for d in 0..rank {
            let x = place[d] + (at % TILE[d]) as i32;
            at /= TILE[d];
            if !(0..SIZES[d] as i32).contains(&x) {
                return None;
            }
            index += stride * x as usize;
            stride *= SIZES[d];
        }
        Some(index)
    };
    (0..count).map(index).collect()
}

/// What a copy that a barrier waits for leaves in shared memory.
fn loaded(bytes: usize, load: impl FnOnce(SharedPtr<u32>, SharedPtr<Mbarrier>)) -> Vec<u32> {
    let mut shared = Box::new(Shared([77; 256]));
    with_barrier(1, |bar, _| {
        // SAFETY: the barrier is initialised.
        let state = unsafe { mbarrier_arrive_expect_tx(bar, bytes as u32) };
        load(SharedPtr::new((&raw mut shared.0).cast()), bar);
        // SAFETY: the barrier is initialised.
        assert!(unsafe { mbarrier_test_wait(bar, state) }, "the barrier is told of {bytes} bytes");
    });
    assert!(shared.0[bytes / 4..].iter().all(|number| *number == 77), "what is behind the box is as it was");
    shared.0[..bytes / 4].to_vec()
}

/// Copies to several blocks, which a CPU does not have.
macro_rules! multicasts {
    ($tried:ident $coordinates:tt $map:ident $place:ident $plain:ident $with:ident $group:ident $group_with:ident) => {
        multicasts! { @ $tried $coordinates $map $place $plain() $with() $group(CtaGroup1) $group_with(CtaGroup1)
            $group(CtaGroup2) $group_with(CtaGroup2) }
    };
    (@ $tried:ident $coordinates:tt $map:ident $place:ident $($plain:ident($($group:ident)?) $with:ident($($same:ident)?))*) => { $(
        let multicast = form!($tried |dst: SharedClusterPtr<u32>, map: *const u32, coordinates: $coordinates,
            bar: SharedClusterPtr<Mbarrier>, mask: u16| $plain$(::<$group, _, _>)?(dst, map, coordinates, bar, mask));
        let multicast_with = form!($tried |dst: SharedClusterPtr<u32>, map: *const u32, coordinates: $coordinates,
            bar: SharedClusterPtr<Mbarrier>, mask: u16, policy: CachePolicy|
            $with$(::<$same, _, _>)?(dst, map, coordinates, bar, mask, policy));
        with_barrier(1, |bar, cluster| {
            let dst = SharedClusterPtr::of(bar.cast::<u32>());
            let why = "a CPU cannot copy to the blocks 0b11 of a cluster: it knows of none";
            assert_eq!(panic_of(|| multicast(dst, $map, $place, cluster, 3)), why);
            assert_eq!(panic_of(|| multicast_with(dst, $map, $place, cluster, 3, POLICY)), why);
        });
    )* };
}

#[test]
fn a_box_is_copied_to_and_fro() {
    let mut tried = Tried::default();
    macro_rules! ranks {
        ($($n:literal)*) => { $({
            let mut tensor = Tensor::numbered();
            let (map, described) = tensor.map($n, TILE);
            assert_eq!(described.check(), Ok(()));
            let map = (&raw const map).cast::<u32>();
            let place: [i32; $n] = std::array::from_fn(|at| PLACE[at]);
            let indices = indices($n, &place);
            let expected: Vec<u32> = indices.iter().map(|index| index.map_or(0, |index| tensor.0[index])).collect();
            let bytes = 4 * expected.len();

            let load = form!(tried |dst: SharedClusterPtr<u32>, map: *const u32, coordinates: [i32; $n], bar: SharedClusterPtr<Mbarrier>|
                cp_async_bulk_tensor_shared_cluster_global(dst, map, coordinates, bar));
            let found = loaded(bytes, |dst, bar| load(SharedClusterPtr::of(dst), map, place, SharedClusterPtr::of(bar)));
            assert_eq!(found, expected);
            let load = form!(tried |dst: SharedClusterPtr<u32>, map: *const u32, coordinates: [i32; $n], bar: SharedClusterPtr<Mbarrier>,
                policy: CachePolicy| cp_async_bulk_tensor_shared_cluster_global_with(dst, map, coordinates, bar, policy));
            let found = loaded(bytes, |dst, bar| load(SharedClusterPtr::of(dst), map, place, SharedClusterPtr::of(bar), POLICY));
            assert_eq!(found, expected);
            let load = form!(tried |dst: SharedPtr<u32>, map: *const u32, coordinates: [i32; $n], bar: SharedPtr<Mbarrier>|
                cp_async_bulk_tensor_shared_global(dst, map, coordinates, bar));
            assert_eq!(loaded(bytes, |dst, bar| load(dst, map, place, bar)), expected);
            let load = form!(tried |dst: SharedPtr<u32>, map: *const u32, coordinates: [i32; $n], bar: SharedPtr<Mbarrier>,
                policy: CachePolicy| cp_async_bulk_tensor_shared_global_with(dst, map, coordinates, bar, policy));
            assert_eq!(loaded(bytes, |dst, bar| load(dst, map, place, bar, POLICY)), expected);

            macro_rules! groups {
                ($group:ident) => {
                    let load = form!(tried |dst: SharedClusterPtr<u32>, map: *const u32, coordinates: [i32; $n], bar: SharedClusterPtr<Mbarrier>|
                        cp_async_bulk_tensor_shared_cluster_global_cta_group::<$group, _, _>(dst, map, coordinates, bar));
                    let found = loaded(bytes, |dst, bar| load(SharedClusterPtr::of(dst), map, place, SharedClusterPtr::of(bar)));
                    assert_eq!(found, expected);
                    let load = form!(tried |dst: SharedClusterPtr<u32>, map: *const u32, coordinates: [i32; $n], bar: SharedClusterPtr<Mbarrier>,
                        policy: CachePolicy| cp_async_bulk_tensor_shared_cluster_global_cta_group_with::<$group, _, _>(dst, map, coordinates, bar, policy));
                    let found = loaded(bytes, |dst, bar| load(SharedClusterPtr::of(dst), map, place, SharedClusterPtr::of(bar), POLICY));
                    assert_eq!(found, expected);
                    let load = form!(tried |dst: SharedPtr<u32>, map: *const u32, coordinates: [i32; $n], bar: SharedPtr<Mbarrier>|
                        cp_async_bulk_tensor_shared_global_cta_group::<$group, _, _>(dst, map, coordinates, bar));
                    assert_eq!(loaded(bytes, |dst, bar| load(dst, map, place, bar)), expected);
                    let load = form!(tried |dst: SharedPtr<u32>, map: *const u32, coordinates: [i32; $n], bar: SharedPtr<Mbarrier>,
                        policy: CachePolicy| cp_async_bulk_tensor_shared_global_cta_group_with::<$group, _, _>(dst, map, coordinates, bar, policy));
                    assert_eq!(loaded(bytes, |dst, bar| load(dst, map, place, bar, POLICY)), expected);
                };
            }
            groups! { CtaGroup1 }
            groups! { CtaGroup2 }
            multicasts! { tried [i32; $n] map place
                cp_async_bulk_tensor_shared_cluster_global_multicast cp_async_bulk_tensor_shared_cluster_global_multicast_with
                cp_async_bulk_tensor_shared_cluster_global_multicast_cta_group
                cp_async_bulk_tensor_shared_cluster_global_multicast_cta_group_with }
            let mut shared = Box::new(Shared(std::array::from_fn(|at| 1000 + at as u32)));
            let src = SharedPtr::new((&raw mut shared.0).cast::<u32>());
            let mut after = tensor.0.clone();
            for (at, index) in indices.iter().enumerate() {
                index.map(|index| after[index] = 1000 + at as u32);
            }
            let store = form!(tried |map: *const u32, coordinates: [i32; $n], src: SharedPtr<u32>|
                cp_async_bulk_tensor_global_shared(map, coordinates, src));
            store(map, place, src);
            assert_eq!(tensor.0, after);
            let store = form!(tried |map: *const u32, coordinates: [i32; $n], src: SharedPtr<u32>, policy: CachePolicy|
                cp_async_bulk_tensor_global_shared_with(map, coordinates, src, policy));
            tensor.0.fill(5);
            store(map, place, src, POLICY);
            assert!((0..tensor.0.len()).all(|at| tensor.0[at] == if indices.contains(&Some(at)) { after[at] } else { 5 }));
        })* };
    }
    ranks! { 1 2 3 4 5 }
    let mut tensor = Tensor::numbered();
    let (map, _) = tensor.map(2, [8, 1, 1, 1, 1]);
    let map = (&raw const map).cast::<u32>();
    let gathered: Vec<u32> = [3, 0, 4, 1]
        .into_iter()
        .flat_map(|row| (12..20).map(move |x| if x < 16 && row < 4 { 16 * row + x + 1 } else { 0 }))
        .collect();
    let place = [12, 3, 0, 4, 1];
    macro_rules! gathers {
        ($of:ident by $to:path: $($function:ident $(::<$group:ident, _, _>)? $with:ident;)*) => { $(
            let gather = form!(tried |dst: $of<u32>, map: *const u32, coordinates: [i32; 5], bar: $of<Mbarrier>|
                $function$(::<$group, _, _>)?(dst, map, coordinates, bar));
            assert_eq!(loaded(128, |dst, bar| gather($to(dst), map, place, $to(bar))), gathered);
            let gather = form!(tried |dst: $of<u32>, map: *const u32, coordinates: [i32; 5], bar: $of<Mbarrier>, policy: CachePolicy|
                $with$(::<$group, _, _>)?(dst, map, coordinates, bar, policy));
            assert_eq!(loaded(128, |dst, bar| gather($to(dst), map, place, $to(bar), POLICY)), gathered);
        )* };
    }
    gathers! { SharedPtr by std::convert::identity:
        cp_async_bulk_tensor_shared_global_gather4 cp_async_bulk_tensor_shared_global_gather4_with;
        cp_async_bulk_tensor_shared_global_gather4_cta_group::<CtaGroup1, _, _> cp_async_bulk_tensor_shared_global_gather4_cta_group_with;
        cp_async_bulk_tensor_shared_global_gather4_cta_group::<CtaGroup2, _, _> cp_async_bulk_tensor_shared_global_gather4_cta_group_with;
    }
    gathers! { SharedClusterPtr by SharedClusterPtr::of:
        cp_async_bulk_tensor_shared_cluster_global_gather4 cp_async_bulk_tensor_shared_cluster_global_gather4_with;
        cp_async_bulk_tensor_shared_cluster_global_gather4_cta_group::<CtaGroup1, _, _>
            cp_async_bulk_tensor_shared_cluster_global_gather4_cta_group_with;
        cp_async_bulk_tensor_shared_cluster_global_gather4_cta_group::<CtaGroup2, _, _>
            cp_async_bulk_tensor_shared_cluster_global_gather4_cta_group_with;
    }
    multicasts! { tried [i32; 5] map place
    cp_async_bulk_tensor_shared_cluster_global_gather4_multicast cp_async_bulk_tensor_shared_cluster_global_gather4_multicast_with
    cp_async_bulk_tensor_shared_cluster_global_gather4_multicast_cta_group
    cp_async_bulk_tensor_shared_cluster_global_gather4_multicast_cta_group_with }

    let mut shared = Box::new(Shared(std::array::from_fn(|at| 1000 + at as u32)));
    let src = SharedPtr::new((&raw mut shared.0).cast::<u32>());
    let mut after = tensor.0.clone();
    for (at, row) in [3, 0, 4, 1].into_iter().enumerate().filter(|(_, row)| *row < 4) {
        (12..16).for_each(|x| after[16 * row + x] = (1000 + 8 * at + x - 12) as u32);
    }
    let before = tensor.0.clone();
    let scatter = form!(tried |map: *const u32, coordinates: [i32; 5], src: SharedPtr<u32>|
        cp_async_bulk_tensor_global_shared_scatter4(map, coordinates, src));
    scatter(map, place, src);
    assert_eq!(tensor.0, after);
    let scatter = form!(tried |map: *const u32, coordinates: [i32; 5], src: SharedPtr<u32>, policy: CachePolicy|
        cp_async_bulk_tensor_global_shared_scatter4_with(map, coordinates, src, policy));
    tensor.0.copy_from_slice(&before);
    scatter(map, place, src, POLICY);
    assert_eq!(tensor.0, after);
    columns::are_copied_to_and_fro(&mut tried);
    width::are_copied(&mut tried);
    tried.is_all_of(&["cp.async.bulk.tensor"]);
}

#[test]
fn a_tensor_is_changed_by_a_box() {
    let mut tried = Tried::default();
    macro_rules! ranks {
        ($($n:literal)*) => { $(reductions! { tried $n |tensor: &mut Tensor| tensor.map($n, TILE).0, std::array::from_fn(|at| PLACE[at]),
            indices($n, &PLACE[..$n]);
            cp_reduce_async_bulk_tensor_global_shared_add cp_reduce_async_bulk_tensor_global_shared_add_with u32::wrapping_add;
            cp_reduce_async_bulk_tensor_global_shared_min cp_reduce_async_bulk_tensor_global_shared_min_with Ord::min;
            cp_reduce_async_bulk_tensor_global_shared_max cp_reduce_async_bulk_tensor_global_shared_max_with Ord::max;
            cp_reduce_async_bulk_tensor_global_shared_inc cp_reduce_async_bulk_tensor_global_shared_inc_with
                |old, by| if old >= by { 0 } else { old + 1 };
            cp_reduce_async_bulk_tensor_global_shared_dec cp_reduce_async_bulk_tensor_global_shared_dec_with
                |old, by| if old == 0 || old > by { by } else { old - 1 };
            cp_reduce_async_bulk_tensor_global_shared_and cp_reduce_async_bulk_tensor_global_shared_and_with |old, by| old & by;
            cp_reduce_async_bulk_tensor_global_shared_or cp_reduce_async_bulk_tensor_global_shared_or_with |old, by| old | by;
            cp_reduce_async_bulk_tensor_global_shared_xor cp_reduce_async_bulk_tensor_global_shared_xor_with |old, by| old ^ by;
        })* };
    }
    ranks! { 1 2 3 4 5 }
    columns::change(&mut tried);
    tried.is_all_of(&["cp.reduce.async.bulk.tensor"]);
}

/// Eight rows of 128 bytes: the 16 bytes of column `c` of row `r` are at column `c ^ r`.
#[test]
fn a_swizzle_moves_what_is_in_shared_memory() {
    let mut tensor: Vec<u32> = (0..32 * 8).collect();
    let map = TensorMap {
        rank: 2,
        element: 2,
        address: tensor.as_mut_ptr().expose_provenance() as u64,
        sizes: [32, 8, 0, 0, 0],
        strides: [128, 0, 0, 0],
        tile: [32, 8, 0, 0, 0],
        steps: [1, 1, 0, 0, 0],
        ..TensorMap::default()
    };
    let map = Map(map.swizzled(3).encode());
    // SAFETY: the box is as large as the memory.
    let found = loaded(1024, |dst, bar| unsafe {
        cp_async_bulk_tensor_shared_cluster_global(
            SharedClusterPtr::of(dst),
            &raw const map,
            [0, 0],
            SharedClusterPtr::of(bar),
        );
    });
    for (at, number) in tensor.iter().enumerate() {
        let (row, column) = (at / 32, at / 4 % 8);
        assert_eq!(found[32 * row + 4 * (column ^ row) + at % 4], *number, "row {row}, column {column}");
    }
    let mut shared = Box::new(Shared(found.try_into().unwrap()));
    tensor.fill(0);
    // SAFETY: the same box.
    unsafe {
        cp_async_bulk_tensor_global_shared(&raw const map, [0, 0], SharedPtr::new((&raw mut shared.0).cast::<u32>()))
    };
    assert!(tensor.iter().enumerate().all(|(at, number)| at as u32 == *number), "{tensor:?}");
}

#[test]
fn what_is_wrong_is_told() {
    let mut tensor = Tensor::numbered();
    let (map, described) = tensor.map(2, TILE);
    let mut shared = Box::new(Shared([0; 256]));
    let src = SharedPtr::new((&raw mut shared.0).cast::<u32>());
    let told = |map: *const Map, coordinates: [i32; 2], src| {
        // SAFETY: each panics before it copies.
        panic_of(|| unsafe { cp_async_bulk_tensor_global_shared(map, coordinates, src) })
    };
    let nothing = Map([0; 128]);
    let why = told(&raw const nothing, [0, 0], src);
    assert!(why.ends_with("is no tensor map of a CPU: `ptx_kernel::TensorMap::tiled` makes one"), "{why}");
    let why = told((&raw const nothing).wrapping_byte_add(8), [0, 0], src);
    assert!(why.ends_with("is not aligned to 64 bytes: a GPU faults there"), "{why}");
    let why = told(&raw const map, [0, 0], src.add(4));
    assert!(why.ends_with("in shared memory is not aligned to 128 bytes: a GPU faults there"), "{why}");
    // SAFETY: it panics before it copies.
    let why = panic_of(|| unsafe { cp_async_bulk_tensor_global_shared(&raw const map, [0], src) });
    assert_eq!(why, "a map of 2 dimensions, for a copy of 1");
    let floats = Map(TensorMap { element: 7, ..described }.encode());
    // SAFETY: it panics before it changes anything.
    let why = panic_of(|| unsafe { cp_reduce_async_bulk_tensor_global_shared_xor(&raw const floats, [0, 0], src) });
    assert_eq!(why, "PTX has no reduction .xor of a tensor of f32");
    let wide = Map(TensorMap { tile: [8, 257, 0, 0, 0], ..described }.encode());
    let why = told(&raw const wide, [0, 0], src);
    assert_eq!(why, "the tensor map is wrong: boxDim[1] is 257: 1 to 256 are possible");
}

/// Each field of a map, at each kind of address.
#[test]
fn a_field_of_a_map_is_replaced() {
    let mut tried = Tried::default();
    let mut tensor = Tensor::numbered();
    let (_, described) = tensor.map(5, TILE);
    let address = 0x4000 as *mut u32;
    macro_rules! fields {
        ($({ $changed:expr } $generic:ident $global:ident $shared:ident $(::<$number:literal>)? $(($name:ident: $of:ty = $value:expr))?;)*) => { $({
            let wanted: TensorMap = { let change: fn(&mut TensorMap) = $changed; let mut map = described; change(&mut map); map };
            assert_ne!(wanted, described);
            for space in 0..3 {
                let mut bytes = Map(described.encode());
                let map = (&raw mut bytes).cast::<u8>();
                match space {
                    0 => form!(tried |map: *mut u8 $(, $name: $of)?| $generic$(::<$number, _>)?(map $(, $name)?))(map $(, $value)?),
                    1 => form!(tried |map: *mut u8 $(, $name: $of)?| $global$(::<$number, _>)?(map $(, $name)?))(map $(, $value)?),
                    _ => form!(tried |map: SharedPtr<u8> $(, $name: $of)?| $shared$(::<$number, _>)?(map $(, $name)?))(
                        SharedPtr::new(map) $(, $value)?),
                }
                assert_eq!(TensorMap::decode(&bytes.0), Some(wanted), "{}", stringify!($generic));
            }
        })* };
    }
    fields! {
        { |map| map.address = 0x4000 } tensormap_replace_global_address tensormap_replace_global_address_global
            tensormap_replace_global_address_shared (address: *mut u32 = address);
        { |map| map.rank = 4 } tensormap_replace_rank
            tensormap_replace_rank_global tensormap_replace_rank_shared (rank_less_one: u32 = 3);
        { |map| map.tile[3] = 7 } tensormap_replace_box_dim tensormap_replace_box_dim_global tensormap_replace_box_dim_shared
            ::<3> (elements: u32 = 7);
        { |map| map.sizes[3] = 9 } tensormap_replace_global_dim tensormap_replace_global_dim_global tensormap_replace_global_dim_shared
            ::<3> (elements: u32 = 9);
        { |map| map.strides[3] = 32 } tensormap_replace_global_stride tensormap_replace_global_stride_global
            tensormap_replace_global_stride_shared ::<3> (bytes: u64 = 32);
        { |map| map.steps[3] = 2 } tensormap_replace_element_stride tensormap_replace_element_stride_global
            tensormap_replace_element_stride_shared ::<3> (step: u32 = 2);
        { |map| map.element = 3 } tensormap_replace_elemtype tensormap_replace_elemtype_global tensormap_replace_elemtype_shared ::<3>;
        { |map| map.interleave = 2 } tensormap_replace_interleave_layout tensormap_replace_interleave_layout_global
            tensormap_replace_interleave_layout_shared ::<2>;
        { |map| map.swizzle = 3 } tensormap_replace_swizzle_mode tensormap_replace_swizzle_mode_global
            tensormap_replace_swizzle_mode_shared ::<3>;
        { |map| map.fill = 1 } tensormap_replace_fill_mode tensormap_replace_fill_mode_global tensormap_replace_fill_mode_shared ::<1>;
        { |map| map.atom = 3 } tensormap_replace_swizzle_atomicity tensormap_replace_swizzle_atomicity_global
            tensormap_replace_swizzle_atomicity_shared ::<3>;
    }
    let mut bytes = Map(described.encode());
    let map = &raw mut bytes;
    // SAFETY: it panics before it changes anything.
    let why = panic_of(|| unsafe { tensormap_replace_box_dim::<0, _>(map, 257) });
    assert_eq!(why, "BoxDim of a tensor map has no place 0, or cannot be 257");
    tried.is_all_of(&["tensormap.replace"]);
}
