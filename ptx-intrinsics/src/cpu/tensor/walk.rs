//! The pixels of a column of an image, in the order in which a copy goes through them.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::vec::Vec;

use super::columns::{Along, Columns};
use super::map::TensorMap;
use super::refused::{Refused, Result, unknown};

/// A pixel: its place in each dimension behind the channels.
type Pixel = Vec<i64>;

/// The pixels of the column that begins at a pixel.
pub(super) fn pixels(map: &TensorMap, columns: &Columns, begin: &[i64], offsets: &[u16]) -> Result<Vec<Pixel>> {
    match columns.along {
        Along::Image => through_box(map, columns, begin, offsets),
        Along::Width | Along::Width128 => {
            let &[halo, offset] = offsets else {
                return Err(Refused::Wrong("no halo and no offset, for columns along the width".to_owned()));
            };
            Width::of(map, columns, begin, offset)?.pixels(columns, halo)
        }
    }
}

/// The last place of the box of pixels in a dimension.
fn last(map: &TensorMap, columns: &Columns, d: usize) -> i64 {
    map.sizes[1 + d] as i64 - 1 + i64::from(columns.upper[d])
}

/// From the first pixel on along the second dimension to the end of the box of pixels, and then from its beginning, one further in the
/// next dimension.
fn through_box(map: &TensorMap, columns: &Columns, begin: &[i64], offsets: &[u16]) -> Result<Vec<Pixel>> {
    let spatial = begin.len() - 1;
    if (0..spatial).any(|d| !(i64::from(columns.lower[d])..=last(map, columns, d)).contains(&begin[d])) {
        return Err(Refused::Wrong("a column that begins outside of the box of pixels".to_owned()));
    }
    let mut pixel = begin.to_vec();
    let mut all = Vec::new();
    for _ in 0..columns.pixels {
        let moved = |(d, place): (usize, &i64)| place + i64::from(offsets.get(d).copied().unwrap_or_default());
        all.push(pixel.iter().enumerate().map(moved).collect());
        pixel[0] += i64::from(map.steps[1]);
        for d in 0..spatial {
            if pixel[d] > last(map, columns, d) {
                pixel[d] = columns.lower[d].into();
                pixel[d + 1] += i64::from(map.steps[d + 2]);
            }
        }
    }
    Ok(all)
}

/// The pixels of one row of each image, from the first one on to the end of the box, and then from the box's beginning in the next image.
struct Width<'m> {
    map: &'m TensorMap,
    /// The first pixel, moved by the offset.
    begin: Pixel,
    /// The box, moved by the offset.
    lower: i64,
    upper: i64,
}

