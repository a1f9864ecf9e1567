//! Which elements of a sparse matrix are there, and their metadata. Which thread has which ones is as CUTLASS's examples 15 and 62 have
//! it, whose results were right with it.

#[derive(Clone, Copy, Debug)]
pub(crate) struct Pattern {
    pub(crate) depth: usize,
    pub(crate) format: &'static str,
    /// Which threads of four have the metadata.
    pub(crate) threads: usize,
    pub(crate) is_ordered: bool,
}

impl Pattern {
    /// Elements that are together, and how many of those are a group of which half are there.
    pub(crate) fn groups(self) -> (usize, usize) {
        match self.format {
            "tf32" => (1, 2),
            "s4" | "u4" => (2, 4),
            _ => (1, 4),
        }
    }

    /// The places of a group that are there, in a row.
    pub(crate) fn there(self, row: usize, group: usize) -> Vec<usize> {
        let all: &[&[usize]] = match self.groups().1 {
            2 => &[&[0], &[1]],
            _ => &[&[0, 1], &[0, 2], &[0, 3], &[1, 2], &[1, 3], &[2, 3]],
        };
        let mut places = all[(row * 5 + group * 3 + row / 8) % all.len()].to_vec();
        if !self.is_ordered && (row + group).is_multiple_of(2) {
            places.reverse();
        }
        places
    }

    /// The metadata of a row.
    pub(crate) fn metadata(self, row: usize) -> u64 {
        let (together, group) = self.groups();
        let four = |places: Vec<usize>| match places[..] {
            [0] => 0b0100,
            [_] => 0b1110,
            ref places => places[0] as u64 | (places[1] as u64) << 2,
        };
        (0..self.depth / together / group).fold(0, |all, at| all | four(self.there(row, at)) << (4 * at))
    }

    /// Of each place that is stored in a row of A, the place along the depth.
    pub(crate) fn along(self, row: usize, stored: usize) -> usize {
        let (together, group) = self.groups();
        let of_group = together * group / 2;
        let (number, at) = (stored / of_group, stored % of_group);
        (number * group + self.there(row, number)[at / together]) * together + at % together
    }

    /// The metadata that a lane has, whose first row is that; of lanes that do not count, something else.
    pub(crate) fn word(self, lane: usize, group: usize) -> u32 {
        let own = lane % 4;
        let (together, all) = self.groups();
        match self.depth / together / all {
            8 if own / 2 == self.threads => {
                let half = |row: usize| (self.metadata(row) >> (16 * (own % 2))) as u32 & 0xffff;
                half(group) | half(group + 8) << 16
            }
            8 => 0xffff_ffff,
            _ => (self.metadata(group + own % 2 * 8) >> (32 * (own / 2))) as u32,
        }
    }
}
