//! Where the program is when it accesses something or calls, as its debug information says it.

use std::ffi::c_void;
use std::path::Path;
use std::sync::Arc;

use ptx_interpreter::Place;

use crate::changed::is_checked;
use crate::python;

/// Functions around a place that are noted.
const CALLERS: usize = 32;
/// Parts of the names of other people's files.
const FOREIGN: [&str; 4] = ["/cuda_runtime.h", "/include/crt/", "/registry/src/", "/git/checkouts/"];
/// Headers of NVIDIA's libraries of templates, by a part of their names and the end. The program's line that calls them says more.
const LIBRARIES: [(&str, &str); 3] = [("/thrust/", ".h"), ("/thrust/", ".inl"), ("/cub/", ".cuh")];
/// nvcc makes such a function for each kernel. The one around it has the kernel's own name.
const STUB: &str = "device_stub_";

/// What the functions around are called is only looked for when somebody asks.
#[derive(Clone, Debug, Default)]
pub(crate) struct Caller {
    /// Instructions, the innermost first.
    stack: Arc<[usize]>,
    /// Where a program in Python is.
    python: Option<python::Place>,
}

/// A file and a line.
type Line = (String, u32);

impl Caller {
    /// Of an access by an instruction.
    pub(crate) fn of_access(instruction: usize) -> Caller {
        // The handler's own functions come first.
        let around = stack(|at| at != instruction).into_iter().skip(1);
        let stack = [instruction].into_iter().chain(around.map(|end| end.saturating_sub(1))).collect();
        Caller { stack, python: python::place() }
    }

    /// Of a call of this library.
    pub(crate) fn of_call() -> Caller {
        if !is_checked() {
            return Caller::default();
        }
        let own = library_of(Caller::of_call as *const c_void);
        let outside = stack(|at| library_of(at as *const c_void) == own);
        Caller { stack: outside.into_iter().map(|end| end.saturating_sub(1)).collect(), python: python::place() }
    }

    /// The first function around whose source is there.
    pub(crate) fn place(&self, what: &str) -> Option<Place> {
        self.line().map(|(function, line)| Place::of_the_host(function, line, what.to_owned()))
    }

    /// How messages go on with it.
    pub(crate) fn called(&self) -> String {
        let called = |(function, (file, line))| format!(", called at {file}:{line} in {function}");
        self.line().map(called).unwrap_or_default()
    }

    /// The first function of the program around, by its name alone: ` in main`.
    pub(crate) fn function(&self) -> String {
        let name = self.functions().map(|(name, _)| name).find(|name| !name.starts_with("__mem"));
        name.filter(|name| !name.is_empty()).map(|name| format!(" in {name}")).unwrap_or_default()
    }

    /// The first function around whose source is there: of the program itself, if there is one.
    fn line(&self) -> Option<(String, Line)> {
        self.python.clone().or_else(|| self.line_outside(&LIBRARIES)).or_else(|| self.line_outside(&[]))
    }

    fn line_outside(&self, libraries: &[(&str, &str)]) -> Option<(String, Line)> {
        let mut stub: Option<String> = None;
        let is_foreign = |file: &str| {
            FOREIGN.iter().any(|part| file.contains(part))
                || libraries.iter().any(|(part, end)| file.contains(part) && file.ends_with(end))
        };
        self.functions().find_map(|(name, line)| {
            let is_of_kernel = stub.take().is_some_and(|stub| is_of_same_kernel(&stub, &name));
            let is_there = |(file, _): &Line| Path::new(file).is_file() && !is_foreign(file);
            if name.contains(STUB) {
                stub = Some(name);
                return None;
            }
            line.filter(|line| !is_of_kernel && is_there(line)).map(|line| (name, line))
        })
    }

    /// The functions around, the innermost first.
    fn functions(&self) -> impl Iterator<Item = (String, Option<Line>)> {
        self.stack.iter().flat_map(|instruction| {
            let mut all = Vec::new();
            backtrace::resolve(*instruction as *mut _, |symbol| {
                let name = symbol.name().map(|name| format!("{name:#}")).unwrap_or_default();
                let file = symbol.filename().map(|file| file.display().to_string());
                all.push((name, file.zip(symbol.lineno())));
            });
            all
        })
    }
}

/// Whether a function is the kernel that a stub is for: `__device_stub__Z4fillPi(int*)`, `__device_stub__fill`, or of a template
/// `__wrapper__device_stub_fill<int>`.
fn is_of_same_kernel(stub: &str, name: &str) -> bool {
    let base = |name: &str| name.split(['(', '<']).next().unwrap_or_default().to_owned();
    let kernel = base(stub.split_once(STUB).map_or("", |(_, kernel)| kernel).trim_start_matches('_'));
    let name = base(name);
    let name = name.rsplit([':', ' ']).next().unwrap_or_default();
    kernel == name || kernel.contains(&format!("{}{name}", name.len()))
}

/// Where the functions around go on, the innermost first, behind the first ones that are left out.
fn stack(is_left_out: impl Fn(usize) -> bool) -> Vec<usize> {
    let mut stack = Vec::with_capacity(CALLERS);
    backtrace::trace(|frame| {
        let at = frame.ip() as usize;
        if !stack.is_empty() || !is_left_out(at) {
            stack.push(at);
        }
        stack.len() < CALLERS
    });
    stack
}

/// Where the library of an address begins.
fn library_of(address: *const c_void) -> usize {
    // SAFETY: the loader fills it in, if the address is of a library.
    unsafe {
        let mut info: libc::Dl_info = std::mem::zeroed();
        if libc::dladdr(address, &raw mut info) == 0 { 0 } else { info.dli_fbase as usize }
    }
}
