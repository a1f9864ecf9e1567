//! The bytes of a box of a tensor: where each piece of it is in global memory, and where in shared memory.

use alloc::format;
use alloc::vec;
use alloc::vec::Vec;

use super::columns::{Along, Columns};
use super::map::TensorMap;
use super::refused::{Refused, Result, unknown};
use super::walk::pixels;

/// Bytes that are together in both memories.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Bytes from the beginning of the box in shared memory, before a swizzle.
    pub at: u64,
    /// Its address in global memory; none outside of the tensor.
    pub global: Option<u64>,
    /// How many.
    pub bytes: usize,
    /// Whether it is behind the end of a row, and written all the same: see [`pieces`].
    pub is_behind: bool,
    /// Whether it lies between packed elements, and no barrier counts it.
    pub is_padding: bool,
}

/// What a copy takes of a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// A box.
    Tile,
    /// Four rows of a matrix: `.tile::gather4` and `.tile::scatter4`.
    Rows,
    /// Columns of an image: `.im2col` and `.im2col_no_offs`.
    Columns,
    /// Columns along the width of an image: `.im2col::w`.
    Width,
    /// 128 pixels along the width of an image: `.im2col::w::128`.
    Width128,
}

impl Mode {
    /// What a map is for, where it says that; a box where it may be one of four rows too.
    pub fn of(map: &TensorMap) -> Mode {
        match map.columns.map(|columns| columns.along) {
            None => Mode::Tile,
            Some(Along::Image) => Mode::Columns,
            Some(Along::Width) => Mode::Width,
            Some(Along::Width128) => Mode::Width128,
        }
    }

    /// Whether a map is for it.
    pub fn suits(self, map: &TensorMap) -> bool {
        self == Mode::of(map) || self == Mode::Rows && map.columns.is_none()
    }

    /// What it takes.
    pub fn words(self) -> &'static str {
        match self {
            Mode::Tile | Mode::Rows => "a box",
            Mode::Columns => "columns",
            Mode::Width => "columns along the width",
            Mode::Width128 => "128 pixels along the width",
        }
    }
}

/// Where a copy is in a tensor.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// What it takes.
    pub mode: Mode,
    /// The coordinates, the fastest dimension first. Of four rows the column, then the rows.
    pub coordinates: &'a [i32],
    /// Of columns: by how many pixels each pixel is moved in each dimension that has pixels; none of a store. Of columns along the
    /// width the pixels of the halo, and by how many pixels each pixel is moved.
    pub offsets: &'a [u16],
    /// Whether the tensor is written or changed.
    pub writes: bool,
}

impl Place<'_> {
    /// Dimensions of the tensor.
    pub fn dimensions(&self) -> usize {
        match self.mode {
            Mode::Rows => 2,
            _ => self.coordinates.len(),
        }
    }
}

/// Bytes that a swizzle leaves together.
const CHUNK: u64 = 16;

/// The bytes at a multiple of which a copy begins in a row, and to a multiple of which a row is written.
const ROW_UNIT: i64 = 16;

/// The pieces of the box at a place, and its bytes.
///
/// A GPU ends a kernel with "illegal instruction" where a box does not begin at a multiple of 16 bytes of its row, and where a box that is
/// written has a negative coordinate. What is written of a row ends at a multiple of 16 bytes, behind the row's end if need be.
/// All of this was seen on an H100; it is not in the PTX ISA.
pub fn pieces(map: &TensorMap, place: &Place<'_>) -> Result<(Vec<Piece>, usize)> {
    let (rank, unit) = known(map)?;
    let by_rows = place.mode == Mode::Rows;
    let mut coordinates: Vec<i64> = place.coordinates.iter().copied().map(i64::from).collect();
    if coordinates.len() != if by_rows { 5 } else { rank } || by_rows && rank != 2 {
        let text = format!("a map of {rank} dimensions, for {} coordinates", coordinates.len());
        return Err(Refused::Wrong(text));
    }
    if !place.mode.suits(map) {
        return Err(Refused::Wrong(format!(
            "a map of {}, for a copy of {}",
            Mode::of(map).words(),
            place.mode.words()
        )));
    }
    let map = &unit.map(map, &mut coordinates, place)?;
    let bytes = unit.bytes;
    begins_well(&coordinates, bytes, place)?;
    if let Some(columns) = &map.columns {
        return column(map, columns, &coordinates, place, bytes);
    }
    if by_rows && map.tile[1] != 1 {
        let text = format!("a map whose box has {} rows, for four rows: boxDim[1] must be 1", map.tile[1]);
        return Err(Refused::Wrong(text));
    }
    let inner = map.tile[0] as usize * unit.shared;
    let mut all = Vec::new();
    let counts: Vec<u64> = match by_rows {
        true => vec![4],
        false => (1..rank).map(|d| u64::from(map.tile[d].div_ceil(map.steps[d].max(1)))).collect(),
    };
    let rows: u64 = counts.iter().product();
    for row in 0..rows {
        let mut rest = row;
        let (mut address, mut is_inside) = (map.address, true);
        for (at, count) in counts.iter().enumerate() {
            let step = (rest % count) as i64;
            rest /= count;
            let place = match by_rows {
                true => coordinates[1 + step as usize],
                false => coordinates[1 + at] + step * i64::from(map.steps[1 + at]),
            };
            is_inside &= (0..map.sizes[1 + at] as i64).contains(&place);
            address = address.wrapping_add((place as u64).wrapping_mul(map.strides[at]));
        }
        let (at, first) = (row * pitch(map, inner), coordinates[0]);
        let row = BoxRow { map, address, is_inside, at, first, bytes, writes: place.writes };
        if unit.shared == bytes { row.pieces(&mut all) } else { unit.padded(&row, &mut all) }
    }
    // A barrier does not count what lies between packed elements: CUTLASS does not expect it.
    Ok((all, rows as usize * map.tile[0] as usize * bytes))
}

