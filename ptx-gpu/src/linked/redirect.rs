//! Another function by the name of an object's own. Whoever has looked for the name before still calls the object's, and so do those here.

use std::collections::HashMap;
use std::ffi::{CStr, c_char};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use object::read::ReadRef;
use object::read::elf::ElfFile64;
use object::{Endianness, Object as _, ObjectSection, ObjectSymbol};

use super::jump::protect;
use super::loader::Object;

/// What an entry of the table of names has, and where the address is in it.
const ENTRY: usize = 24;
const VALUE: usize = 8;

/// The functions that an object gives others: where each one is, and its entry in the table of names.
pub(super) struct Names {
    pub(super) file: PathBuf,
    address: usize,
    all: HashMap<String, (usize, usize)>,
}

impl Names {
    pub(super) fn of<'d, R: ReadRef<'d>>(file: &ElfFile64<'d, Endianness, R>, object: &Object) -> Names {
        let table = file.section_by_name(".dynsym").map_or(0, |section| section.address() as usize);
        let functions = file.dynamic_symbols().filter(|symbol| table != 0 && symbol.is_definition());
        let all = functions.filter_map(|symbol| {
            let entry = object.address + table + symbol.index().0 * ENTRY;
            Some((symbol.name().ok()?.to_owned(), (object.address + symbol.address() as usize, entry)))
        });
        Names { file: object.file.clone(), address: object.address, all: all.collect() }
    }

    /// Where a function is.
    pub(super) fn get(&self, name: &str) -> Option<usize> {
        self.all.get(name).map(|(at, _)| *at)
    }

    /// The names that begin so.
    pub(super) fn beginning_with<'n>(&'n self, begin: &'n str) -> impl Iterator<Item = &'n str> {
        self.all.keys().map(String::as_str).filter(move |name| name.starts_with(begin))
    }

    /// Lets a name lead to another function, which takes the same arguments.
    pub(super) fn redirect(&self, name: &str, to: usize) -> Result<(), String> {
        let Some((_, entry)) = self.all.get(name) else { return Ok(()) };
        let place = entry + VALUE;
        protect(place, size_of::<usize>(), libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC)?;
        // The loader adds the address of the object.
        // SAFETY: the entry is there, and its page may be written. A reader finds the one function or the other.
        unsafe { AtomicUsize::from_ptr(place as *mut usize) }.store(to.wrapping_sub(self.address), Ordering::SeqCst);
        protect(place, size_of::<usize>(), libc::PROT_READ | libc::PROT_EXEC)
    }
}

/// The options that a program hands over, and what each says.
///
/// # Safety
/// There is no list, or it has `count` pointers; each of them is null or a text that ends with a zero.
pub(super) unsafe fn options_of<'a>(list: *const *const c_char, count: usize) -> (Vec<*const c_char>, Vec<&'a CStr>) {
    if list.is_null() {
        return Default::default();
    }
    // SAFETY: as above.
    let all = unsafe { std::slice::from_raw_parts(list, count) }.to_vec();
    // SAFETY: as above.
    let words =
        all.iter().filter(|option| !option.is_null()).map(|option| unsafe { CStr::from_ptr(*option) }).collect();
    (all, words)
}
