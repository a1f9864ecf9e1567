//! Kernels that are launched one after the other, and what they left.

use std::collections::{BTreeMap, BTreeSet};

use rand::Rng;
use rand::rngs::StdRng;
use serde::{Deserialize, Serialize};

use super::image::CONSTANTS;
use super::plan::Kernel;
use super::room::{PARAMETER, Room, THREADS};
use super::tensor;
use launch::gpu::{Argument, Buffer, Gpu, Launch};
use launch::tensor_map::{MapKind, TENSOR_MAP, TensorMap, content, encode_tensor_map};
use ptx_build::error::Result;

/// What a thread should have left, and left.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Slot {
    /// The thread, counted through the blocks.
    pub thread: usize,
    /// The first byte that is wrong.
    pub byte: usize,
    /// What all bytes should be, in hexadecimal digits.
    pub expected: String,
    /// What they are.
    pub found: String,
}

/// What the output holds before a run. No trial writes all of its slots.
pub(super) const POISON: u8 = 0xa5;

/// Slots of a trial that are kept, if they are wrong.
pub(super) const SLOTS: usize = 4;

/// Wrong trials of an image of which so many are kept; of the others, one. An image that is wrong as a whole would fill
/// the disk.
pub(super) const IN_FULL: usize = 100;

/// A trial with wrong bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Wrong {
    pub(super) kernel: String,
    pub(super) trial: usize,
    pub(super) bytes: usize,
    pub(super) slots: Vec<Slot>,
    /// Why, if it is known of this GPU, and all bytes are what it is known to leave.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) known: Option<String>,
}

/// What came of an image.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Compared {
    pub(super) kernels: usize,
    pub(super) trials: usize,
    pub(super) bytes: usize,
    pub(super) wrong: Vec<Wrong>,
    /// What no kernel can be blamed for.
    pub(super) troubles: Vec<String>,
}

/// Tensor maps of the kinds that kernels ask for.
#[derive(Default)]
pub(super) struct Maps {
    pub(super) of: BTreeMap<MapKind, TensorMap>,
    /// What they are of: a tensor that is read, and one that is written.
    pub(super) _tensors: Vec<Buffer>,
}

impl Maps {
    pub(super) fn new(gpu: &Gpu, kernels: &[&Kernel]) -> Result<Maps> {
        let cases = kernels.iter().filter(|kernel| kernel.room.has_tensor_map()).flat_map(|kernel| &kernel.trials);
        let kinds: BTreeSet<MapKind> = cases.map(|case| tensor::map_kind(&case.form)).collect();
        if kinds.is_empty() {
            return Ok(Maps::default());
        }
        let tensors = [gpu.upload(&content())?, gpu.upload(&content())?];
        let encode = |kind: MapKind| Ok((kind, encode_tensor_map(gpu, &tensors[usize::from(kind.written)], kind)?));
        let of = kinds.into_iter().map(encode).collect::<Result<_>>()?;
        Ok(Maps { of, _tensors: tensors.into() })
    }
}

/// The kernels of an image that run, and their memory: what is read, what a load gives whose predicate does not hold, the
/// output; each in the GPU's memory and in the host's.
pub(super) struct Batch<'a> {
    pub(super) gpu: &'a Gpu,
    pub(super) kernels: Vec<&'a Kernel>,
    /// Where a kernel's part begins in the buffers of its home.
    pub(super) offsets: Vec<usize>,
    pub(super) homes: [Home; 2],
    pub(super) constants: [u8; CONSTANTS],
    pub(super) maps: Maps,
}

pub(super) struct Home {
    pub(super) from: Vec<u8>,
    pub(super) other: Vec<u8>,
    pub(super) to: Vec<u8>,
    pub(super) buffers: [Buffer; 3],
}

pub(super) fn home(kernel: &Kernel) -> usize {
    usize::from(kernel.room == Room::Mapped)
}

impl<'a> Batch<'a> {
    pub(super) fn new(gpu: &'a Gpu, kernels: Vec<&'a Kernel>, maps: Maps, random: &mut StdRng) -> Result<Self> {
        let mut lengths = [0; 2];
        let mut place = |kernel: &&Kernel| {
            let length = &mut lengths[home(kernel)];
            *length += kernel.bytes();
            *length - kernel.bytes()
        };
        let offsets: Vec<usize> = kernels.iter().map(&mut place).collect();
        let mut constants = [0; CONSTANTS];
        random.fill_bytes(&mut constants);
        let mut home_of = |at: usize| -> Result<Home> {
            let [mut from, mut other] = [(); 2].map(|()| vec![0; lengths[at]]);
            random.fill_bytes(&mut from);
            random.fill_bytes(&mut other);
            for (kernel, offset) in kernels.iter().zip(&offsets).filter(|(kernel, _)| home(kernel) == at) {
                prepare(kernel, &mut from[*offset..][..kernel.bytes()], &constants, &maps.of);
            }
            let to = vec![POISON; lengths[at]];
            let put = |content: &Vec<u8>| if at == 0 { gpu.upload(content) } else { gpu.share(content) };
            let buffers = [put(&from)?, put(&other)?, put(&to)?];
            Ok(Home { from, other, to, buffers })
        };
        let homes = [home_of(0)?, home_of(1)?];
        Ok(Batch { gpu, kernels, offsets, homes, constants, maps })
    }