fn begins_well(coordinates: &[i64], bytes: usize, place: &Place<'_>) -> Result<()> {
    let first = coordinates[0] * bytes as i64;
    if first % ROW_UNIT != 0 {
        let text = format!("a box that begins {first} bytes into a row, which must be a multiple of {ROW_UNIT}");
        return Err(Refused::Wrong(text));
    }
    match coordinates.iter().find(|coordinate| place.writes && place.mode != Mode::Rows && **coordinate < 0) {
        Some(coordinate) => Err(Refused::Wrong(format!("a box that is written at the coordinate {coordinate}"))),
        None => Ok(()),
    }
}

/// From one row of a box to the next in shared memory: a swizzle moves bytes in rows of its own width.
fn pitch(map: &TensorMap, inner: usize) -> u64 {
    if map.swizzle == 0 { inner as u64 } else { map.span().max(inner) as u64 }
}

/// The pieces of a column. The channels of each pixel are together.
fn column(
    map: &TensorMap,
    columns: &Columns,
    coordinates: &[i64],
    place: &Place<'_>,
    bytes: usize,
) -> Result<(Vec<Piece>, usize)> {
    let inner = columns.channels as usize * bytes;
    let pixels = pixels(map, columns, &coordinates[1..], place.offsets)?;
    let mut all = Vec::new();
    for (at, pixel) in pixels.iter().enumerate() {
        if let (true, Some(begin)) = (place.writes, pixel.iter().find(|begin| **begin < 0)) {
            return Err(Refused::Wrong(format!("a column that writes a pixel at {begin}")));
        }
        let (at, first) = (at as u64 * pitch(map, inner), coordinates[0]);
        let (address, is_inside) = pixel_at(map, pixel);
        BoxRow { map, address, is_inside, at, first, bytes, writes: place.writes }.pieces(&mut all);
    }
    Ok((all, pixels.len() * inner))
}

/// Where the channels of a pixel begin, and whether it is in the image.
fn pixel_at(map: &TensorMap, pixel: &[i64]) -> (u64, bool) {
    let (mut address, mut is_inside) = (map.address, true);
    for (d, place) in pixel.iter().enumerate() {
        is_inside &= (0..map.sizes[1 + d] as i64).contains(place);
        address = address.wrapping_add((*place as u64).wrapping_mul(map.strides[d]));
    }
    (address, is_inside)
}

/// The rank and the unit of elements, if it is known here how such a tensor is copied.
fn known(map: &TensorMap) -> Result<(usize, Unit)> {
    map.check().map_err(|why| Refused::Wrong(format!("the tensor map is wrong: {why}")))?;
    let Some(unit) = Unit::of(map) else { return unknown("a tensor of such elements") };
    if map.interleave != 0 {
        return unknown("an interleaved tensor");
    }
    // An H100's driver makes such maps. The documentation of CUDA 13.5 forbids them, and kernels of TensorRT-LLM avoid them for what they do.
    if map.sizes[..map.rank as usize].iter().any(|size| *size > 1 << 31) {
        return unknown("a tensor of more than 2^31 elements in a dimension");
    }
    if map.place(0).is_none() {
        return unknown("a swizzle that flips halves");
    }
    Ok((map.rank as usize, unit))
}

