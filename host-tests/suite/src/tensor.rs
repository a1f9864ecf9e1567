//! How tensor copies are tried: each thread copies a box of a tensor whose elements are numbered, or writes and changes a box of another
//! one, and copies it back.

use launch::tensor_map::{MapKind, STRIDES, Wide};
use ptx_intrinsics::catalogue::Form;

use super::other::{Other, all};
use super::reduced::change_all;
use super::room::Room;

/// A prefetch of a box of a tensor of as many dimensions.
pub(super) fn prefetch(form: &Form) -> Other {
    let before = match map_kind(form).dimensions {
        _ if form.ptx().contains("::gather4") => "let (map, coordinates) = (p.cast_const(), [0i32; 5]);",
        1 => "let (map, coordinates) = (p.cast_const(), [0i32; 1]);",
        2 => "let (map, coordinates) = (p.cast_const(), [0i32; 2]);",
        3 => "let (map, coordinates, offsets, info) = (p.cast_const(), [0i32; 3], [0u16; 1], [0u16; 2]);",
        4 => "let (map, coordinates, offsets, info) = (p.cast_const(), [0i32; 4], [0u16; 2], [0u16; 2]);",
        _ => "let (map, coordinates, offsets, info) = (p.cast_const(), [0i32; 5], [0u16; 3], [0u16; 2]);",
    };
    Other { room: Room::TensorMap, before, then: "{}; copy(from, to);".into(), expected: all }
}

/// A field is changed and, but for an address, made again what it was: the map is then as it was.
pub(super) fn replace(form: &Form) -> Other {
    let (room, set_up) = match form.ptx() {
        ptx if ptx.contains(".shared::cta") => (Room::TensorShared, "let map = SharedPtr::new(p);"),
        _ => (Room::TensorMap, "let p = to; let map = p;"),
    };
    // The argument, what it becomes, and what it was.
    let (name, new, old) = match form.ptx().split('.').nth(3) {
        Some("global_address") => ("address", "to.cast::<u32>()", ""),
        Some("rank") => ("rank_less_one", "2", "4"),
        Some("box_dim") => ("elements", "7", "1"),
        Some("global_dim") => ("elements", "9", "4"),
        Some("global_stride") => ("bytes", "32", "65536"),
        Some("element_stride") => ("step", "2", "1"),
        Some("elemtype") => ("_", "()", "2"),
        _ => ("_", "()", "0"),
    };
    let again = match (name, old) {
        (_, "") => "copy(from, p)".to_owned(),
        ("_", old) => {
            let (function, rest) = form.rust().split_once("::<").unwrap_or_default();
            format!("{function}::<{old}{}", rest.trim_start_matches(|c: char| c.is_ascii_digit()))
        }
        (name, old) => format!("let {name} = {old}; {{}}"),
    };
    let then = format!(
        "{set_up} copy(from, p); let {name} = {new}; {{}}; let changed = !same(p, from, 128); {again}; copy(p, to); \
         if !changed {{ put(to, 0u64); }}"
    );
    Other { room, before: "", then: then.into(), expected: all }
}

/// The kind that a form says, or a matrix, where it says none.
pub(super) fn map_kind(form: &Form) -> MapKind {
    let ptx = form.ptx();
    if form.instruction() == "tensormap.replace" {
        return MapKind { dimensions: 5, ..MapKind::MATRIX };
    }
    let dimensions = ptx.split('.').find_map(|word| word.strip_suffix('d')?.parse().ok());
    dimensions.map_or(MapKind::MATRIX, |dimensions| MapKind {
        dimensions,
        im2col: ptx.contains(".im2col"),
        wide: match () {
            () if ptx.contains(".im2col::w::128") => Some(Wide::W128),
            () => ptx.contains(".im2col::w").then_some(Wide::W),
        },
        by_rows: ptx.contains("::gather4") || ptx.contains("::scatter4"),
        written: writes(form),
    })
}

fn writes(form: &Form) -> bool {
    form.ptx().contains(".global.shared::cta")
}

/// Where a box is in the dimensions behind the first one, and the rows that are gathered.
const PLACE: [usize; 4] = [1, 2, 3, 1];
const ROWS: [usize; 4] = [3, 0, 2, 1];

/// Where a column begins behind the channels, and by how many pixels a load moves it.
const PIXEL: [usize; 4] = [1, 1, 1, 1];
const MOVED: i64 = 1;

/// Elements from a thread's box to the next one's. The first box begins before the tensor, or, where it is written, at its beginning: a GPU
/// ends a kernel that writes at a negative coordinate.
const APART: usize = 8;

const fn first(writes: bool) -> usize {
    if writes { 0 } else { 4 }
}