    pub(super) fn launch_of(&self, number: usize, kernel: &Kernel) -> Launch {
        let (home, offset) = (&self.homes[home(kernel)], self.offsets[number]);
        let mut arguments = Vec::new();
        if kernel.room.has_parameter() {
            let mut parameter = vec![0; PARAMETER];
            let content = match kernel.room {
                Room::EntryTensorMap => &self.maps.of[&MapKind::MATRIX][..],
                _ => &home.from[offset..][..kernel.bytes().min(PARAMETER)],
            };
            parameter[..content.len()].copy_from_slice(content);
            arguments.push(Argument::Bytes(parameter.into()));
        }
        arguments.extend(home.buffers.iter().map(|buffer| Argument::U64(buffer.address() + offset as u64)));
        Launch {
            kernel: kernel.name.clone(),
            blocks: kernel.room.blocks() as u32,
            threads: THREADS as u32,
            shared: 0,
            arguments,
        }
    }

    /// Compares everything, also what was only read: what was found, and the kernels that changed what they should read.
    pub(super) fn compare(&mut self, ran: &[bool]) -> Result<(Compared, Vec<(&'a str, String)>)> {
        let (mut compared, mut changed, mut found) = (Compared::default(), Vec::new(), Vec::new());
        for (at, home) in self.homes.iter().enumerate() {
            let mut read = Vec::new();
            for buffer in &home.buffers {
                let (content, outside) = self.gpu.read(buffer)?;
                let where_to = |byte| format!("a kernel wrote outside of its buffer: byte {byte} of {}", content.len());
                compared.troubles.extend(outside.map(where_to));
                read.push(content);
            }
            for (number, kernel) in self.kernels.iter().enumerate().filter(|(_, kernel)| self::home(kernel) == at) {
                let part = self.offsets[number]..self.offsets[number] + kernel.bytes();
                for (content, read) in [(&home.from, &read[0]), (&home.other, &read[1])] {
                    compared.bytes += part.len();
                    if !ran[number] || content[part.clone()] == read[part.clone()] {
                        continue;
                    }
                    let wrong = part.clone().find(|byte| content[*byte] != read[*byte]);
                    let why =
                        |byte| format!("it changed what it should only read: byte {} of its own", byte - part.start);
                    changed.extend(wrong.map(|byte| (kernel.name.as_str(), why(byte))));
                }
            }
            found.push(read.swap_remove(2));
        }
        for (number, kernel) in self.kernels.iter().enumerate().filter(|(number, _)| ran[*number]) {
            let (home, offset) = (home(kernel), self.offsets[number]);
            let part = offset..offset + kernel.bytes();
            let Home { from, other, to, .. } = &mut self.homes[home];
            let (from, other, to) = (&from[part.clone()], &other[part.clone()], &mut to[part.clone()]);
            for trial in 0..kernel.trials.len() {
                kernel.expect(trial, from, other, to);
                let place = kernel.range(trial);
                let kept = if compared.wrong.len() < IN_FULL { SLOTS } else { 1 };
                let (expected, found) = (&to[place.clone()], &found[home][part.clone()][place]);
                if let Some(wrong) = difference(kernel, trial, expected, found, kept) {
                    let known = kernel.expect_if_known(trial, [from, other], to);
                    let known = known.filter(|_| to[kernel.range(trial)] == *found).map(str::to_owned);
                    compared.wrong.push(Wrong { known, ..wrong });
                }
            }
            compared.kernels += 1;
            compared.trials += kernel.trials.len();
            compared.bytes += kernel.bytes();
        }
        Ok((compared, changed))
    }
}

/// What is in the constant bank, or is a tensor map, is the same for all kernels.
pub(super) fn prepare(kernel: &Kernel, from: &mut [u8], constants: &[u8], tensor_maps: &BTreeMap<MapKind, TensorMap>) {
    match kernel.room {
        Room::Const => from.copy_from_slice(&constants[..from.len()]),
        Room::TensorMap | Room::TensorShared | Room::TensorCluster | Room::TensorWide | Room::TensorWideCluster => {
            for (trial, case) in kernel.trials.iter().enumerate() {
                let map = &tensor_maps[&tensor::map_kind(&case.form)];
                from[kernel.range(trial)].chunks_mut(TENSOR_MAP).for_each(|slot| slot.copy_from_slice(map));
            }
        }
        _ => {}
    }
}

/// The bytes of a trial that are wrong, and some of the threads that left them.
pub(super) fn difference(kernel: &Kernel, trial: usize, expected: &[u8], found: &[u8], kept: usize) -> Option<Wrong> {
    if expected == found {
        return None;
    }
    let bytes = (0..expected.len()).filter(|&at| expected[at] != found[at]).count();
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let slots = expected.chunks(kernel.room.slot()).zip(found.chunks(kernel.room.slot())).enumerate();
    let slot = |(thread, (expected, found)): (usize, (&[u8], &[u8]))| {
        let byte = (0..expected.len()).find(|&at| expected[at] != found[at])?;
        Some(Slot { thread, byte, expected: hex(expected), found: hex(found) })
    };
    let slots = slots.filter_map(slot).take(kept).collect();
    Some(Wrong { kernel: kernel.name.clone(), trial, bytes, slots, known: None })
}