/// Elements that are together: one, or some of less than eight bits.
#[derive(Clone, Copy)]
struct Unit {
    elements: u32,
    /// What it has in global memory, and in shared memory.
    bytes: usize,
    shared: usize,
}

impl Unit {
    fn of(map: &TensorMap) -> Option<Unit> {
        let (elements, bytes, shared) = match (map.element(), map.element) {
            (Some((bytes, _)), _) => (1, bytes, bytes),
            // `CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B`, `16U4_ALIGN16B`, `16U6_ALIGN16B`
            (_, 13) => (2, 1, 1),
            (_, 14) => (16, 8, 16),
            (_, 15) => (16, 12, 16),
            _ => return None,
        };
        Some(Unit { elements, bytes, shared })
    }

    /// The map and the coordinates in units.
    fn map(self, map: &TensorMap, coordinates: &mut [i64], place: &Place<'_>) -> Result<TensorMap> {
        let mut map = *map;
        if self.elements == 1 {
            return Ok(map);
        }
        if map.columns.is_some() {
            return unknown("columns of packed elements");
        }
        if place.writes && self.shared != self.bytes {
            return unknown("a store of elements that are packed in global memory only");
        }
        let elements = u64::from(self.elements);
        let all = [coordinates[0] as u64, map.sizes[0], map.tile[0].into()];
        if let Some(number) = all.iter().find(|number| **number % elements != 0) {
            let text =
                format!("{} packed elements along a row, which have to be a multiple of {elements}", *number as i64);
            return Err(Refused::Wrong(text));
        }
        coordinates[0] /= elements as i64;
        map.sizes[0] /= elements;
        map.tile[0] /= self.elements;
        Ok(map)
    }

    /// The pieces of a row whose units are longer in shared memory.
    fn padded(self, row: &BoxRow<'_>, all: &mut Vec<Piece>) {
        let mut plain = Vec::new();
        BoxRow { map: &TensorMap { swizzle: 0, ..*row.map }, at: 0, ..*row }.pieces(&mut plain);
        for piece in plain {
            for at in (0..piece.bytes).step_by(self.bytes) {
                let unit = row.at + (piece.at + at as u64) / self.bytes as u64 * self.shared as u64;
                let global = piece.global.map(|global| global + at as u64);
                all.push(Piece { at: unit, global, bytes: self.bytes, is_behind: piece.is_behind, is_padding: false });
                let (rest, bytes) = (unit + self.bytes as u64, self.shared - self.bytes);
                all.push(Piece { at: rest, global: None, bytes, is_behind: false, is_padding: true });
            }
        }
    }
}

/// A row of a box.
#[derive(Clone, Copy)]
struct BoxRow<'m> {
    map: &'m TensorMap,
    /// Where the tensor's row begins.
    address: u64,
    is_inside: bool,
    at: u64,
    /// The first element.
    first: i64,
    bytes: usize,
    writes: bool,
}

