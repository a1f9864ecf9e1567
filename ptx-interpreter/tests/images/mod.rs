//! Matrices as they are in shared memory.

/// The instructions by which `threads` threads copy the images of A and B to shared memory.
pub(crate) fn copies(images: [usize; 2], threads: usize) -> String {
    let mut copies = String::new();
    for (name, bytes) in ["a", "b"].into_iter().zip(images) {
        for at in (0..bytes).step_by(4 * threads) {
            copies += &format!("ld.global.b32 %w, [%{name}+{at}]; st.shared.b32 [%s{name}+{at}], %w;\n");
        }
    }
    copies
}
