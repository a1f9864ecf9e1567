//! What `malloc` gives to kernels: its bounds, its values, who may free it and when, and what stays for the next kernel.

use std::sync::Mutex;

use ptx_interpreter::{Finding, Heap, Kind, Launch, Outside, Program, Report, Trial};

/// A kernel whose threads have `%r1` for the number of a thread, `out` for an argument, and macros to call.
fn program(body: &str) -> Program {
    let text = format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n\
         .extern .func (.param .b64 result) malloc (.param .b64 bytes);\n.extern .func free (.param .b64 place);\n\
         .visible .entry kernel(.param .u64 out) {{\n\
         .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .pred %p<3>; .shared .b64 given;\n\
         .param .b64 asked; .param .b64 answer; .param .b64 place;\n\
         ld.param.u64 %d1, [out]; mov.u32 %r1, %tid.x;\n{body}\nret;\n}}"
    );
    Program::parse(&text)
}

/// Each thread gets this number of bytes; `%d2` is where they are.
fn malloc(bytes: u64) -> String {
    format!("st.param.b64 [asked], {bytes}; call (answer), malloc, (asked); ld.param.b64 %d2, [answer];\n")
}

const FREE: &str = "st.param.b64 [place], %d2; call free, (place);\n";

fn check(body: &str) -> Report {
    check_threads(body, 1).0
}

/// The report, and the first number that the kernel wrote.
fn check_threads(body: &str, threads: u32) -> (Report, u32) {
    let program = program(body);
    let mut trial = Trial::new(&program, "kernel");
    trial.block([threads, 1, 1]).buffer(&[0; 256]).expect("there is memory");
    let report = trial.check();
    assert!(report.stop.is_none(), "{report}");
    (report, u32::from_le_bytes(trial.content(0)[..4].try_into().expect("four bytes")))
}

fn only(report: &Report) -> &Finding {
    assert_eq!(report.findings.len(), 1, "{report}");
    &report.findings[0]
}

#[test]
fn each_thread_has_memory_of_its_own() {
    let body = malloc(40)
        + "st.u32 [%d2+36], %r1; ld.u32 %r2, [%d2+36]; mul.wide.u32 %d3, %r1, 4; add.u64 %d3, %d1, %d3; \
           add.u32 %r2, %r2, 7; st.global.u32 [%d3], %r2;\n"
        + FREE;
    let (report, first) = check_threads(&body, 64);
    assert!(report.is_clean(), "{report}");
    assert_eq!(first, 7);
}

#[test]
fn an_access_beyond_the_end_is_found() {
    let report = check(&(malloc(40) + "st.u32 [%d2+40], %r1;"));
    let finding = only(&report);
    assert_eq!(finding.kind, Kind::Bounds);
    assert_eq!(
        finding.places[0].what,
        "accesses 4 bytes at 0 bytes beyond the end of memory that malloc gave, which has 40 bytes"
    );
}

#[test]
fn bytes_that_nobody_has_written_are_found() {
    let report = check(&(malloc(8) + "st.u32 [%d2], %r1; ld.u32 %r2, [%d2+4]; st.global.u32 [%d1], %r2;"));
    assert_eq!(only(&report).kind, Kind::Uninitialised);
}

#[test]
fn an_access_after_the_end_of_its_life_is_found() {
    let report = check(&(malloc(8) + "st.u32 [%d2], %r1;\n" + FREE + "ld.u32 %r2, [%d2]; st.global.u32 [%d1], %r2;"));
    let finding = only(&report);
    assert_eq!((finding.kind, &finding.title[..]), (Kind::Bounds, "memory is accessed that a thread has freed"));
    assert!(finding.places[0].what.ends_with("byte 0 of memory that malloc gave, which the kernel has freed"));
}

#[test]
fn a_wrong_free_is_found() {
    let title = "memory is freed that `malloc` has not given, or that is freed already";
    for (body, what) in [
        (malloc(8) + FREE + FREE, "frees byte 0 of memory that malloc gave, which the kernel has freed"),
        (malloc(8) + "add.u64 %d2, %d2, 4;\n" + FREE, "frees byte 4 of memory that malloc gave"),
        ("mov.u64 %d2, %d1;\n".to_owned() + FREE, "frees byte 0 of argument 0"),
    ] {
        let report = check(&body);
        let finding = only(&report);
        assert_eq!((finding.kind, &finding.title[..]), (Kind::Bounds, title));
        assert_eq!(finding.places[0].what, what);
    }
    // Nobody has to ask whether there is something to free.
    assert!(check(&("mov.u64 %d2, 0;\n".to_owned() + FREE)).is_clean());
}

