//! The bytes of a box of a tensor: where each piece of it is in global memory, and where in shared memory.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use super::map::{Columns, TensorMap};

/// Why a box cannot be copied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// No GPU would do it.
    Wrong(String),
    /// A GPU would, but how it does is not known here.
    Unknown(String),
}

impl Refused {
    /// Why, in words.
    pub fn text(self) -> String {
        match self {
            Refused::Wrong(text) => text,
            Refused::Unknown(text) => format!("{text}: what a GPU does there is not known here"),
        }
    }
}

type Result<T> = core::result::Result<T, Refused>;

fn unknown<T>(text: &str) -> Result<T> {
    Err(Refused::Unknown(text.to_owned()))
}

/// Bytes that are together in both memories.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Bytes from the beginning of the box in shared memory, before a swizzle.
    pub at: u64,
    /// Its address in global memory; none outside of the tensor.
    pub global: Option<u64>,
    /// How many.
    pub bytes: usize,
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
}

/// Where a copy is in a tensor.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// What it takes.
    pub mode: Mode,
    /// The coordinates, the fastest dimension first. Of four rows the column, then the rows.
    pub coordinates: &'a [i32],
    /// Of columns: by how many pixels each pixel is moved in each dimension that has pixels; none of a store.
    pub offsets: &'a [u16],
}

impl Place<'_> {
    /// Dimensions of the tensor.
    pub fn dimensions(&self) -> usize {
        match self.mode {
            Mode::Tile | Mode::Columns => self.coordinates.len(),
            Mode::Rows => 2,
        }
    }
}

/// Bytes that a swizzle leaves together.
const CHUNK: u64 = 16;

/// The pieces of the box at a place, and its bytes.
pub fn pieces(map: &TensorMap, place: &Place<'_>) -> Result<(Vec<Piece>, usize)> {
    let (rank, bytes) = known(map)?;
    let by_rows = place.mode == Mode::Rows;
    let coordinates: Vec<i64> = place.coordinates.iter().copied().map(i64::from).collect();
    if coordinates.len() != if by_rows { 5 } else { rank } || by_rows && rank != 2 {
        let text = format!("a map of {rank} dimensions, for {} coordinates", coordinates.len());
        return Err(Refused::Wrong(text));
    }
    if (place.mode == Mode::Columns) != map.columns.is_some() {
        let [map, copy] = if map.columns.is_some() { ["columns", "a box"] } else { ["a box", "columns"] };
        return Err(Refused::Wrong(format!("a map of {map}, for a copy of {copy}")));
    }
    if let Some(columns) = &map.columns {
        return column(map, columns, &coordinates, place.offsets, bytes);
    }
    if by_rows && map.tile[1] != 1 {
        let text = format!("a map whose box has {} rows, for four rows: boxDim[1] must be 1", map.tile[1]);
        return Err(Refused::Wrong(text));
    }
    let inner = map.tile[0] as usize * bytes;
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
        let row = BoxRow { map, address, is_inside, at: row * inner as u64, first: coordinates[0], bytes };
        row.pieces(&mut all);
    }
    filled(map, all, rows as usize * inner)
}

/// The pixels of a column: from the first one on along the second dimension to the end of the box of pixels, and then from its beginning,
/// one further in the next dimension. The channels of each are together.
fn column(
    map: &TensorMap,
    columns: &Columns,
    coordinates: &[i64],
    offsets: &[u16],
    bytes: usize,
) -> Result<(Vec<Piece>, usize)> {
    let spatial = coordinates.len() - 2;
    let last = |d: usize| map.sizes[1 + d] as i64 - 1 + i64::from(columns.upper[d]);
    let mut pixel = coordinates[1..].to_vec();
    if (0..spatial).any(|d| !(i64::from(columns.lower[d])..=last(d)).contains(&pixel[d])) {
        return unknown("a column that begins outside of the box of pixels");
    }
    let inner = columns.channels as usize * bytes;
    let mut all = Vec::new();
    for at in 0..u64::from(columns.pixels) {
        let (mut address, mut is_inside) = (map.address, true);
        for (d, place) in pixel.iter().enumerate() {
            let place = place + i64::from(offsets.get(d).copied().unwrap_or_default());
            is_inside &= (0..map.sizes[1 + d] as i64).contains(&place);
            address = address.wrapping_add((place as u64).wrapping_mul(map.strides[d]));
        }
        BoxRow { map, address, is_inside, at: at * inner as u64, first: coordinates[0], bytes }.pieces(&mut all);
        pixel[0] += i64::from(map.steps[1]);
        for d in 0..spatial {
            if pixel[d] > last(d) {
                pixel[d] = columns.lower[d].into();
                pixel[d + 1] += i64::from(map.steps[d + 2]);
            }
        }
    }
    filled(map, all, columns.pixels as usize * inner)
}

