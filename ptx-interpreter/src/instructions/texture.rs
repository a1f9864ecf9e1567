//! `tex`, `tld4` and `txq`: fetches from texture objects.

use crate::alu::Type;
use crate::machine::group::Group;
use crate::machine::lanes::{LANES, Lanes};
use crate::machine::stop::{Result, Why, stop, wrong};
use crate::machine::{Machine, Step};
use crate::memory::fetch::{Coordinates, Tap, Taps, gathered, taps};
use crate::memory::texture::{Resource, Shape, Texture};
use crate::ptx::access::How;
use crate::ptx::operand::Operand;

/// The word for a shape in an instruction.
#[derive(Clone, Copy)]
pub(super) struct Geometry {
    word: &'static str,
    /// Coordinates besides the layer.
    pub(super) dimensions: usize,
    pub(super) has_layer: bool,
}

const GEOMETRIES: [Geometry; 5] = [
    Geometry { word: "1d", dimensions: 1, has_layer: false },
    Geometry { word: "2d", dimensions: 2, has_layer: false },
    Geometry { word: "3d", dimensions: 3, has_layer: false },
    Geometry { word: "a1d", dimensions: 1, has_layer: true },
    Geometry { word: "a2d", dimensions: 2, has_layer: true },
];

impl Geometry {
    pub(super) fn parse(word: &str) -> Option<Geometry> {
        GEOMETRIES.into_iter().find(|geometry| geometry.word == word)
    }

    /// Whether an instruction may use a resource.
    pub(super) fn suits(&self, resource: &Resource) -> Result<()> {
        let suits = match resource.shape {
            Shape::Linear | Shape::One => self.word == "1d",
            // An array of one row is one of one dimension, too.
            Shape::Two => self.word == "2d" || self.word == "1d" && resource.size[1] == 1,
            Shape::Three => self.word == "3d",
            Shape::LayersOfOne => self.word == "a1d",
            Shape::LayersOfTwo => self.word == "a2d",
        };
        if suits { Ok(()) } else { Err(wrong(format!("`.{}` of {}", self.word, named(resource.shape)))) }
    }

    /// How many coordinates an instruction has, at least.
    pub(super) fn count(&self) -> usize {
        self.dimensions + usize::from(self.has_layer)
    }
}

fn named(shape: Shape) -> &'static str {
    match shape {
        Shape::Linear => "linear memory",
        Shape::One => "an array of one dimension",
        Shape::Two => "an array or memory of two dimensions",
        Shape::Three => "an array of three dimensions",
        Shape::LayersOfOne => "layers of one dimension",
        Shape::LayersOfTwo => "layers of two dimensions",
    }
}

/// The texture object that a number stands for.
fn texture<'l>(machine: &Machine<'l>, handle: u64) -> Result<&'l Texture> {
    let found = machine.launch.objects.and_then(|objects| objects.textures.get(&handle));
    found.map_or_else(|| stop(Why::Astray, format!("{handle:#x} is no texture object")), Ok)
}

/// The surface object that a number stands for.
pub(super) fn surface<'l>(machine: &Machine<'l>, handle: u64) -> Result<&'l Resource> {
    let found = machine.launch.objects.and_then(|objects| objects.surfaces.get(&handle));
    found.map_or_else(|| stop(Why::Astray, format!("{handle:#x} is no surface object")), Ok)
}

struct Fetch {
    geometry: Geometry,
    /// Whether the coordinates are whole numbers.
    is_whole: bool,
    /// The number of each element that `tld4` gives.
    gathers: Option<usize>,
    to: Vec<Operand>,
    handle: Operand,
    coordinates: Vec<Operand>,
}

pub(crate) fn decode(words: &[&str], operands: Vec<Operand>) -> Option<Box<dyn Step>> {
    let [.., "v4", "f32" | "s32" | "u32", of_coordinates @ ("f32" | "s32")] = words else { return None };
    let gathers = match words[..] {
        ["tld4", number, ..] => Some("rgba".find(number).filter(|_| number.len() == 1)?),
        _ => None,
    };
    // No texture has more than one level, so no level has to be chosen.
    let (at, count) = match words[1] {
        "level" => (2, 3),
        "grad" => (2, 4),
        "base" => (2, 2),
        _ => (1 + usize::from(gathers.is_some()), 2),
    };
    let geometry = Geometry::parse(words.get(at)?).filter(|_| operands.len() == count && words.len() == at + 4)?;
    let ty = Type::parse(of_coordinates)?;
    let mut operands = operands.into_iter();
    let to = operands.next()?.lanes();
    let Operand::Address(handle, 0, coordinates) = operands.next()? else { return None };
    let coordinates: Vec<Operand> = coordinates.into_iter().map(|one| one.of_type(ty)).collect();
    let is_whole = *of_coordinates == "s32";
    let has_all = to.len() == 4 && coordinates.len() >= geometry.count();
    let is_gather = gathers.is_none() || geometry.dimensions == 2 && !is_whole;
    (has_all && is_gather)
        .then(|| Box::new(Fetch { geometry, is_whole, gathers, to, handle: *handle, coordinates }) as Box<dyn Step>)
}

impl Step for Fetch {
    fn run<'a>(&'a self, machine: &mut Machine<'a>, group: Group) -> Result<()> {
        let handles = machine.lanes(group, &self.handle)?;
        let coordinates = self.coordinates.iter().map(|one| machine.lanes(group, one));
        let coordinates: Vec<Lanes> = coordinates.collect::<Result<_>>()?;
        let mut results = [[0; LANES]; 4];
        for (handle, group) in machine.of_each_handle(group, &handles) {
            let texture = texture(machine, handle)?;
            self.fetch(machine, group, texture, &coordinates, &mut results)?;
        }
        self.to.iter().zip(&results).try_for_each(|(to, values)| machine.set_operand(group, to, values))
    }
}

