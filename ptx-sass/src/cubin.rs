//! What a cubin says of its kernels beside their code.

use std::collections::BTreeMap;

use object::read::elf::{FileHeader, SectionHeader, Sym};
use object::{Endianness, elf};

/// What a kernel or function takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Takes {
    /// Registers of a thread.
    pub registers: Option<u32>,
    /// Bytes of local memory of a thread.
    pub stack: Option<u32>,
    /// The most threads of a block, where the source says it.
    pub threads: Option<u32>,
}

/// The machine of an ELF file of NVIDIA's.
const EM_CUDA: u16 = 190;

/// Whether these bytes begin as a cubin does.
pub fn is_cubin(bytes: &[u8]) -> bool {
    bytes.starts_with(b"\x7fELF") && bytes.get(18..20) == Some(&EM_CUDA.to_le_bytes()[..])
}

/// The cubins that stand somewhere in a file, whole: in a module of MLIR, in a pickle.
pub fn embedded(bytes: &[u8]) -> Vec<&[u8]> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = bytes[from..].windows(4).position(|four| four == b"\x7fELF").map(|at| from + at) {
        let cubin = is_cubin(&bytes[at..]).then(|| length(&bytes[at..])).flatten();
        let cubin = cubin.and_then(|length| bytes.get(at..at + length));
        found.extend(cubin);
        from = at + cubin.map_or(4, <[u8]>::len);
    }
    found
}

/// How long a cubin is by its headers: what stands last is a table of them, or a section.
fn length(bytes: &[u8]) -> Option<usize> {
    let header = elf::FileHeader64::<Endianness>::parse(bytes).ok()?;
    let endian = header.endian().ok()?;
    let end = |offset: u64, size: u64| usize::try_from(offset.checked_add(size)?).ok();
    let table = |offset: u64, entry: u16, count: u16| end(offset, u64::from(entry) * u64::from(count));
    let sections = header.section_headers(endian, bytes).ok()?;
    let held = sections.iter().filter(|one| one.sh_type(endian) != elf::SHT_NOBITS);
    let held = held.map(|one| end(one.sh_offset(endian), one.sh_size(endian)));
    let tables = [
        table(header.e_shoff(endian), header.e_shentsize(endian), header.e_shnum(endian)),
        table(header.e_phoff(endian), header.e_phentsize(endian), header.e_phnum(endian)),
    ];
    held.chain(tables).collect::<Option<Vec<usize>>>()?.into_iter().max()
}

/// What each function of a cubin takes, by its symbol. An error says what is wrong with the file.
pub fn takes(cubin: &[u8]) -> Result<BTreeMap<String, Takes>, String> {
    read(cubin).map_err(|error| format!("the cubin is cut off or damaged: {error}"))
}

fn read(cubin: &[u8]) -> object::Result<BTreeMap<String, Takes>> {
    let header = elf::FileHeader64::<Endianness>::parse(cubin)?;
    let endian = header.endian()?;
    let sections = header.sections(endian, cubin)?;
    let symbols = sections.symbols(endian, cubin, elf::SHT_SYMTAB)?;
    let mut found: BTreeMap<String, Takes> = BTreeMap::new();
    for section in sections.iter() {
        let name = String::from_utf8_lossy(sections.section_name(endian, section)?).into_owned();
        // A file that was cut off has sections that are not there.
        let bytes = if section.sh_type(endian) == elf::SHT_NOBITS { &[][..] } else { section.data(endian, cubin)? };
        if name == ".nv.info" {
            for (attribute, payload) in attributes(bytes) {
                let [Some(symbol), Some(value)] = [word(payload, 0), word(payload, 1)] else { continue };
                let symbol = symbols.symbol(object::SymbolIndex(symbol as usize))?;
                let name = String::from_utf8_lossy(symbol.name(endian, symbols.strings())?).into_owned();
                let takes = found.entry(name).or_default();
                match attribute {
                    REGISTERS => takes.registers = Some(value),
                    FRAME => takes.stack = Some(value),
                    _ => {}
                }
            }
        } else if let Some(kernel) = name.strip_prefix(".nv.info.") {
            for (attribute, payload) in attributes(bytes) {
                if [MAX_THREADS, REQUIRED_THREADS].contains(&attribute) {
                    let sizes = (0..3).map(|at| word(payload, at));
                    found.entry(kernel.to_owned()).or_default().threads = sizes.product();
                }
            }
        }
    }
    Ok(found)
}

/// Attributes of `.nv.info`, as `cuobjdump -elf` names them: EIATTR_REGCOUNT, EIATTR_FRAME_SIZE, EIATTR_MAX_THREADS,
/// EIATTR_REQNTID.
const REGISTERS: u8 = 0x2f;
const FRAME: u8 = 0x11;
const MAX_THREADS: u8 = 0x05;
const REQUIRED_THREADS: u8 = 0x10;

/// The format of an attribute whose size is in the two bytes after it; the others have their value there.
const SIZED: u8 = 4;

fn attributes(mut bytes: &[u8]) -> Vec<(u8, &[u8])> {
    let mut all = Vec::new();
    while let [format, attribute, low, high, rest @ ..] = bytes {
        let size = if *format == SIZED { usize::from(u16::from_le_bytes([*low, *high])) } else { 0 };
        let Some((payload, after)) = rest.split_at_checked(size) else { break };
        all.push((*attribute, payload));
        bytes = after;
    }
    all
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(4 * at..4 * at + 4)?;
    Some(u32::from_le_bytes(bytes.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_read_one_by_one_and_a_cut_one_ends_them() {
        let bytes = [4, 0x2f, 8, 0, 6, 0, 0, 0, 10, 0, 0, 0, 3, 0x1b, 0xff, 0, 4, 0x11, 8, 0, 1];
        let read = attributes(&bytes);
        assert_eq!(read, [(0x2f, &bytes[4..12]), (0x1b, &[][..])]);
        assert_eq!((word(read[0].1, 0), word(read[0].1, 1), word(read[0].1, 2)), (Some(6), Some(10), None));
    }

    #[test]
    fn what_is_no_cubin_is_told() {
        assert!(!is_cubin(b".version 8.0"));
        let cut = takes(b"\x7fELF\x02\x01\x01").unwrap_err();
        assert!(cut.starts_with("the cubin is cut off or damaged: "), "{cut}");
    }
}
