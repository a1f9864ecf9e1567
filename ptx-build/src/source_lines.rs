//! Of which lines of the source the PTX is.

use ptx_sass::inlined_at::with_inlined_at;

use crate::error::Result;
use crate::ptx::Module;
use crate::target::PtxVersion;

/// The version that brought `inlined_at`.
const INLINED_AT: PtxVersion = PtxVersion::new(7, 2);

/// The module without debug sections, which `ptxas` cannot read as LLVM writes them. Where it has some, its lines are those of the user's
/// source.
pub(crate) fn told(text: &str) -> Result<String> {
    let version = Module::parse(text)?.version;
    Ok(with_inlined_at(text, version >= INLINED_AT, is_library))
}

/// Whether what a file has is best told by who calls it: one call of `ptx-intrinsics` is one instruction.
fn is_library(file: &str) -> bool {
    let is_of = |folder: &str, name: &str| {
        let version = folder.strip_prefix(name).map(|rest| rest.strip_prefix('-').unwrap_or(rest));
        version.is_some_and(|version| version.is_empty() || version.starts_with(|first: char| first.is_ascii_digit()))
    };
    let folders: Vec<&str> = file.split('/').collect();
    let is_in = |names: [&str; 2]| folders.windows(3).any(|path| is_of(path[0], names[0]) && path[1] == names[1]);
    is_in(["library", "core"]) || is_in(["ptx-intrinsics", "src"])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_by_its_caller() {
        let of_core = "/rust/lib/rustlib/src/rust/library/core/src/ptr/mut_ptr.rs";
        let files = [of_core, "/r/src/ptx-intrinsics-0.1.0/src/emit/instruction.rs", "/r/ptx-intrinsics/src/lib.rs"];
        assert_eq!(files.map(is_library), [true; 3]);
        let files = [
            "/me/kernels/src/lib.rs",
            "/r/ptx-kernel/src/block.rs",
            "/me/ptx-intrinsics-tests/src/lib.rs",
            "/library/src/x.rs",
        ];
        assert_eq!(files.map(is_library), [false; 4]);
    }
}
