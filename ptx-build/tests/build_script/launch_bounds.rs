//! Launch bounds that keep loads from being in flight are warned of.

use super::*;

/// A kernel whose loop has sixteen loads of four registers each.
const COPIES: &str = "
kernel! {
    /// # Safety
    /// As `double`, with room for all.
    #[launch_bounds(256)]
    pub unsafe fn copies(x: *const V4<f32>, y: *mut V4<f32>, count: u32) {
        let mut i = global_index();
        while i < count {
            let from = unsafe { x.add(i as usize) };
            let to = unsafe { y.add(i as usize) };
            let held: [V4<f32>; 16] =
                core::array::from_fn(|k| unsafe { ld_global_nc::<NoHint, NoPrefetch>().read(from.add(256 * k)) });
            unroll!(for k in 0..16 {
                unsafe { st_global::<NoHint>().write(to.add(256 * k), held[k]) };
            });
            i += 4096;
        }
    }
}
";

/// Only what more registers would change is a warning, and only where there is a disassembler to see it.
pub(crate) fn loads_that_are_not_in_flight_are_a_warning(project: &Project) {
    let toolkit = toolkit();
    let warnings = |source: &str, variables: &[(&str, &Path)]| {
        project.write("kernels/src/lib.rs", &[SOURCE, source].concat());
        let (succeeded, lines, complaint) = project.build("../kernels|sm 90|ptx 80", variables);
        assert!(succeeded, "{complaint}");
        let warnings = lines.iter().filter_map(|line| line.strip_prefix("cargo::warning="));
        warnings.map(str::to_owned).collect::<Vec<_>>()
    };
    let installed: &[(&str, &Path)] = &[("CUDA_HOME", &toolkit)];
    let found = warnings(COPIES, installed);
    let [found] = &found[..] else { panic!("{found:#?}") };
    assert!(found.starts_with("sm_90: copies has ") && found.contains(" of its 16 loads in flight at once"), "{found}");
    assert!(found.contains(", and would have 16 with launch bounds; write #[launch_bounds(256, 1)]: "), "{found}");
    assert_eq!(warnings(&COPIES.replace("(256)]", "(256, 1)]"), installed), [""; 0]);
    assert_eq!(warnings(COPIES, &[]), [""; 0]);
    assert!(!project.path("out/kernels.sm_90.bound.cubin").exists());
}