/// The first thread allocates and frees for all others.
#[test]
fn nobody_frees_what_others_still_use() {
    let body = |barrier: &str| {
        "setp.ne.u32 %p1, %r1, 0; @%p1 bra $have;\n".to_owned()
            + &malloc(256)
            + "st.shared.u64 [given], %d2;\n$have: bar.sync 0; ld.shared.u64 %d2, [given];\n\
               mul.wide.u32 %d3, %r1, 4; add.u64 %d3, %d2, %d3; st.u32 [%d3], %r1;\n"
            + barrier
            + "@%p1 bra $end;\n"
            + FREE
            + "$end:"
    };
    let (report, _) = check_threads(&body("bar.sync 0;\n"), 64);
    assert!(report.is_clean(), "{report}");
    let (report, _) = check_threads(&body(""), 64);
    assert!(
        report.findings.iter().any(|finding| finding.kind == Kind::Race || finding.kind == Kind::Bounds),
        "{report}"
    );
    let race = report.findings.iter().find(|finding| finding.kind == Kind::Race);
    assert!(race.is_none_or(|race| race.to_string().contains("call free")), "{report}");
}

/// What is read behind a barrier is read before the memory goes away, however late a load may be.
#[test]
fn no_load_is_late_beyond_a_free() {
    let body = "setp.ne.u32 %p1, %r1, 0; @%p1 bra $have;\n".to_owned()
        + &malloc(256)
        + "st.shared.u64 [given], %d2;\n$have: bar.sync 0; ld.shared.u64 %d2, [given];\n\
           mul.wide.u32 %d3, %r1, 4; add.u64 %d4, %d2, %d3; st.u32 [%d4], %r1; bar.sync 0;\n\
           xor.b32 %r2, %r1, 63; mul.wide.u32 %d4, %r2, 4; add.u64 %d4, %d2, %d4; ld.u32 %r3, [%d4];\n\
           bar.sync 0;\n@%p1 bra $end;\n"
        + FREE
        + "$end: add.u64 %d3, %d1, %d3; st.global.u32 [%d3], %r3;";
    let program = program(&body);
    for seed in 0..32 {
        let mut trial = Trial::new(&program, "kernel");
        trial.block([64, 1, 1]).weak(true).seed(seed).buffer(&[0; 256]).expect("there is memory");
        let report = trial.check();
        assert!(report.is_clean(), "seed {seed}: {report}");
    }
}

#[test]
fn a_heap_without_room_gives_null() {
    let body = malloc(9 << 20) + "cvt.u32.u64 %r2, %d2; add.u32 %r2, %r2, 3; st.global.u32 [%d1], %r2;";
    let (report, first) = check_threads(&body, 1);
    assert!(report.is_clean(), "{report}");
    assert_eq!(first, 3);
}

/// One kernel allocates and writes, the next one reads and frees.
#[test]
fn what_a_kernel_allocates_stays_for_the_next() {
    let write = program(&(malloc(8) + "mov.u32 %r2, 5; st.u32 [%d2+4], %r2; st.global.u64 [%d1], %d2;"));
    let read =
        program(&("ld.global.u64 %d2, [%d1]; ld.u32 %r2, [%d2+4]; st.global.u32 [%d1+8], %r2;\n".to_owned() + FREE));
    let heap = Mutex::new(Heap::default());
    let mut numbers = [0u64; 2];
    let place = numbers.as_mut_ptr();
    let begin = place as u64;
    let value = begin.to_le_bytes();
    let holds = |address: u64, bytes: usize| address >= begin && address + bytes as u64 <= begin + 16;
    let run = |program: &Program| {
        let arguments = [value.as_ptr()];
        let launch = Launch { threads: [1; 3], heap: Some(&heap), ..Launch::new("kernel", &arguments) };
        let outside = Outside { holds: &holds, variable: &|_| None };
        // SAFETY: the argument has eight bytes, and the numbers are this test's own.
        unsafe { program.check(&outside, &launch, Vec::new()) }
    };
    assert!(run(&write).is_clean());
    assert!(run(&read).is_clean());
    // SAFETY: the number is there; a kernel has written it.
    assert_eq!(unsafe { place.add(1).read() }, 5);
    // It is freed now.
    assert_eq!(only(&run(&read)).kind, Kind::Bounds);
}
