//! Which files of the source are shown to a user.

/// Whether what a file has is best told by who calls it: one call of `ptx-intrinsics` is one instruction.
pub(crate) fn is_library(file: &str) -> bool {
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
