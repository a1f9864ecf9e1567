//! How copies of columns along the width of an image are tried: the first thread of a block copies a column, and each thread looks at its
//! own part of it.

use launch::tensor_map::{MapKind, WIDE_SIZES, Wide};
use ptx_intrinsics::catalogue::Form;

use super::other::Other;
use super::room::{Room, THREADS, WIDE_SLOT};
use super::tensor::{self, map_kind};

/// Bytes of a pixel: of 64 the swizzle changes none outside of it.
const PIXEL: usize = 64;
const CHANNELS: usize = PIXEL / 4;

/// The first four channels are before the tensor.
const CHANNEL: i64 = -4;

/// The offset along the width.
const OFFSET: i64 = 1;

/// Where a column begins, in the first image and in the second place of the dimensions between: so that it ends in the second image.
fn begin(wide: Wide) -> i64 {
    match wide {
        Wide::W => WIDE_SIZES[1] as i64 - 3,
        Wide::W128 => 2,
    }
}

/// Pixels of the halo.
fn halo(wide: Wide) -> usize {
    match wide {
        Wide::W => 2,
        Wide::W128 => 1,
    }
}

/// The pixels in shared memory, by their number from the first one on.
fn pixels(wide: Wide) -> Vec<i64> {
    let (count, group) = match wide {
        Wide::W => (MapKind::COLUMN.3 as usize, MapKind::COLUMN.3 as usize),
        Wide::W128 => (128, 32),
    };
    (0..count).step_by(group).flat_map(|first| (first..first + group + halo(wide)).map(|at| at as i64)).collect()
}

/// The bytes of the last thread's slot have no pixel: there is the barrier.
const BARRIER: usize = (THREADS - 1) * WIDE_SLOT;

/// Each thread fills its slot, the first one copies, and the last one says whether the copy was waited for. `home` is the thread's slot in
/// this block, `base` that of the first thread where the form's copy goes.
macro_rules! column {
    ($places:literal, $more:literal, $and:literal) => {
        concat!(
            "let wide = |from: *const u8, to: *mut u8| for at in 0..4 { copy(from.add(128 * at), to.add(128 * at)) }; ",
            $places,
            " wide(to, home); let own = SharedPtr::new(home.sub($SLOT * thread).add($BARRIER).cast::<Mbarrier>()); ",
            "sync_cluster(); if thread == 0 { mbarrier_init(own, 1); ",
            $more,
            " fence_mbarrier_init_release_cluster(); } \
             fence_proxy_async_shared_cta(); sync_cluster(); \
             if thread == 0 { mbarrier_arrive_expect_tx(own, size); {}; } let done = waited(own)",
            $and,
            "; sync_cluster(); wide(home, to); if thread == 31 { put(to, done as u64); }"
        )
    };
}

/// Into this block.
const OWN: &str = column!(
    "let home = p; let (dst, bar) = (SharedPtr::new(p.cast::<u32>()), SharedPtr::new(p.add($BARRIER).cast::<Mbarrier>()));",
    "",
    ""
);

/// Into this block of a cluster.
const OWN_OF_CLUSTER: &str = column!(
    "let home = $HOME; let (dst, bar) = (SharedPtr::new(home.cast::<u32>()), SharedPtr::new(home.add($BARRIER).cast::<Mbarrier>()));",
    "",
    ""
);

/// Into the other block of the cluster, from which one comes to this block.
const OTHER: &str = column!(
    "let home = $HOME; let (dst, bar) = (SharedClusterPtr::new(p.cast::<u32>()), SharedClusterPtr::new(p.add($BARRIER).cast::<Mbarrier>()));",
    "",
    ""
);

/// Into both: what this block copies is in it too, where it is in the other one.
const BOTH: &str = column!(
    "let home = $HOME; let echo = of_rank(p, rank()); wide(to, echo); let mask = 0b11; \
     let (dst, bar) = (SharedClusterPtr::new(p.cast::<u32>()), SharedClusterPtr::new(p.add($BARRIER).cast::<Mbarrier>())); \
     let second = SharedPtr::new(echo.sub($SLOT * thread).add($BARRIER).cast::<Mbarrier>());",
    "mbarrier_init(second, 1); mbarrier_arrive_expect_tx(second, size);",
    " & waited(second) & (thread == 31 || same(echo, home, $SLOT))"
);

