//! The runtime in a program or a library without symbols.
//!
//! Each function of the runtime tells profilers its name, and so its code has the address of that text. The functions by which a
//! source of nvcc's tells its kernels have no such text but one: `__cudaInitModule`. The others are around it, in an order that all
//! releases have.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use gimli::{BaseAddresses, CieOrFde, EhFrame, LittleEndian, UnwindSection};
use object::{Object as _, ObjectSection, ObjectSymbol, ReadRef};

use super::jump::BYTES;

/// The one in the middle.
const MIDDLE: &str = "__cudaInitModule";
const BEFORE: [&str; 7] = [
    "__cudaRegisterFatBinary",
    "__cudaRegisterFatBinaryEnd",
    "__cudaUnregisterFatBinary",
    "__cudaRegisterVar",
    "__cudaRegisterManagedVar",
    "__cudaRegisterHostVar",
    "__cudaRegisterFunction",
];
const BEHIND: [&str; 3] = ["__cudaPushCallConfiguration", "__cudaPopCallConfiguration", "__cudaGetKernel"];
/// The runtime's code has fewer bytes.
const REACH: u64 = 1 << 20;
/// Functions begin at multiples of this.
const ALIGNMENT: u64 = 16;

type File<'a, R> = object::read::elf::ElfFile64<'a, object::Endianness, R>;

/// The functions of a runtime, by their names, and where they are in the file. None if there is no runtime that is known. The functions by
/// which sources tell their kernels have the name `constructor`; they are not looked for if there is none.
pub(super) fn functions<'a, R: ReadRef<'a>>(
    file: &File<'a, R>,
    constructor: Option<&str>,
) -> Option<Vec<(String, usize)>> {
    // The runtime opens the driver. Most libraries end here.
    if !file.dynamic_symbols().any(|symbol| symbol.is_undefined() && symbol.name() == Ok("dlopen")) {
        return None;
    }
    let texts = Section::of(file, ".rodata")?;
    let middle = texts.positions(MIDDLE);
    if middle.is_empty() {
        return None;
    }
    let code = Section::of(file, ".text")?;
    let all = all_functions(file)?;
    let names = |function: &Range<u64>| code.names(function, &texts);
    let at = all.iter().position(|function| code.addresses(function).any(|address| middle.contains(&address)))?;
    let near = all.iter().filter(|function| function.start.abs_diff(all[at].start) < REACH);
    let mut named: HashMap<String, Vec<&Range<u64>>> = HashMap::new();
    for function in near.filter(|function| function.end - function.start >= BYTES as u64) {
        if let [name] = &names(function)[..] {
            named.entry(name.clone()).or_default().push(function);
        }
    }
    // A function that prints which call has failed has the same name, since the linker puts the two texts together. It has other texts too.
    let texts_of = |function: &Range<u64>| {
        code.addresses(function).filter(|address| texts.has(*address)).collect::<HashSet<u64>>().len()
    };
    let place = |all: Vec<&Range<u64>>| match &all[..] {
        [one] => Some(one.start),
        all => match &all.iter().filter(|function| texts_of(function) == 1).collect::<Vec<_>>()[..] {
            [one] => Some(one.start),
            _ => None,
        },
    };
    let mut found: HashMap<String, Option<u64>> = named.into_iter().map(|(name, all)| (name, place(all))).collect();
    let around = all.get(at.checked_sub(BEFORE.len())?..=at + BEHIND.len())?;
    let follow = |pair: &[Range<u64>]| pair[0].end.next_multiple_of(ALIGNMENT) == pair[1].start;
    if !around.windows(2).all(follow) {
        return None;
    }
    let names = BEFORE.into_iter().chain([MIDDLE]).chain(BEHIND).map(str::to_owned);
    found.extend(names.zip(around.iter().map(|function| Some(function.start))));
    let tells = |function: &&Range<u64>| code.calls(function).any(|called| called == around[0].start);
    let mut found: Vec<(String, usize)> =
        found.into_iter().filter_map(|(name, at)| Some((name, at? as usize))).collect();
    if let Some(name) = constructor {
        found.extend(all.iter().filter(tells).map(|function| (name.to_owned(), function.start as usize)));
    }
    Some(found)
}

