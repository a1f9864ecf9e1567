//! Arrays in local memory are warned of.

use super::*;

/// A kernel whose array is indexed by what it reads, and one that indexes by constants alone. Both hold 256 bytes.
const HOLDS: &str = "
const HELD: usize = 16;

kernel! {
    /// # Safety
    /// As `double`, with numbers below 64.
    pub unsafe fn looks_up(x: *mut u32) {
        let mut held = [0; 4 * HELD];
        let i = global_index() as usize;
        unsafe {
            unroll!(for k in 0..HELD {
                held[4 * k] = ldg(x.add(i + k));
            });
            *x = held[(ldg(x.add(i)) % 64) as usize];
        }
    }
}

kernel! {
    /// # Safety
    /// As `double`.
    #[launch_bounds(256, 1)]
    pub unsafe fn adds_up(x: *mut u32) {
        let mut held = [[0; 4]; HELD];
        let i = global_index() as usize;
        unsafe {
            unroll!(for k in 0..HELD {
                unroll!(for j in 0..4 {
                    held[k][j] = ldg(x.add(i + 4 * k + j));
                });
            });
            unroll!(for k in 0..HELD {
                unroll!(for j in 0..4 {
                    *x.add(i) += held[k][j];
                });
            });
        }
    }
}
";

/// Of the assembler that is installed, and of the PTX alone if there is none.
pub(crate) fn an_array_is_a_warning(project: &Project) {
    project.write("kernels/src/lib.rs", &[SOURCE, HOLDS].concat());
    let toolkit = toolkit();
    for variables in [&[][..], &[("CUDA_HOME", toolkit.as_path())]] {
        let (succeeded, lines, complaint) = project.build("../kernels|sm 80|ptx 80", variables);
        assert!(succeeded, "{complaint}");
        let warnings: Vec<&str> = lines.iter().filter_map(|line| line.strip_prefix("cargo::warning=")).collect();
        let expected = "sm_80: looks_up has a stack frame of 256 bytes: an array goes through local memory, because something \
                        indexes it by a number that is no constant; write the loop with unroll! of ptx-kernel, or keep the \
                        array in shared memory";
        assert_eq!(warnings, [expected], "{variables:?}");
    }
}
