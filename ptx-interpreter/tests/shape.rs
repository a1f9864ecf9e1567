//! What a host asks of a module, and where its variables are.

use ptx_interpreter::{Program, Trial};

/// Each thread writes to a variable of the kernel and to what the launch adds, and reads both.
const BOTH: &str = ".version 8.0\n.target sm_80\n.address_size 64\n\
    .extern .shared .align 16 .b8 more[];\n\
    .shared .align 4 .b8 other[64];\n\
    .const .align 4 .u32 factor = 3;\n\
    .visible .entry k(.param .u64 p, .param .u8 small, .param .align 8 .b8 big[12]) .maxntid 128 {\n\
    .reg .b32 %r<6>; .reg .b64 %d<4>; .shared .align 4 .b8 own[128];\n\
    ld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 2;\n\
    mov.u32 %r3, own; add.u32 %r3, %r3, %r2; mov.u32 %r4, more; add.u32 %r4, %r4, %r2;\n\
    st.shared.u32 [%r3], %r1; st.shared.u32 [%r4], 7; \n\
    ld.shared.u32 %r3, [%r3]; ld.shared.u32 %r4, [%r4]; add.u32 %r3, %r3, %r4;\n\
    cvt.u64.u32 %d2, %r2; add.u64 %d1, %d1, %d2; st.global.u32 [%d1], %r3; ret;\n}\n";

#[test]
fn what_a_launch_adds_is_apart_from_the_variables_of_the_kernel() {
    let program = Program::parse(BOTH);
    let mut trial = Trial::new(&program, "k");
    trial.shared(128).buffer(&[0; 128]).expect("a little memory").value(&[0]).value(&[0; 12]);
    let report = trial.check();
    assert_eq!((report.findings, report.stop), (vec![], None));
    let values = trial.content(0).chunks(4).map(|word| u32::from_le_bytes(word.try_into().expect("four bytes")));
    assert_eq!(values.collect::<Vec<_>>(), (7..39).collect::<Vec<_>>());
}

/// LLVM writes an array of no elements as a byte that is aligned as more, and the bytes that a launch adds go on with it. A byte that is aligned
/// as one is a variable.
#[test]
fn an_array_without_a_length_has_what_a_launch_adds() {
    let run = |align: u32, more: &str, shared: usize| {
        let program = Program::parse(&format!(
            ".version 8.0\n.target sm_80\n.address_size 64\n{more}\n.visible .entry k(.param .u64 p) {{\n\
             .reg .b32 %r<6>; .reg .b64 %d<4>; .shared .align {align} .b8 own;\nld.param.u64 %d1, [p];\n\
             mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 2; mov.u32 %r3, own; add.u32 %r3, %r3, %r2;\n\
             st.shared.u32 [%r3], %r1; ld.shared.u32 %r4, [%r3];\n\
             cvt.u64.u32 %d2, %r2; add.u64 %d3, %d1, %d2; st.global.u32 [%d3], %r4; ret;\n}}\n"
        ));
        let mut trial = Trial::new(&program, "k");
        trial.shared(shared).buffer(&[0; 128]).expect("a little memory");
        let report = trial.check();
        let values: Vec<u8> = (0..32u32).flat_map(u32::to_le_bytes).collect();
        (report.is_clean() && trial.content(0) == values, report.to_string())
    };
    assert!(run(16, "", 128).0);
    let (is_right, report) = run(1, "", 128);
    assert!(!is_right && report.contains("`own`, which has 1 bytes"), "{report}");
    assert!(!run(16, "", 64).0);
    // Beside dynamic shared memory with a name of its own it has a byte of its own.
    let aligned = ".extern .shared .align 16 .b8 more[];";
    let flag = Program::parse(&format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n{aligned}\n.visible .entry k(.param .u64 p) {{\n\
         .reg .b32 %r<6>; .reg .b64 %d<4>; .shared .align 16 .b8 flag;\nld.param.u64 %d1, [p];\n\
         st.shared.u8 [flag], 7; st.shared.u32 [more], 1; ld.shared.u8 %r1, [flag]; st.global.u32 [%d1], %r1; ret;\n}}\n"
    ));
    let mut trial = Trial::new(&flag, "k");
    trial.block([1, 1, 1]).shared(16).buffer(&[0; 4]).expect("a little memory");
    let report = trial.check();
    assert!(report.is_clean(), "{report}");
    assert_eq!(trial.content(0), [7, 0, 0, 0]);
}

#[test]
fn a_module_says_what_its_kernels_take() {
    let program = Program::parse(BOTH);
    let kernel = program.kernel("k").expect("it is there");
    assert_eq!(kernel.parameters, [(0, 8), (8, 1), (16, 12)]);
    assert_eq!((kernel.shared, kernel.most_threads, kernel.exact_threads), (128, Some(128), None));
    let [factor] = program.variables() else { panic!("{:?}", program.variables()) };
    assert_eq!((factor.name.as_str(), factor.bytes, factor.constant), ("factor", 4, true));
    assert_eq!(factor.content, [3, 0, 0, 0]);
}