impl BoxRow<'_> {
    /// What is before the tensor, in it, behind the end of its row, and after it.
    fn pieces(&self, all: &mut Vec<Piece>) {
        let (count, size) = (i64::from(self.map.inner()), self.bytes as i64);
        let inside = if self.is_inside { self.map.sizes[0] as i64 } else { 0 };
        let whole = (inside * size + ROW_UNIT - 1) / ROW_UNIT * ROW_UNIT / size;
        let begin = (-self.first).clamp(0, count);
        let end = (inside - self.first).clamp(begin, count);
        let last = if self.writes { (whole - self.first).clamp(end, count) } else { end };
        for (from, to, is_touched) in [(0, begin, false), (begin, end, true), (end, last, true), (last, count, false)] {
            let is_behind = is_touched && from == end;
            let [from, to] = [from, to].map(|element| element as u64 * self.bytes as u64);
            let first = self.address.wrapping_add((self.first as u64).wrapping_mul(self.bytes as u64));
            let global = is_touched.then(|| first.wrapping_add(from));
            self.chunks(
                Piece { at: self.at + from, global, bytes: (to - from) as usize, is_behind, is_padding: false },
                all,
            );
        }
    }

    /// A swizzle moves each 16 bytes on their own.
    fn chunks(&self, piece: Piece, all: &mut Vec<Piece>) {
        let end = piece.at + piece.bytes as u64;
        let mut at = piece.at;
        while at < end {
            let next = if self.map.swizzle == 0 { end } else { end.min((at / CHUNK + 1) * CHUNK) };
            let global = piece.global.map(|global| global + (at - piece.at));
            all.push(Piece { at, global, bytes: (next - at) as usize, is_behind: piece.is_behind, is_padding: false });
            at = next;
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::borrow::ToOwned;

    use super::*;

    fn map() -> TensorMap {
        TensorMap {
            rank: 2,
            element: 2,
            address: 0x1000,
            sizes: [10, 3, 0, 0, 0],
            strides: [64, 0, 0, 0],
            tile: [4, 2, 0, 0, 0],
            steps: [1, 1, 0, 0, 0],
            ..TensorMap::default()
        }
    }

    fn found(map: &TensorMap, coordinates: &[i32], by_rows: bool) -> Vec<(u64, Option<u64>, usize)> {
        let mode = if by_rows { Mode::Rows } else { Mode::Tile };
        let (all, bytes) = pieces(map, &Place { mode, coordinates, offsets: &[], writes: false }).unwrap();
        assert_eq!(all.iter().map(|piece| piece.bytes).sum::<usize>(), bytes);
        all.into_iter().map(|piece| (piece.at, piece.global, piece.bytes)).collect()
    }

    #[test]
    fn a_box_may_hang_over_the_edge() {
        assert_eq!(found(&map(), &[4, 1], false), [(0, Some(0x1050), 16), (16, Some(0x1090), 16)]);
        let over = [(0, Some(0x10a0), 8), (8, None, 8), (16, None, 16)];
        assert_eq!(found(&map(), &[8, 2], false), over);
        assert_eq!(
            found(&TensorMap { tile: [8, 2, 0, 0, 0], ..map() }, &[-4, -1], false),
            [(0, None, 16), (16, None, 16), (32, None, 16), (48, Some(0x1000), 16)]
        );
    }

    #[test]
    fn rows_are_gathered_and_steps_skip() {
        let rows = TensorMap { tile: [4, 1, 0, 0, 0], ..map() };
        let gathered = [(0, Some(0x1080), 16), (16, Some(0x1000), 16), (32, None, 16), (48, Some(0x1040), 16)];
        assert_eq!(found(&rows, &[0, 2, 0, 3, 1], true), gathered);
        let steps = TensorMap { tile: [4, 3, 0, 0, 0], steps: [1, 2, 0, 0, 0], ..map() };
        assert_eq!(found(&steps, &[0, 0], false), [(0, Some(0x1000), 16), (16, Some(0x1080), 16)]);
    }

    /// Images of 3 × 2 pixels of 8 channels.
    fn images() -> TensorMap {
        let columns = Columns { lower: [-1, 0, 0], upper: [-1, 0, 0], channels: 4, pixels: 5, ..Columns::default() };
        TensorMap {
            rank: 4,
            element: 2,
            address: 0x1000,
            sizes: [8, 3, 2, 2, 0],
            strides: [0x20, 0x100, 0x400, 0],
            steps: [1; 5],
            columns: Some(columns),
            ..TensorMap::default()
        }
    }

    #[test]
    fn a_column_goes_through_the_box_of_pixels() {
        let column = |map: &TensorMap, coordinates: &[i32], offsets: &[u16]| -> Vec<Option<u64>> {
            let place = Place { mode: Mode::Columns, coordinates, offsets, writes: false };
            let (all, bytes) = pieces(map, &place).unwrap();
            assert_eq!(bytes, 5 * 16);
            let whole = all.into_iter().filter(|piece| piece.bytes > 0);
            whole
                .enumerate()
                .map(|(at, piece)| {
                    assert_eq!(piece.at, 16 * at as u64);
                    piece.global
                })
                .collect()
        };
        // The box of pixels is -1 to 1 in the second dimension, and 0 to 1 in the third.
        assert_eq!(
            column(&images(), &[4, 1, 0, 0], &[1, 0]),
            [Some(0x1050), Some(0x1110), Some(0x1130), Some(0x1150), Some(0x1410)]
        );
        // Without an offset the pixels at -1 are outside, and the last image has none behind it.
        assert_eq!(column(&images(), &[4, 0, 1, 1], &[]), [Some(0x1510), Some(0x1530), None, None, None]);
        let steps = TensorMap { steps: [1, 2, 1, 1, 1], ..images() };
        assert_eq!(column(&steps, &[0, -1, 0, 0], &[1, 1]), [Some(0x1100), Some(0x1140), None, None, Some(0x1500)]);
    }

    #[test]
    fn what_is_not_known_is_a_gap() {
        let is_gap = |map: TensorMap, coordinates: &[i32]| {
            matches!(
                pieces(&map, &Place { mode: Mode::Tile, coordinates, offsets: &[], writes: false }).unwrap_err(),
                Refused::Unknown(_)
            )
        };
        let (sizes, tile) = ([10, 3, 2, 0, 0], [4, 2, 1, 0, 0]);
        let deep = TensorMap { rank: 3, interleave: 1, sizes, tile, steps: [1; 5], ..map() };
        assert!(is_gap(deep, &[0, 0, 0]));
        assert!(is_gap(TensorMap { interleave: 2, ..deep }.swizzled(3), &[0, 0, 0]));
        let long = |size| TensorMap { sizes: [10, size, 0, 0, 0], ..map() };
        assert!(is_gap(long((1 << 31) + 1), &[0, 0]));
        assert_eq!(found(&long(1 << 31), &[4, 1], false), found(&map(), &[4, 1], false));
        assert!(!is_gap(map(), &[0]));
        assert!(!is_gap(images(), &[0, 0, 0, 0]));
    }

    #[test]
    fn packed_elements_may_be_apart_in_shared_memory() {
        let packed = |element| TensorMap { element, sizes: [128, 3, 0, 0, 0], tile: [32, 1, 0, 0, 0], ..map() };
        assert_eq!(found(&packed(13), &[32, 1], false), [(0, Some(0x1050), 16)]);
        let place = Place { mode: Mode::Tile, coordinates: &[64, 0], offsets: &[], writes: false };
        let (all, bytes) = pieces(&packed(15), &place).unwrap();
        let all: Vec<_> = all.iter().map(|piece| (piece.at, piece.global, piece.bytes, piece.is_padding)).collect();
        let six = [(0, Some(0x1030), 12), (12, None, 4), (16, Some(0x103c), 12), (28, None, 4)];
        assert_eq!(all, six.map(|(at, global, bytes)| (at, global, bytes, global.is_none())));
        assert_eq!(bytes, 24, "a barrier does not count what lies between");
        assert!(matches!(pieces(&packed(14), &Place { writes: true, ..place }), Err(Refused::Unknown(_))));
    }

    /// As an H100 does it.
    #[test]
    fn what_a_gpu_ends_a_kernel_for_is_named() {
        let told = |map: &TensorMap, mode: Mode, coordinates: &[i32], writes: bool| {
            pieces(map, &Place { mode, coordinates, offsets: &[], writes }).map_err(Refused::text).err()
        };
        let first = Some("a box that begins 20 bytes into a row, which must be a multiple of 16".to_owned());
        assert_eq!(told(&map(), Mode::Tile, &[5, 0], false), first);
        let negative = Some("a box that is written at the coordinate -4".to_owned());
        assert_eq!(told(&map(), Mode::Tile, &[-4, 0], true), negative);
        assert_eq!(told(&map(), Mode::Tile, &[-4, 0], false), None);
        let before = Some("a column that writes a pixel at -1".to_owned());
        assert_eq!(told(&images(), Mode::Columns, &[0, 1, 0, 0], true), before);
        let outside = Some("a column that begins outside of the box of pixels".to_owned());
        assert_eq!(told(&images(), Mode::Columns, &[0, 2, 0, 0], false), outside);
    }

    /// Rows of 40 bytes: as an H100 writes them, they end at a multiple of 16.
    #[test]
    fn a_row_is_written_to_a_multiple_of_sixteen_bytes() {
        let place = |writes| Place { mode: Mode::Tile, coordinates: &[8, 0], offsets: &[], writes };
        let row = |writes| -> Vec<(u64, Option<u64>, usize, bool)> {
            let all = pieces(&TensorMap { tile: [8, 1, 0, 0, 0], ..map() }, &place(writes)).unwrap().0;
            all.into_iter().map(|piece| (piece.at, piece.global, piece.bytes, piece.is_behind)).collect()
        };
        assert_eq!(row(false), [(0, Some(0x1020), 8, false), (8, None, 24, false)]);
        assert_eq!(row(true), [(0, Some(0x1020), 8, false), (8, Some(0x1028), 8, true), (16, None, 16, false)]);
    }

    /// A box of three rows of 16 bytes, in rows of 64.
    #[test]
    fn a_swizzle_that_is_wider_than_a_row_leaves_room() {
        let narrow = TensorMap { tile: [4, 3, 0, 0, 0], ..map().swizzled(2) };
        let (all, bytes) =
            pieces(&narrow, &Place { mode: Mode::Tile, coordinates: &[0, 0], offsets: &[], writes: false }).unwrap();
        assert_eq!((all.iter().map(|piece| piece.at).collect::<Vec<_>>(), bytes), ([0, 64, 128].into(), 48));
    }
}