impl<'m> Width<'m> {
    fn of(map: &'m TensorMap, columns: &Columns, begin: &[i64], offset: u16) -> Result<Width<'m>> {
        if offset >= 32 {
            return Err(Refused::Wrong(format!("an offset of {offset} along the width: 0 to 31 are possible")));
        }
        let mut begin = begin.to_vec();
        begin[0] += i64::from(offset);
        let [lower, upper] =
            [columns.lower[0].into(), last(map, columns, 0)].map(|corner: i64| corner + i64::from(offset));
        // It may begin before the box.
        match begin[0] > upper {
            true => Err(Refused::Wrong("a column that begins behind the box of pixels".to_owned())),
            false => Ok(Width { map, begin, lower, upper }),
        }
    }

    /// The column with its halo: of 128 pixels after each 32, and of others after the last one.
    fn pixels(&self, columns: &Columns, halo: u16) -> Result<Vec<Pixel>> {
        let (count, group, halos) = match columns.along {
            Along::Width128 => (128, 32, 32),
            _ => (columns.count() as usize, columns.count() as usize, 512),
        };
        if halo >= halos {
            return Err(Refused::Wrong(format!("a halo of {halo} pixels: 0 to {} are possible", halos - 1)));
        }
        let halo = usize::from(halo);
        let all = self.walk(count + halo);
        let mut column = Vec::with_capacity(count + count / group * halo);
        for main in (0..count).step_by(group) {
            let behind = main + group;
            column.extend_from_slice(&all[main..behind]);
            self.is_halo_known(&all[behind - 1], &all[behind..behind + halo])?;
            column.extend_from_slice(&all[behind..behind + halo]);
        }
        Ok(column)
    }

    fn walk(&self, count: usize) -> Vec<Pixel> {
        let image = self.begin.len() - 1;
        let mut pixel = self.begin.clone();
        let mut all = Vec::with_capacity(count);
        for _ in 0..count {
            all.push(pixel.clone());
            pixel[0] += self.step();
            if pixel[0] > self.upper {
                pixel[0] = self.lower;
                pixel[image] += 1;
            }
        }
        all
    }

    fn step(&self) -> i64 {
        self.map.steps[1].into()
    }

    /// The ISA says how many pixels a halo has. It does not say whether one at the end of the box goes on behind it or in the next image,
    /// where the column would go on. So a halo is known where both are the same: within the box, and outside of the tensor.
    fn is_halo_known(&self, last: &[i64], halo: &[Pixel]) -> Result<()> {
        let is_outside = |pixel: &[i64]| {
            pixel.iter().zip(&self.map.sizes[1..]).any(|(place, size)| !(0..*size as i64).contains(place))
        };
        for (at, next) in halo.iter().enumerate() {
            let mut straight = last.to_vec();
            straight[0] += self.step() * (1 + at as i64);
            if straight != *next && !(is_outside(&straight) && is_outside(next)) {
                return unknown("a halo that passes the end of the box of pixels");
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Images of 9 × 7 pixels, as in the ISA's first example.
    fn map(along: Along, pixels: u32) -> TensorMap {
        let columns = Columns { channels: 16, pixels, along, ..Columns::default() };
        TensorMap { rank: 4, sizes: [128, 9, 7, 64, 0], steps: [1; 5], columns: Some(columns), ..TensorMap::default() }
    }

    fn walked(map: &TensorMap, begin: &[i64], offsets: &[u16]) -> Result<Vec<[i64; 3]>> {
        let all = pixels(map, &map.columns.unwrap(), begin, offsets)?;
        Ok(all.into_iter().map(|pixel| pixel.try_into().unwrap()).collect())
    }

    #[test]
    fn a_column_along_the_width_stays_in_its_row() {
        let all = walked(&map(Along::Width, 10), &[2, 3, 0], &[2, 0]).unwrap();
        let first = (2..9).map(|w| [w, 3, 0]);
        // Ten pixels, and the halo of two.
        assert_eq!(all, first.chain((0..5).map(|w| [w, 3, 1])).collect::<Vec<_>>());
    }

    #[test]
    fn of_128_pixels_a_halo_is_after_each_32() {
        let wide = TensorMap { sizes: [128, 200, 7, 64, 0], ..map(Along::Width128, 0) };
        let all = walked(&wide, &[5, 3, 0], &[3, 1]).unwrap();
        let groups = (0..4).flat_map(|group| (0..35).map(move |at| [6 + 32 * group + at, 3, 0]));
        assert_eq!(all, groups.collect::<Vec<_>>());
    }

    /// The second set of examples: each buffer has the pixels of one tap of a filter of three, at every second pixel.
    #[test]
    fn an_offset_moves_the_box_too() {
        let columns = Columns { lower: [-1, 0, 0], channels: 16, pixels: 5, along: Along::Width, ..Columns::default() };
        let steps = [1, 2, 1, 1, 1];
        let map = TensorMap { columns: Some(columns), steps, sizes: [128, 5, 7, 64, 0], ..map(Along::Width, 5) };
        let of = |offsets| {
            walked(&map, &[-1, 2, 0], offsets).unwrap().into_iter().map(|[w, _, n]| (w, n)).collect::<Vec<_>>()
        };
        assert_eq!(of(&[1, 0]), [(-1, 0), (1, 0), (3, 0), (-1, 1), (1, 1), (3, 1)]);
        assert_eq!(of(&[0, 1]), [(0, 0), (2, 0), (4, 0), (0, 1), (2, 1)]);
    }

    #[test]
    fn it_may_begin_before_the_box_and_not_behind_it() {
        let columns = Columns { lower: [2, 0, 0], along: Along::Width, pixels: 3, channels: 16, ..Columns::default() };
        let map = TensorMap { columns: Some(columns), ..map(Along::Width, 3) };
        assert_eq!(walked(&map, &[0, 1, 0], &[0, 0]).unwrap(), [[0, 1, 0], [1, 1, 0], [2, 1, 0]]);
        assert_eq!(walked(&map, &[8, 1, 0], &[0, 0]).unwrap(), [[8, 1, 0], [2, 1, 1], [3, 1, 1]]);
        let told = |begin: i64, offsets: &[u16]| walked(&map, &[begin, 1, 0], offsets).unwrap_err();
        let wrong = |text: &str| Refused::Wrong(text.to_owned());
        assert_eq!(told(9, &[0, 0]), wrong("a column that begins behind the box of pixels"));
        assert_eq!(told(0, &[512, 0]), wrong("a halo of 512 pixels: 0 to 511 are possible"));
        assert_eq!(told(0, &[0, 32]), wrong("an offset of 32 along the width: 0 to 31 are possible"));
        assert_eq!(told(0, &[]), wrong("no halo and no offset, for columns along the width"));
    }

    #[test]
    fn a_halo_behind_the_box_is_known_only_outside_of_the_tensor() {
        let gap = Refused::Unknown("a halo that passes the end of the box of pixels".to_owned());
        assert_eq!(walked(&map(Along::Width, 7), &[2, 3, 0], &[1, 0]), Err(gap));
        // The next image begins with a pixel before it.
        let columns = Columns { lower: [-1, 0, 0], ..map(Along::Width, 7).columns.unwrap() };
        let padded = TensorMap { columns: Some(columns), ..map(Along::Width, 7) };
        assert_eq!(walked(&padded, &[2, 3, 0], &[1, 0]).unwrap()[7], [-1, 3, 1]);
        // There is none behind the last one.
        assert_eq!(walked(&map(Along::Width, 7), &[2, 3, 63], &[1, 0]).unwrap()[7], [0, 3, 64]);
    }
}
