//! `suld.b` and `sust.b`: surfaces are loaded and stored as bytes.

use super::texture::{Geometry, surface};
use crate::alu::Type;
use crate::machine::group::{Group, Thread};
use crate::machine::lanes::{LANES, Lanes};
use crate::machine::stop::{Result, Why, stop};
use crate::machine::{Machine, Step};
use crate::memory::texture::Resource;
use crate::ptx::access::How;
use crate::ptx::operand::Operand;

/// What is done outside.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Outside {
    Trap,
    /// The nearest element.
    Clamp,
    /// A load gives zeros, and nothing is stored.
    Zero,
}

struct Surface {
    geometry: Geometry,
    outside: Outside,
    stores: bool,
    /// Bytes of a number.
    bytes: usize,
    values: Vec<Operand>,
    handle: Operand,
    coordinates: Vec<Operand>,
}

pub(crate) fn decode(words: &[&str], operands: Vec<Operand>) -> Option<Box<dyn Step>> {
    let [_, "b", geometry, others @ .., ty, outside] = words else { return None };
    let is_known = |word: &&str| matches!(*word, "ca" | "cg" | "cs" | "cv" | "wb" | "wt" | "v2" | "v4");
    let geometry = Geometry::parse(geometry).filter(|_| others.iter().all(is_known))?;
    let outside = match *outside {
        "trap" => Outside::Trap,
        "clamp" => Outside::Clamp,
        "zero" => Outside::Zero,
        _ => return None,
    };
    let (stores, ty) = (words[0] == "sust", Type::parse(ty)?);
    let [one, other] = <[Operand; 2]>::try_from(operands).ok()?;
    let (values, place) = if stores { (other, one) } else { (one, other) };
    let values: Vec<Operand> = values.lanes().into_iter().map(|value| value.of_type(ty)).collect();
    let Operand::Address(handle, 0, coordinates) = place else { return None };
    (coordinates.len() >= geometry.count()).then(|| {
        let bytes = ty.bits as usize / 8;
        Box::new(Surface { geometry, outside, stores, bytes, values, handle: *handle, coordinates }) as Box<dyn Step>
    })
}

impl Step for Surface {
    fn run<'a>(&'a self, machine: &mut Machine<'a>, group: Group) -> Result<()> {
        let handles = machine.lanes(group, &self.handle)?;
        let coordinates = self.coordinates.iter().map(|one| machine.lanes(group, one));
        let coordinates: Vec<Lanes> = coordinates.collect::<Result<_>>()?;
        let (mut addresses, mut inside) = ([0; LANES], 0);
        for (handle, group) in machine.of_each_handle(group, &handles) {
            let surface = surface(machine, handle)?;
            self.geometry.suits(surface)?;
            for thread in group.threads() {
                let address = self.address(surface, &coordinates, thread).map_err(|stop| stop.by(thread.lane))?;
                if let Some(address) = address {
                    addresses[thread.lane] = address;
                    inside |= 1 << thread.lane;
                }
            }
        }
        let inside = Group { mask: inside, ..group };
        if self.stores {
            self.store(machine, inside, &addresses)
        } else {
            self.load(machine, group, inside, &addresses)
        }
    }
}

impl Surface {
    fn size(&self) -> usize {
        self.bytes * self.values.len()
    }

    /// Where a thread's bytes are; none where they are outside and zeros.
    fn address(&self, surface: &Resource, coordinates: &[Lanes], thread: Thread) -> Result<Option<u64>> {
        let (at, size) = (|number: usize| coordinates[number][thread.lane] as i32, self.size() as i64);
        let width = i64::from(surface.size[0]) * surface.element.size() as i64;
        let first = usize::from(self.geometry.has_layer);
        let axis = |axis: usize| match axis {
            2 if first == 1 => i64::from(at(0) as u32),
            _ if axis < self.geometry.dimensions => at(first + axis).into(),
            _ => 0,
        };
        let place = [axis(0), axis(1), axis(2)];
        let most = [width - size, i64::from(surface.size[1]) - 1, i64::from(surface.size[2]) - 1];
        if !(place[0] as u64).is_multiple_of(size as u64) {
            return stop(Why::Misaligned, format!("byte {} of a row is no multiple of {size}", place[0]));
        }
        let nearest = [0, 1, 2].map(|axis| place[axis].clamp(0, most[axis].max(0)));
        let is_inside = nearest == place && most[0] >= 0;
        match self.outside {
            _ if is_inside => {}
            Outside::Clamp if most[0] >= 0 => {}
            Outside::Zero => return Ok(None),
            Outside::Clamp | Outside::Trap => return self.astray(surface, place, width),
        }
        let [x, y, z] = nearest.map(|number| number as u64);
        Ok(Some(surface.begin + z * surface.plane + y * surface.row + x))
    }

    fn astray(&self, surface: &Resource, [x, y, z]: [i64; 3], width: i64) -> Result<Option<u64>> {
        let what = if self.stores { "write" } else { "read" };
        let (size, [_, rows, planes]) = (self.size(), surface.size);
        let kind = if self.geometry.has_layer { "layer" } else { "plane" };
        let (of, have) = match self.geometry.count() {
            1 => (String::new(), String::new()),
            2 if !self.geometry.has_layer => (format!(" of row {y}"), format!("{rows} rows of ")),
            2 => (format!(" of {kind} {z}"), format!("{planes} {kind}s of ")),
            _ => (format!(" of row {y} of {kind} {z}"), format!("{planes} {kind}s of {rows} rows of ")),
        };
        let text = format!(
            "a {what} of {size} bytes outside of its surface: from byte {x}{of} on; it has {have}{width} bytes"
        );
        stop(Why::Astray, text)
    }

    fn load(&self, machine: &mut Machine<'_>, group: Group, inside: Group, addresses: &Lanes) -> Result<()> {
        machine.watch_elements(inside, addresses, self.size(), How::FETCH, &|_, _| false);
        for (number, to) in self.values.iter().enumerate() {
            let mut values = [0; LANES];
            for thread in inside.threads() {
                let mut bytes = [0; 8];
                let from = (addresses[thread.lane] as usize + number * self.bytes) as *const u8;
                // SAFETY: whoever launches promises that the memory of its objects is there.
                unsafe { std::ptr::copy_nonoverlapping(from, bytes.as_mut_ptr(), self.bytes) };
                values[thread.lane] = u64::from_le_bytes(bytes);
            }
            machine.set_operand(group, to, &values)?;
        }
        Ok(())
    }

    fn store(&self, machine: &mut Machine<'_>, inside: Group, addresses: &Lanes) -> Result<()> {
        let values = self.values.iter().map(|value| machine.lanes(inside, value));
        let values: Vec<Lanes> = values.collect::<Result<_>>()?;
        let is_same = |one: usize, other: usize| values.iter().all(|value| value[one] == value[other]);
        machine.watch_elements(inside, addresses, self.size(), How::WRITE, &is_same);
        machine.progress += 1;
        for thread in inside.threads() {
            machine.overwrites(addresses[thread.lane], self.size());
            for (number, value) in values.iter().enumerate() {
                let to = (addresses[thread.lane] as usize + number * self.bytes) as *mut u8;
                let bytes = value[thread.lane].to_le_bytes();
                // SAFETY: as above.
                unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), to, self.bytes) };
            }
        }
        Ok(())
    }
}
