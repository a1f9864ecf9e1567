//! `cargo ptx check`, with programs that use arrays, textures and surfaces.

use crate::program::Program;

/// The host computes what each fetch has to give: in all modes, of all shapes, and of elements of several kinds.
#[test]
fn fetches_give_what_the_guide_says() {
    // With the runtime beside it, and in it.
    for program in [Program::of_nvcc("textures.cu", &[]), Program::with_runtime("textures.cu")] {
        let (code, printed, complaint) = program.check(&[]);
        assert_eq!(code, Some(0), "{printed}{complaint}");
        assert!(printed.starts_with("right: 38152 values\n"), "{printed}{complaint}");
        assert!(printed.contains("fetch<…> (7 instances): no findings in 224 launches"), "{printed}");
        assert!(printed.contains("write: no findings in 6 launches"), "{printed}");
        assert!(!complaint.contains("missing here"), "{complaint}");
    }
}

/// The driver's functions, with a kernel in PTX that asks for sizes too.
#[test]
fn a_program_of_the_driver_has_textures() {
    let program = Program::of_cc("textures.c", &[]);
    let (code, printed, complaint) = program.check(&[]);
    assert_eq!(code, Some(0), "{printed}{complaint}");
    assert!(printed.starts_with("right\n"), "{printed}{complaint}");
}

/// What is wrong, the kind and title of the finding, and words of what else is said. The twin of each has none.
const MISTAKES: [(&str, &str, &str); 18] = [
    (
        "written_surface",
        "nc]: bytes that this grid writes are read as if it did not write them",
        "a fetch from a texture",
    ),
    (
        "written_memory",
        "nc]: bytes that this grid writes are read as if it did not write them",
        "texture_mistakes.cu:32",
    ),
    ("read_back", "nc]: bytes that this grid writes are read as if it did not write them", "texture_mistakes.cu:39"),
    (
        "outside_write",
        "bounds]: an access is outside of a surface",
        "a write of 4 bytes outside of its surface: from byte 256 of row 3 on; it has 64 rows of 256 bytes",
    ),
    (
        "outside_read",
        "bounds]: an access is outside of a surface",
        "a read of 4 bytes outside of its surface: from byte 8 of row 64 on; it has 64 rows of 256 bytes",
    ),
    ("misaligned", "misaligned]: an address is not as aligned", "byte 2 of a row is no multiple of 4"),
    ("same_place", "race]: two threads write the same bytes", "byte 768 of allocation 1 (cudaMallocArray)"),
    ("destroyed", "bounds]: a number is used that stands for no texture or surface", "is no texture object"),
    ("freed_array", "bounds]: a number is used that stands for no texture or surface", "free its memory, after"),
    ("freed_memory", "bounds]: a number is used that stands for no texture or surface", "texture_mistakes.cu:65"),
    ("a_surface", "bounds]: a number is used that stands for no texture or surface", "is no texture object"),
    (
        "other_shape",
        "launch]: an instruction is used as it must not be",
        "`.1d` of an array or memory of two dimensions",
    ),
    ("unwritten", "uninitialised]: bytes are read that nobody has written", "of allocation 4 (cudaMallocArray)"),
    (
        "long_copy",
        "bounds]: cudaMemcpy2DToArray goes beyond its array",
        "[256, 64, 1] from [4, 0, 0] on, of 256 bytes, 64 rows and 1 planes",
    ),
    ("freed_twice", "bounds]: cudaFreeArray frees", "which is no array"),
    (
        "two_streams",
        "race]: kernel `write_at` in stream 1 writes bytes that kernel `fetch` in stream 2 reads",
        "256 bytes are used by both, the first of them byte 768 of allocation 1 (cudaMallocArray)",
    ),
    (
        "copied_meanwhile",
        "race]: kernel `fetch_linear` in stream 1 reads bytes that a fill (cudaMemsetAsync) in stream 2 writes",
        "allocation 2 (cudaMalloc)",
    ),
    (
        "array_copied_meanwhile",
        "race]: kernel `fetch` in stream 1 reads bytes that a copy (cudaMemcpy2DToArrayAsync) in stream 2 writes",
        "allocation 1 (cudaMallocArray)",
    ),
];

#[test]
fn mistakes_with_textures_are_found() {
    let program = Program::of_nvcc("texture_mistakes.cu", &[]);
    for (name, title, words) in MISTAKES {
        let (code, printed, complaint) = program.check(&[name]);
        assert_eq!(code, Some(1), "{name}: {printed}{complaint}");
        assert!(printed.contains(&format!("error[{title}")) && printed.contains(words), "{name}: {printed}");
        assert_eq!(printed.matches("error[").count(), 1, "{name}: {printed}");
        program.is_silent(&["right", name]);
    }
    // A thread may fetch what it then writes.
    program.is_silent(&["in_place"]);
}
