//! PTX says of which line of the source each access is, in every copy of an unrolled loop too.

use super::*;

/// Behind each access is the instruction that it becomes.
const LINES: &str = "
shared! {
    fn tile() -> [u64; 512];
}

fn twice(p: SharedPtr<u16>) -> u32 {
    let one = unsafe { p.read() }; // ld.shared.u16
    2 * u32::from(one)
}

kernel! {
    /// # Safety
    /// As `double`.
    #[launch_bounds(64)]
    pub unsafe fn lines(x: *mut u16) {
        let t = thread_idx_x();
        let (bytes, halves, words) = (tile().cast::<u8>(), tile().cast::<u16>(), tile().cast::<u32>());
        let at = |i: u32| words.add(t + i);
        let (mut sum, mut i) = (0, 0);
        while i < 4 {
            sum += unsafe { bytes.add(t + i).read() as u32 }; // ld.shared.u8
            sum += twice(halves.add(t + i)); // calls twice
            unsafe {
                at(8 * i).write(sum); // st.shared.u32
                sum ^= at(7 * i).read(); // ld.shared.u32
            }
            i += 1;
        }
        unsafe { *x.add(t as usize) = sum as u16 }; // st.global.b16
    }
}
";

/// The lines of an instruction's place in the kernel's file, and of the call that was inlined there.
fn places(ptx: &str, instruction: &str) -> Vec<(u32, Option<u32>)> {
    let line = |place: &str| place.split_whitespace().nth(1).and_then(|line| line.parse().ok());
    let place = |loc: &str| match loc.split_once(", inlined_at ") {
        Some((place, caller)) => Some((line(place)?, line(caller))),
        None => Some((line(loc)?, None)),
    };
    let (mut last, mut found) = (None, Vec::new());
    for text in ptx.lines().map(str::trim) {
        match text.strip_prefix(".loc") {
            Some(loc) => last = place(loc),
            None if text.starts_with(instruction) => found.extend(last),
            None => {}
        }
    }
    found
}

/// Also an assembler takes them.
pub(crate) fn each_access_has_its_line(project: &Project) {
    let source = [SOURCE, LINES].concat();
    project.write("kernels/src/lib.rs", &source);
    let (succeeded, _, complaint) = project.build("../kernels|sm 80|ptx 80", &[("CUDA_HOME", &toolkit())]);
    assert!(succeeded, "{complaint}");
    let ptx = std::fs::read_to_string(project.path("out/kernels.sm_80.ptx")).expect("it is there");
    assert!(!ptx.contains(".debug_info") && !ptx.contains(", debug") && !ptx.contains("$L__tmp"), "{ptx}");
    assert!(ptx.contains(".shared .align 16 .b8 shared_tile[4096];"), "{ptx}");
    let marked = |mark: &str| {
        let line = source.lines().position(|line| line.ends_with(mark)).expect("it is marked");
        u32::try_from(line).expect("a small number") + 1
    };
    let caller = Some(marked("// calls twice"));
    let expected = [("ld.shared.u8", None, 4), ("ld.shared.u16", caller, 4), ("st.shared.u32", None, 4)];
    for (instruction, caller, count) in
        expected.into_iter().chain([("ld.shared.u32", None, 4), ("st.global.b16", None, 1)])
    {
        let place = (marked(&format!("// {instruction}")), caller);
        assert_eq!(places(&ptx, instruction), vec![place; count], "{instruction}\n{ptx}");
    }
    let (succeeded, _, complaint) = project.build("../kernels|sm 80|ptx 80|without lines", &[]);
    assert!(succeeded, "{complaint}");
    let ptx = std::fs::read_to_string(project.path("out/kernels.sm_80.ptx")).expect("it is there");
    assert!(ptx.contains("ld.shared.u16") && !ptx.contains("\t.loc\t") && !ptx.contains("\t.file\t"), "{ptx}");
}
