//! What an address is in, in words.

use super::checks::Checks;
use super::pieces::Piece;
use super::tensor::in_tensor;
use crate::memory::spaces::{Named, Owner, PIECE, is_shared, owner, shared_of};

/// What is farther from every piece belongs to none.
const NEAR: u64 = 1 << 24;

/// So far below zero an index is looked for that has wrapped.
const PAST: u64 = 4096;

impl Checks {
    /// What an address is in.
    pub(crate) fn place_of(&self, address: u64) -> String {
        match owner(address, self.cluster as usize) {
            (Owner::Shared(block), at) => self.in_shared(block, at),
            (Owner::Tensor(block), at) => in_tensor(block, at),
            (Owner::Local(_), at) => format!("byte {at} of its local memory"),
            (Owner::Parameters, at) => format!("byte {at} of the parameters"),
            (Owner::Module, at) => format!("byte {at} of the module's variables"),
            (Owner::Nobody, at) if is_shared(address) => {
                format!("byte {at} of the shared memory of a block that the cluster does not have")
            }
            _ => self.near(address),
        }
    }

    fn in_shared(&self, block: usize, at: u64) -> String {
        let variable = self.variables.iter().find(|variable| at.wrapping_sub(variable.at) < variable.bytes);
        let end = self.variables.iter().map(|variable| variable.at + variable.bytes).max().unwrap_or_default();
        if let Some(begin) = self.dynamic.filter(|begin| end > 0 && at >= *begin) {
            return format!("byte {} of the dynamic shared memory of block {block}", at - begin);
        }
        match variable {
            Some(Named { name, at: begin, .. }) => {
                format!("byte {} of `{}` in the shared memory of block {block}", at - begin, plain(name))
            }
            None if end > 0 && at >= end => {
                format!("byte {at} of the shared memory of block {block}, whose variables end at byte {end}")
            }
            None => format!("byte {at} of the shared memory of block {block}"),
        }
    }

    /// Where the bytes of an access are, if some are beyond an end.
    pub(crate) fn extent(&self, address: u64, bytes: u64) -> String {
        let piece = self.pieces.iter().find(|piece| address.wrapping_sub(piece.begin) < piece.bytes);
        match piece {
            Some(piece) if address + bytes > piece.begin + piece.bytes => {
                let over = address + bytes - piece.begin - piece.bytes;
                let (name, all) = (&piece.name, piece.bytes);
                format!("accesses {bytes} bytes, the last {over} beyond the end of {name}, which has {all} bytes")
            }
            _ => format!("accesses {bytes} bytes at {}", self.place_of(address)),
        }
    }

    /// Where an address is that is a little below the shared memory of a block.
    pub(crate) fn below_shared(&self, address: u64, block: u32) -> Option<String> {
        let distance = shared_of(block as usize, self.cluster as usize).wrapping_sub(address);
        // An address of 32 bits has wrapped.
        let distance = if distance > PAST { distance.wrapping_add(1 << 32) } else { distance };
        let first = self.variables.iter().find(|variable| variable.at == 0);
        let begins = first.map(|first| format!(", where `{}` begins", plain(&first.name))).unwrap_or_default();
        (1..=PAST).contains(&distance).then(|| {
            format!("accesses what is {distance} bytes before the first of the shared memory of block {block}{begins}")
        })
    }

    /// The piece that an address is in, or the one that is nearest.
    fn near(&self, address: u64) -> String {
        let end = |piece: &Piece| piece.begin + piece.bytes;
        if let Some(piece) = self.pieces.iter().find(|piece| address.wrapping_sub(piece.begin) < piece.bytes) {
            return format!("byte {} of {}", address - piece.begin, piece.name);
        }
        let before =
            self.pieces.iter().filter(|piece| end(piece) <= address).map(|piece| (address - end(piece), piece));
        let after =
            self.pieces.iter().filter(|piece| piece.begin > address).map(|piece| (piece.begin - address, piece));
        let nearest = |(distance, _): &(u64, &Piece)| *distance;
        match (before.min_by_key(nearest), after.min_by_key(nearest)) {
            (Some((over, piece)), after) if over < NEAR && after.is_none_or(|(distance, _)| over <= distance) => {
                format!("{over} bytes beyond the end of {}, which has {} bytes", piece.name, piece.bytes)
            }
            (_, Some((distance, piece))) if distance < NEAR => format!("{distance} bytes before {}", piece.name),
            _ => self.wrapped(address).unwrap_or_else(|| nowhere(address)),
        }
    }

    /// The same of an index that was to be negative, and has 32 bits without a sign.
    fn wrapped(&self, address: u64) -> Option<String> {
        let before = |piece: &Piece| {
            let over = (0..5).map(|size| (piece.begin + (1 << (32 + size))).wrapping_sub(address));
            over.filter(|distance| (1..PAST).contains(distance)).min().map(|distance| (distance, piece.name.clone()))
        };
        let (distance, name) = self.pieces.iter().filter_map(before).min()?;
        Some(format!(
            "address {address:#x}: that is {distance} bytes before {name}, if an index of 32 bits has wrapped below zero"
        ))
    }
}

/// An address that is in no piece.
fn nowhere(address: u64) -> String {
    let guess = match address {
        0..4096 => "a null pointer, or one with a small offset",
        4096..PIECE => "it looks like an offset in shared memory: `cvta.shared` makes a generic address of it",
        _ if is_of_the_host(address) => "it is memory of the host: copy it to the GPU first",
        _ => "the kernel was given nothing there",
    };
    format!("address {address:#x}: {guess}")
}

/// Whether the process itself has memory there, and not addresses alone.
fn is_of_the_host(address: u64) -> bool {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let readable = maps.lines().filter_map(|line| line.split_once(' ').filter(|(_, rest)| rest.starts_with('r')));
    readable.filter_map(|(range, _)| range.split_once('-')).any(|(begin, end)| {
        let bounds = [begin, end].map(|bound| u64::from_str_radix(bound, 16).unwrap_or_default());
        (bounds[0]..bounds[1]).contains(&address)
    })
}

/// The last part of a name of C++: `tile` of `_ZZ4copyPKfE4tile`.
pub(super) fn plain(name: &str) -> &str {
    let is_last = |at: &usize| {
        let digits: String = name[*at..].chars().take_while(char::is_ascii_digit).collect();
        let rest = &name[*at + digits.len()..];
        let rest =
            rest.rsplit_once("_").filter(|(_, number)| number.parse::<u32>().is_ok()).map_or(rest, |(rest, _)| rest);
        digits.parse() == Ok(rest.len())
    };
    let mut places = name.match_indices('E').map(|(at, _)| at + 1);
    match places.rfind(is_last) {
        Some(at) if name.starts_with("_Z") => name[at..].trim_start_matches(|c: char| c.is_ascii_digit()),
        _ => name,
    }
}