/// The pieces, if it is known what is outside of the tensor.
fn filled(map: &TensorMap, all: Vec<Piece>, bytes: usize) -> Result<(Vec<Piece>, usize)> {
    if map.fill != 0 && all.iter().any(|piece| piece.global.is_none()) {
        return unknown("NaN outside of a tensor: its bits are not documented");
    }
    Ok((all, bytes))
}

/// The rank and the bytes of an element, if it is known here how such a tensor is copied.
fn known(map: &TensorMap) -> Result<(usize, usize)> {
    map.check().map_err(|why| Refused::Wrong(format!("the tensor map is wrong: {why}")))?;
    let Some((bytes, _)) = map.element() else { return unknown("a tensor of packed elements") };
    if map.interleave != 0 {
        return unknown("an interleaved tensor");
    }
    if map.place(0).is_none() {
        return unknown("a swizzle that flips halves");
    }
    if map.swizzle != 0 && bytes * (map.inner() as usize) < map.span() {
        return unknown("a swizzle that is wider than a row of the box");
    }
    Ok((map.rank as usize, bytes))
}

/// A row of a box.
struct BoxRow<'m> {
    map: &'m TensorMap,
    /// Where the tensor's row begins.
    address: u64,
    is_inside: bool,
    at: u64,
    /// The first element.
    first: i64,
    bytes: usize,
}

impl BoxRow<'_> {
    /// What is before the tensor, in it, and after it.
    fn pieces(&self, all: &mut Vec<Piece>) {
        let count = i64::from(self.map.inner());
        let inside = if self.is_inside { self.map.sizes[0] as i64 } else { 0 };
        let begin = (-self.first).clamp(0, count);
        let end = (inside - self.first).clamp(begin, count);
        for (from, to, is_inside) in [(0, begin, false), (begin, end, true), (end, count, false)] {
            let [from, to] = [from, to].map(|element| element as u64 * self.bytes as u64);
            let first = self.address.wrapping_add((self.first as u64).wrapping_mul(self.bytes as u64));
            let global = is_inside.then(|| first.wrapping_add(from));
            self.chunks(Piece { at: self.at + from, global, bytes: (to - from) as usize }, all);
        }
    }

    /// A swizzle moves each 16 bytes on their own.
    fn chunks(&self, piece: Piece, all: &mut Vec<Piece>) {
        let end = piece.at + piece.bytes as u64;
        let mut at = piece.at;
        while at < end {
            let next = if self.map.swizzle == 0 { end } else { end.min((at / CHUNK + 1) * CHUNK) };
            let global = piece.global.map(|global| global + (at - piece.at));
            all.push(Piece { at, global, bytes: (next - at) as usize });
            at = next;
        }
    }
}

#[cfg(test)]
mod tests {
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
        let (all, bytes) = pieces(map, &Place { mode, coordinates, offsets: &[] }).unwrap();
        assert_eq!(all.iter().map(|piece| piece.bytes).sum::<usize>(), bytes);
        all.into_iter().map(|piece| (piece.at, piece.global, piece.bytes)).collect()
    }

    #[test]
    fn a_box_may_hang_over_the_edge() {
        assert_eq!(found(&map(), &[4, 1], false), [(0, Some(0x1050), 16), (16, Some(0x1090), 16)]);
        let over = [(0, Some(0x10a0), 8), (8, None, 8), (16, None, 16)];
        assert_eq!(found(&map(), &[8, 2], false), over);
        assert_eq!(
            found(&map(), &[-3, -1], false),
            [(0, None, 12), (12, None, 4), (16, None, 12), (28, Some(0x1000), 4)]
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
        let columns = Columns { lower: [-1, 0, 0], upper: [-1, 0, 0], channels: 4, pixels: 5 };
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
            let place = Place { mode: Mode::Columns, coordinates, offsets };
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
                pieces(&map, &Place { mode: Mode::Tile, coordinates, offsets: &[] }).unwrap_err(),
                Refused::Unknown(_)
            )
        };
        assert!(is_gap(map().swizzled(3), &[0, 0]));
        assert!(!is_gap(map(), &[0]));
        assert!(!is_gap(images(), &[0, 0, 0, 0]));
        let place = Place { mode: Mode::Columns, coordinates: &[0, 2, 0, 0], offsets: &[0, 0] };
        assert!(matches!(pieces(&images(), &place), Err(Refused::Unknown(_))));
        assert!(is_gap(TensorMap { element: 7, fill: 1, ..map() }, &[8, 0]));
    }
}