/// Of a pair of blocks the one with the barrier is told of what arrives in both.
const BOTH_OF_PAIR: &str = column!(
    "let home = $HOME; let echo = of_rank(p, rank()); wide(to, echo); let (mask, size) = (0b11, 2 * size); \
     let (dst, bar) = (SharedClusterPtr::new(p.cast::<u32>()), SharedClusterPtr::new(p.add($BARRIER).cast::<Mbarrier>()));",
    "",
    "; sync_cluster(); let done = done & (thread == 31 || same(echo, home, $SLOT))"
);

/// A tensor copy, along the width or not.
pub(super) fn trial(form: &Form) -> Other {
    let (kind, ptx) = (map_kind(form), form.ptx());
    let Some(wide) = kind.wide else { return tensor::trial(form) };
    let (room, then) = match () {
        () if ptx.contains(".multicast") && ptx.contains(".cta_group::2") => (Room::TensorWideCluster, BOTH_OF_PAIR),
        () if ptx.contains(".multicast") => (Room::TensorWideCluster, BOTH),
        () if ptx.contains(".shared::cluster") => (Room::TensorWideCluster, OTHER),
        () if ptx.contains(".cta_group") => (Room::TensorWideCluster, OWN_OF_CLUSTER),
        () => (Room::TensorWide, OWN),
    };
    let between = "1, ".repeat(kind.dimensions - 3);
    let size = PIXEL * pixels(wide).len();
    let then = format!(
        "let (map, coordinates, size) = (from, [{CHANNEL}, {}, {between}0], {size}u32); let info = [{}u16, {OFFSET}]; {}",
        begin(wide),
        halo(wide),
        then.replace(
            "$HOME",
            &format!("of_rank(p, rank()).offset((2 * rank() as isize - 1) * {})", THREADS * WIDE_SLOT)
        )
        .replace("$BARRIER", &BARRIER.to_string())
        .replace("$SLOT", &WIDE_SLOT.to_string()),
    );
    Other { room, before: "", then: then.into(), expected: moved }
}

fn moved(form: &Form, thread: usize, _: &[u8], to: &mut [u8]) {
    let kind = map_kind(form);
    let wide = kind.wide.expect("it is one along the width");
    if thread == THREADS - 1 {
        return to[..8].copy_from_slice(&1u64.to_le_bytes());
    }
    let first = thread * WIDE_SLOT / PIXEL;
    for (at, number) in pixels(wide).into_iter().enumerate().skip(first).take(WIDE_SLOT / PIXEL) {
        for channel in 0..CHANNELS {
            // Bits 4 and 5 of an address change by bits 7 and 8.
            let byte = PIXEL * at + 4 * channel;
            let byte = (byte ^ (byte >> 7 & 3) << 4) - thread * WIDE_SLOT;
            to[byte..byte + 4].copy_from_slice(&element(kind, wide, number, channel).to_le_bytes());
        }
    }
}

/// The element of the tensor; 0 outside of it. The row is from 0 to the place behind its last pixel, since the offset moves it.
fn element(kind: MapKind, wide: Wide, number: i64, channel: usize) -> u32 {
    let row = WIDE_SIZES[1] as i64 + 1;
    let along = begin(wide) + OFFSET + number;
    let mut place = [CHANNEL + channel as i64, along % row, 1, 1, 1];
    place[kind.dimensions - 1] = along / row;
    let places = place.iter().zip(WIDE_SIZES).take(kind.dimensions);
    if places.clone().any(|(place, size)| !(0..size as i64).contains(place)) {
        return 0;
    }
    places.rev().fold(0, |index, (place, size)| index * size as u32 + *place as u32) + 1
}