impl Fetch {
    /// Threads of a group fetch from one texture.
    fn fetch(
        &self,
        machine: &mut Machine<'_>,
        group: Group,
        texture: &Texture,
        coordinates: &[Lanes],
        results: &mut [Lanes; 4],
    ) -> Result<()> {
        self.geometry.suits(&texture.resource)?;
        if texture.resource.shape == Shape::Linear && !self.is_whole {
            return Err(wrong("a coordinate that is no whole number, for linear memory (tex1Dfetch takes whole ones)"));
        }
        let mut all: [Taps; LANES] = Default::default();
        for thread in group.threads() {
            all[thread.lane] = self.taps(texture, coordinates, thread.lane);
        }
        watch(machine, group, texture, &all);
        for thread in group.threads() {
            for (result, number) in results.iter_mut().zip(self.value(texture, &all[thread.lane])) {
                result[thread.lane] = number.into();
            }
        }
        Ok(())
    }

    fn taps(&self, texture: &Texture, coordinates: &[Lanes], lane: usize) -> Taps {
        let first = usize::from(self.geometry.has_layer);
        let layer = if first == 1 { coordinates[0][lane] as u32 } else { 0 };
        let bits = [0, 1, 2].map(|axis| {
            let counts = axis < self.geometry.dimensions;
            if counts { coordinates[first + axis][lane] as u32 } else { 0 }
        });
        match (self.gathers, self.is_whole) {
            (Some(_), _) => gathered(texture, bits.map(f32::from_bits), layer).into_iter().collect(),
            (None, true) => {
                let at = bits.map(|bits| bits as i32);
                taps(texture, Coordinates::Whole(at), self.geometry.dimensions, layer)
            }
            (None, false) => {
                let at = bits.map(f32::from_bits);
                taps(texture, Coordinates::Float(at), self.geometry.dimensions, layer)
            }
        }
    }

    fn value(&self, texture: &Texture, taps: &[Tap]) -> [u32; 4] {
        let numbers = |tap: &Tap| match tap.at {
            Some(at) => texture.numbers(content(&texture.resource, at)),
            None => texture.border(),
        };
        if let (Some(number), [one, two, three, four]) = (self.gathers, taps) {
            return [one, two, three, four].map(|tap| numbers(tap)[number]);
        }
        let all: Weighed = taps.iter().map(|tap| (tap.weight, numbers(tap))).collect();
        texture.weighed(&all)
    }
}

/// How much elements count, and their numbers.
type Weighed = smallvec::SmallVec<[(f64, [u32; 4]); 8]>;

/// The bytes of an element.
fn content(resource: &Resource, at: [u32; 3]) -> &[u8] {
    // SAFETY: whoever launches promises that the memory of its objects is there, and `at` is inside.
    unsafe { std::slice::from_raw_parts(resource.address(at) as *const u8, resource.element.size()) }
}

/// Tells the checks what a group fetches: the first elements of its threads, the second ones, and so on.
fn watch(machine: &mut Machine<'_>, group: Group, texture: &Texture, all: &[Taps; LANES]) {
    if machine.checks.is_none() {
        return;
    }
    let most = group.threads().map(|thread| all[thread.lane].len()).max().unwrap_or_default();
    for number in 0..most {
        let (mut addresses, mut mask) = ([0; LANES], 0);
        for thread in group.threads() {
            if let Some(at) = all[thread.lane].get(number).and_then(|tap| tap.at) {
                addresses[thread.lane] = texture.resource.address(at);
                mask |= 1 << thread.lane;
            }
        }
        let group = Group { mask, ..group };
        machine.watch_elements(group, &addresses, texture.resource.element.size(), How::FETCH, &|_, _| false);
    }
}

/// `txq` and `suq`.
struct Query {
    of: fn(&Resource) -> u32,
    is_surface: bool,
    to: Operand,
    handle: Operand,
}

pub(crate) fn query(words: &[&str], operands: Vec<Operand>) -> Option<Box<dyn Step>> {
    let [kind, what, "b32"] = words else { return None };
    let of: fn(&Resource) -> u32 = match *what {
        "width" => |resource| resource.size[0],
        "height" => |resource| {
            if matches!(resource.shape, Shape::Two | Shape::Three | Shape::LayersOfTwo) { resource.size[1] } else { 0 }
        },
        "depth" => |resource| if resource.shape == Shape::Three { resource.size[2] } else { 0 },
        "array_size" => |resource| {
            if matches!(resource.shape, Shape::LayersOfOne | Shape::LayersOfTwo) { resource.size[2] } else { 0 }
        },
        _ => return None,
    };
    let mut operands = operands.into_iter();
    let (to, Operand::Address(handle, 0, _)) = (operands.next()?, operands.next()?) else { return None };
    Some(Box::new(Query { of, is_surface: *kind == "suq", to, handle: *handle }))
}

impl Step for Query {
    fn run<'a>(&'a self, machine: &mut Machine<'a>, group: Group) -> Result<()> {
        let (handles, mut values) = (machine.lanes(group, &self.handle)?, [0; LANES]);
        for (handle, group) in machine.of_each_handle(group, &handles) {
            let resource =
                if self.is_surface { surface(machine, handle)? } else { &texture(machine, handle)?.resource };
            group.threads().for_each(|thread| values[thread.lane] = (self.of)(resource).into());
        }
        machine.set_operand(group, &self.to, &values)
    }
}