/// A thread's own barrier, and the copy that it waits for.
macro_rules! load {
    ($copy:literal) => {
        concat!(
            "copy(to, p); let own = SharedPtr::new(p.add(96).cast::<Mbarrier>()); mbarrier_init(own, 1); \
             let (dst, bar) = (SharedPtr::new(p.cast::<u32>()), own); fence_mbarrier_init_release_cluster(); \
             fence_proxy_async_shared_cta(); mbarrier_arrive_expect_tx(own, size); ",
            $copy,
            "; let done = waited(own); copy(p, to); put(to.add(96), done as u64);"
        )
    };
}

/// A box into the other block of the cluster, from which one comes to this block; a multicast to both.
macro_rules! load_into_other_block {
    ($more:literal, $also:literal) => {
        concat!(
            "let home = home_of(p); copy(to, home); \
             let own = SharedPtr::new(home.add(96).cast::<Mbarrier>()); mbarrier_init(own, 1); \
             let (dst, bar) = (SharedClusterPtr::new(p.cast::<u32>()), SharedClusterPtr::new(p.add(96).cast::<Mbarrier>())); ",
            $more,
            " fence_mbarrier_init_release_cluster(); fence_proxy_async_shared_cta(); mbarrier_arrive_expect_tx(own, size); \
             sync_cluster(); {}; let done = waited(own)",
            $also,
            "; sync_cluster(); copy(home, to); put(to.add(96), done as u64);"
        )
    };
}

/// What is in a box, after the first and after the second time that it is filled.
const fn filled(thread: usize, at: usize, second: bool) -> u32 {
    if second { 1000 * thread as u32 + 3 * at as u32 } else { 1000 * thread as u32 + at as u32 + 7 }
}

/// Fills the box in shared memory, and copies it or changes the tensor by it.
macro_rules! store {
    ($value:literal, $act:literal) => {
        concat!(
            "for at in 0..size / 4 { put(p.add(4 * at as usize), 1000 * thread as u32 + ",
            $value,
            "); } fence_proxy_async_shared_cta(); ",
            $act,
            "; cp_async_bulk_commit_group(); cp_async_bulk_wait_group::<0>(); "
        )
    };
}

/// A box into this block of the cluster.
macro_rules! load_into_own_block {
    () => {
        concat!("let p = home_of(p); ", load!("{}"))
    };
}

const BACK: &str = load!("cp_async_bulk_tensor_shared_cluster_global(dst, map, coordinates, bar)");
const COLUMN_BACK: &str =
    load!("cp_async_bulk_tensor_shared_cluster_global_im2col(dst, map, coordinates, bar, offsets)");
const ROWS_BACK: &str = load!("cp_async_bulk_tensor_shared_global_gather4(dst, map, coordinates, bar)");

/// A barrier of this block for what this block copies to both.
const ECHO: &str = "let mask = 0b11; let echo = of_rank(p, rank()); \
     let second = SharedPtr::new(echo.add(96).cast::<Mbarrier>()); mbarrier_init(second, 1); ";

pub(super) fn trial(form: &Form) -> Other {
    let ptx = form.ptx();
    let kind = map_kind(form);
    let x = format!("{APART} * thread as i32 - {}", first(writes(form)));
    let others = match () {
        () if kind.by_rows => &ROWS[..],
        () if kind.im2col => &PIXEL[..kind.dimensions - 1],
        () => &PLACE[..kind.dimensions - 1],
    };
    let place: Vec<String> = std::iter::once(x).chain(others.iter().map(usize::to_string)).collect();
    let size = 4 * elements(kind);
    let setup = format!("let (map, coordinates, size) = (from, [{}], {size}u32); ", place.join(", "));
    let moved_by = if writes(form) { 0 } else { MOVED };
    let offsets = format!("let offsets = [{moved_by}u16; {}]; ", kind.dimensions.saturating_sub(2));
    let setup = if kind.im2col { setup + &offsets } else { setup };
    let back = match () {
        () if kind.by_rows => ROWS_BACK,
        () if kind.im2col => COLUMN_BACK,
        () => BACK,
    };
    let (room, then) = if ptx.starts_with("cp.reduce") {
        let first = if kind.im2col {
            store!("at + 7", "cp_async_bulk_tensor_global_shared_im2col_no_offs(map, coordinates, src)")
        } else {
            store!("at + 7", "cp_async_bulk_tensor_global_shared(map, coordinates, src)")
        };
        let then = format!("{SRC} {first} {} {back}", store!("3 * at", "{}"));
        (Room::TensorShared, then)
    } else if writes(form) {
        (Room::TensorShared, format!("{SRC} {} {back}", store!("at + 7", "{}")))
    } else if ptx.contains(".multicast") {
        (Room::TensorCluster, multicast(ptx))
    } else if ptx.contains(".shared::cluster") {
        (Room::TensorCluster, load_into_other_block!("", "").to_owned())
    } else if ptx.contains(".cta_group") {
        (Room::TensorCluster, load_into_own_block!().to_owned())
    } else {
        (Room::TensorShared, load!("{}").to_owned())
    };
    Other { room, before: "", then: (setup + &then).into(), expected: moved }
}

