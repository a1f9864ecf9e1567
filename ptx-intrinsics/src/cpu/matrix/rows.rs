//! `ldmatrix` and `stmatrix`: a warp moves matrices whose rows of 16 bytes the lanes name.

/// An `ldmatrix` or `stmatrix`.
#[derive(Clone, Copy, Debug)]
pub struct Rows {
    /// It is an `ldmatrix`.
    pub loads: bool,
    /// Its address is one in shared memory.
    pub shared: bool,
    /// How many matrices it moves.
    pub matrices: usize,
    kind: Kind,
    packed: Packed,
}

/// Which bytes of a row in memory a lane has.
#[derive(Clone, Copy, Debug)]
enum Kind {
    /// `m8n8` of 16 bits, and `m8n16` of 8: four bytes of a row.
    Rows,
    /// `m8n8.trans`: a half of each of two rows.
    Halves,
    /// `m16n16.trans`, loaded: two registers, each a byte of each of four rows.
    Sixteen,
    /// `m16n8.trans`, stored: two bytes of each of two rows.
    Pairs,
}

/// How the elements of a row are in memory.
#[derive(Clone, Copy, Debug)]
enum Packed {
    Not,
    /// 16 elements of this number of bits, then padding. Each becomes a byte.
    Bits(usize),
}

/// Bytes of a row, which one lane names.
pub const ROW: usize = 16;

impl Rows {
    /// The instruction of these words.
    pub fn parse(words: &[&str]) -> Option<Rows> {
        let [name @ ("ldmatrix" | "stmatrix"), "sync", "aligned", shape, count @ ("x1" | "x2" | "x4"), rest @ ..] =
            words
        else {
            return None;
        };
        let (transposed, rest) = match rest {
            ["trans", rest @ ..] => (true, rest),
            rest => (false, rest),
        };
        let (shared, types) = match rest {
            ["shared" | "shared::cta", rest @ ..] => (true, rest),
            rest => (false, rest),
        };
        let loads = *name == "ldmatrix";
        let (kind, packed) = match (loads, *shape, transposed, types) {
            (_, "m8n8", false, ["b16"]) => (Kind::Rows, Packed::Not),
            (_, "m8n8", true, ["b16"]) => (Kind::Halves, Packed::Not),
            (true, "m16n16", true, ["b8"]) => (Kind::Sixteen, Packed::Not),
            (false, "m16n8", true, ["b8"]) => (Kind::Pairs, Packed::Not),
            (true, "m8n16", false, ["b8x16", packed]) => (Kind::Rows, Packed::parse(packed)?),
            (true, "m16n16", true, ["b8x16", packed]) => (Kind::Sixteen, Packed::parse(packed)?),
            _ => return None,
        };
        let rows = Rows { loads, shared, matrices: count[1..].parse().ok()?, kind, packed };
        (rows.matrices * rows.of_matrix() <= 32).then_some(rows)
    }

    /// How many registers of a lane one matrix has.
    pub fn registers(&self) -> usize {
        if matches!(self.kind, Kind::Sixteen) { 2 } else { 1 }
    }

    /// How many rows one matrix has in memory.
    pub fn of_matrix(&self) -> usize {
        8 * self.registers()
    }

    /// The row in memory, and the byte of that row, of byte `at` of a register of a lane.
    pub fn place(&self, lane: usize, register: usize, at: usize) -> (usize, usize) {
        let (group, own) = (lane / 4, lane % 4);
        match self.kind {
            Kind::Rows => (group, 4 * own + at),
            Kind::Halves => (2 * own + at / 2, 2 * group + at % 2),
            Kind::Sixteen => (4 * own + at, group + 8 * register),
            Kind::Pairs => (2 * own + at % 2, group + 8 * (at / 2)),
        }
    }

    /// A row as it is loaded, made of what is in memory.
    pub fn unpacked(&self, row: [u8; ROW]) -> [u8; ROW] {
        let Packed::Bits(bits) = self.packed else { return row };
        let all = u128::from_le_bytes(row);
        core::array::from_fn(|at| (all >> (at * bits)) as u8 & ((1 << bits) - 1))
    }
}

impl Packed {
    fn parse(word: &str) -> Option<Packed> {
        match word {
            "b6x16_p32" => Some(Packed::Bits(6)),
            "b4x16_p64" => Some(Packed::Bits(4)),
            _ => None,
        }
    }
}