/// All functions of a file, in the order of their addresses.
fn all_functions<'a, R: ReadRef<'a>>(file: &File<'a, R>) -> Option<Vec<Range<u64>>> {
    let frames = file.section_by_name(".eh_frame")?;
    let bases =
        BaseAddresses::default().set_eh_frame(frames.address()).set_text(file.section_by_name(".text")?.address());
    let section = EhFrame::new(frames.data().ok()?, LittleEndian);
    let (mut entries, mut all) = (section.entries(&bases), Vec::new());
    while let Ok(Some(entry)) = entries.next() {
        if let CieOrFde::Fde(frame) = entry
            && let Ok(frame) = frame.parse(EhFrame::cie_from_offset)
        {
            all.push(frame.initial_address()..frame.end_address());
        }
    }
    all.sort_unstable_by_key(|function| function.start);
    Some(all)
}

/// A section, and where it is.
struct Section<'a> {
    begin: u64,
    content: &'a [u8],
}

impl<'a> Section<'a> {
    fn of<R: ReadRef<'a>>(file: &File<'a, R>, name: &str) -> Option<Section<'a>> {
        let section = file.section_by_name(name)?;
        Some(Section { begin: section.address(), content: section.data().ok()? })
    }

    /// Where a text is.
    fn positions(&self, text: &str) -> Vec<u64> {
        let text = format!("\0{text}\0");
        let all = memchr::memmem::find_iter(self.content, text.as_bytes());
        all.map(|at| self.begin + at as u64 + 1).collect()
    }

    fn has(&self, address: u64) -> bool {
        address.checked_sub(self.begin).is_some_and(|at| at < self.content.len() as u64)
    }

    /// The text at an address, if it is the name of a function of the runtime.
    fn name(&self, address: u64) -> Option<&'a str> {
        let at = usize::try_from(address.checked_sub(self.begin)?).ok()?;
        let end = at + self.content.get(at..)?.iter().position(|byte| *byte == 0)?;
        let name = std::str::from_utf8(&self.content[at..end]).ok()?;
        let begins = at.checked_sub(1).is_some_and(|before| self.content[before] == 0);
        let is_word = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        let function = name.strip_prefix("__").unwrap_or(name).strip_prefix("cuda")?;
        (begins && is_word && function.starts_with(|letter: char| letter.is_ascii_uppercase())).then_some(name)
    }

    /// The names of which a function has the address.
    fn names(&self, function: &Range<u64>, texts: &Section<'a>) -> Vec<String> {
        let mut names: Vec<String> =
            self.addresses(function).filter_map(|address| texts.name(address)).map(str::to_owned).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// The addresses that a function loads: `lea` of 64 bits, relative to the instruction behind it.
    fn addresses(&self, function: &Range<u64>) -> impl Iterator<Item = u64> + use<'a> {
        let content = self.code_of(function);
        let is_load = move |at: &usize| {
            let is_wide = at.checked_sub(1).is_some_and(|before| matches!(content[before], 0x48 | 0x4c));
            is_wide && content.get(at + 1).is_some_and(|operands| operands & 0xc7 == 0x05)
        };
        let first = function.start;
        memchr::memchr_iter(0x8d, content).filter(is_load).filter_map(move |at| relative(content, first, at + 2))
    }

    /// The functions that a function calls.
    fn calls(&self, function: &Range<u64>) -> impl Iterator<Item = u64> + use<'a> {
        let (content, first) = (self.code_of(function), function.start);
        memchr::memchr_iter(0xe8, content).filter_map(move |at| relative(content, first, at + 1))
    }

    /// The code of a function.
    fn code_of(&self, function: &Range<u64>) -> &'a [u8] {
        let [begin, end] = [function.start, function.end].map(|at| at.saturating_sub(self.begin) as usize);
        self.content.get(begin..end).unwrap_or_default()
    }
}

/// The address that an instruction's last four bytes say, relative to its end.
fn relative(content: &[u8], first: u64, at: usize) -> Option<u64> {
    let distance = i32::from_le_bytes(content.get(at..at + 4)?.try_into().ok()?);
    Some((first + at as u64 + 4).wrapping_add_signed(distance.into()))
}