/// Of a pair of blocks the one with the barrier is told of what arrives in both.
fn multicast(ptx: &str) -> String {
    let then = if ptx.contains(".cta_group::2") {
        load_into_other_block!(
            "$ECHO let size = 2 * size;",
            "; sync_cluster(); let size = size / 2; let done = done & same(echo, home, size)"
        )
    } else {
        load_into_other_block!(
            "$ECHO mbarrier_arrive_expect_tx(second, size);",
            " & waited(second) & same(echo, home, size)"
        )
    };
    then.replace("$ECHO", ECHO)
}

const SRC: &str = "let src = SharedPtr::new(p.cast::<u32>());";

/// Elements of a box, of all four rows where they are gathered.
fn elements(kind: MapKind) -> usize {
    if kind.im2col {
        let (.., channels, pixels) = MapKind::COLUMN;
        return (channels * pixels) as usize;
    }
    let tile = &kind.tile()[..kind.dimensions];
    let count: u32 = tile.iter().product();
    count as usize * if kind.by_rows { ROWS.len() } else { 1 }
}

fn moved(form: &Form, thread: usize, _: &[u8], to: &mut [u8]) {
    let kind = map_kind(form);
    let width = if kind.im2col { MapKind::COLUMN.2 } else { kind.tile()[0] } as usize;
    for at in 0..elements(kind) {
        let (column, row) = (at % width, at / width);
        let x = (APART * thread + column).checked_sub(first(writes(form)));
        let outside = kind.im2col && pixel(kind, row, writes(form)).is_none();
        let x = x.filter(|_| !outside);
        let value = x.map_or(0, |x| if writes(form) { written(form, thread, at) } else { element(kind, x, row) });
        to[4 * at..4 * at + 4].copy_from_slice(&value.to_le_bytes());
    }
    to[96..104].copy_from_slice(&1u64.to_le_bytes());
}

/// Where a pixel of a column is, each place behind the channels; none outside of the image. Of the five pixels two are before the end of
/// the box of pixels, which has places -1 to 2, or 0 to 2 where it is written, and three behind it.
fn pixel(kind: MapKind, at: usize, is_written: bool) -> Option<[usize; 4]> {
    let mut place = PIXEL.map(|place| place as i64);
    place[0] = if is_written { [1, 2, 0, 1, 2] } else { [1, 2, -1, 0, 1] }[at];
    place[1] += i64::from(at > 1);
    let spatial = kind.dimensions - 2;
    let moved = if is_written { 0 } else { MOVED };
    place[..spatial].iter_mut().for_each(|place| *place += moved);
    let is_inside = place[..kind.dimensions - 1].iter().all(|place| (0..4).contains(place));
    is_inside.then(|| place.map(|place| place as usize))
}

/// The element of the tensor, in a row of the box, or of a pixel of the column.
fn element(kind: MapKind, x: usize, row: usize) -> u32 {
    let mut others = PLACE;
    if let Some(pixel) = kind.im2col.then(|| pixel(kind, row, false)).flatten() {
        let places = pixel.iter().zip(&STRIDES[1..]).take(kind.dimensions - 1);
        return (x as u64 + places.map(|(place, stride)| *place as u64 * stride).sum::<u64>()) as u32 + 1;
    }
    others[0] = if kind.by_rows { ROWS[row] } else { PLACE[0] + row };
    let places = others.iter().zip(&STRIDES[1..]).take(kind.dimensions - 1);
    let index = x as u64 + places.map(|(place, stride)| *place as u64 * stride).sum::<u64>();
    index as u32 + 1
}

/// What is in the tensor where the element of a box was written, and then changed.
fn written(form: &Form, thread: usize, at: usize) -> u32 {
    let (old, by) = (filled(thread, at, false), filled(thread, at, true));
    let ops = ["add", "min", "max", "inc", "dec", "and", "or", "xor"];
    let Some(op) = ops.iter().find(|op| form.ptx().contains(&format!(".{op}."))) else { return old };
    let ty = if ops[5..].contains(op) { "b32" } else { "u32" };
    let mut value = old.to_le_bytes();
    change_all(&format!("red.{op}.{ty}"), &mut value, &by.to_le_bytes());
    u32::from_le_bytes(value)
}
