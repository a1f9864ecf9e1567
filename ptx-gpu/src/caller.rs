//! Where the program is when it accesses something or calls.

use std::ffi::c_void;
use std::path::Path;

use ptx_interpreter::Place;

use crate::python;

/// Functions around a place that are noted.
const CALLERS: usize = 32;

#[derive(Clone, Debug)]
pub(crate) struct Caller {
    /// An instruction, and where the functions around it go on.
    stack: Vec<usize>,
    /// Where a program in Python is.
    python: Option<python::Place>,
}

impl Caller {
    /// Of an access by an instruction.
    pub(crate) fn of_access(instruction: usize) -> Caller {
        let mut stack = Vec::with_capacity(CALLERS);
        backtrace::trace(|frame| {
            // The handler's own functions come first.
            if !stack.is_empty() || frame.ip() as usize == instruction {
                stack.push(frame.ip() as usize);
            }
            stack.len() < CALLERS
        });
        if stack.is_empty() {
            stack.push(instruction);
        }
        Caller { stack, python: python::place() }
    }

    /// Of a call of this library.
    pub(crate) fn of_call() -> Caller {
        let mut stack = Vec::with_capacity(CALLERS);
        backtrace::trace(|frame| {
            stack.push(frame.ip() as usize);
            stack.len() < CALLERS
        });
        let own = library_of(Caller::of_call as *const c_void);
        let mut outside = stack.into_iter().skip_while(|at| library_of(*at as *const c_void) == own);
        // The others are where a call ends.
        let first = outside.next().map(|at| at - 1);
        Caller { stack: first.into_iter().chain(outside).collect(), python: python::place() }
    }

    /// The first function around whose source is there.
    pub(crate) fn place(&self, what: &str) -> Option<Place> {
        if let Some((function, source)) = self.python.clone() {
            return Some(Place::of_the_host(function, source, what.to_owned()));
        }
        let is_there =
            |(_, source): &(String, Source)| source.as_ref().is_some_and(|(file, _)| Path::new(file).is_file());
        let (function, source) = self.functions().find(is_there)?;
        Some(Place::of_the_host(function, source?, what.to_owned()))
    }

    /// The first function of the program around, by its name alone: ` in main`.
    pub(crate) fn function(&self) -> String {
        let name = self.functions().map(|(name, _)| name).find(|name| !name.starts_with("__mem"));
        name.filter(|name| !name.is_empty()).map(|name| format!(" in {name}")).unwrap_or_default()
    }

    /// The functions around, the innermost first.
    fn functions(&self) -> impl Iterator<Item = (String, Source)> {
        self.stack.iter().enumerate().flat_map(|(number, caller)| {
            let mut all = Vec::new();
            // The others are where a call ends.
            let instruction = caller.saturating_sub(usize::from(number > 0)) as *mut _;
            backtrace::resolve(instruction, |symbol| {
                let name = symbol.name().map(|name| format!("{name:#}")).unwrap_or_default();
                let file = symbol.filename().map(|file| file.display().to_string());
                all.push((name, file.zip(symbol.lineno())));
            });
            all
        })
    }
}

/// A file and a line, if they are known.
type Source = Option<(String, u32)>;

/// Where the library of an address begins.
fn library_of(address: *const c_void) -> usize {
    // SAFETY: the loader fills it in, if the address is of a library.
    unsafe {
        let mut info: libc::Dl_info = std::mem::zeroed();
        if libc::dladdr(address, &raw mut info) == 0 { 0 } else { info.dli_fbase as usize }
    }
}
