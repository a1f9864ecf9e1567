//! How many instructions of threads the interpreter executes in a second, on one core; and checked on all, by the clock.
//!
//! `cargo run --release -p ptx-interpreter --example speed -- FILE.ptx KERNEL BLOCKS THREADS ARGUMENTS…`: an argument `4096` is a
//! buffer of 4096 bytes, `0:4096` one of zeros, `@FILE` one of the words of a file, and `=7` is the 32-bit number 7. `--unchecked` before the file leaves out the checked runs.

use std::time::Instant;

use ptx_interpreter::{Launch, Outside, Parts, Program};

/// Seconds that this thread has run: other work on the machine does not count.
fn seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux says how long a thread ran");
    let nanoseconds: f64 = text.split(' ').next().and_then(|first| first.parse().ok()).expect("a number");
    nanoseconds / 1e9
}

/// What is in a buffer: the words of a file, zeros, or numbers.
fn words(kind: &str) -> Vec<u32> {
    if let Some(file) = kind.strip_prefix('@') {
        let bytes = std::fs::read(file).expect("the file can be read");
        return bytes.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
    }
    let zeros = kind.strip_prefix("0:");
    let bytes: usize = zeros.unwrap_or(kind).parse().expect("a number of bytes");
    let mut state = 1u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state >> 9 | 0x3f00_0000
    };
    (0..bytes / 4).map(|_| if zeros.is_some() { 0 } else { next() }).collect()
}

fn main() {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let is_checked = arguments.first().is_none_or(|first| first != "--unchecked");
    arguments.drain(..usize::from(!is_checked));
    let [file, kernel, blocks, threads, kinds @ ..] = &arguments[..] else {
        eprintln!("usage: speed [--unchecked] FILE.ptx KERNEL BLOCKS THREADS BYTES… (or =NUMBER, @FILE)");
        std::process::exit(2);
    };
    let text = std::fs::read_to_string(file).expect("the file can be read");
    let program = Program::parse(&text);
    let mut buffers: Vec<Vec<u32>> = Vec::new();
    let values: Vec<u64> = kinds
        .iter()
        .map(|kind| match kind.strip_prefix('=') {
            Some(number) => number.parse().expect("a number"),
            None => {
                buffers.push(words(kind));
                buffers.last().expect("it was pushed").as_ptr() as u64
            }
        })
        .collect();
    let places: Vec<*const u8> = values.iter().map(|value| (&raw const *value).cast()).collect();
    let holds = |start: u64, bytes: usize| {
        let within = |buffer: &Vec<u32>| {
            let begin = buffer.as_ptr() as u64;
            begin <= start && start + bytes as u64 <= begin + 4 * buffer.len() as u64
        };
        buffers.iter().any(within)
    };
    let outside = Outside { holds: &holds, variable: &|_| None };
    let number = |text: &String| text.parse().expect("a number");
    let launch = Launch {
        blocks: [number(blocks), 1, 1],
        threads: [number(threads), 1, 1],
        steps: u64::MAX,
        ..Launch::new(kernel, &places)
    };
    let told = |what: &str, steps: u64, seconds: f64| {
        let speed = steps as f64 / seconds / 1e6;
        println!("{kernel}, {what}: {steps} instructions in {seconds:.3} s: {speed:.1} million a second");
    };
    let began = seconds();
    // SAFETY: the caller names the kernel's arguments, and the buffers are held here.
    let steps = unsafe { program.run(&outside, &launch) }.unwrap_or_else(|stop| panic!("{stop}"));
    told("unchecked", steps, seconds() - began);
    if !is_checked {
        return;
    }
    for (what, parts) in
        [("as a whole", Parts::None), ("in parts", Parts::OnOneCore), ("on all cores", Parts::OnAllCores)]
    {
        let launch = Launch { parts, ..launch };
        let (began, clock) = (seconds(), Instant::now());
        // SAFETY: the same.
        let report = unsafe { program.check(&outside, &launch, Vec::new()) };
        let ran = if parts == Parts::OnAllCores { clock.elapsed().as_secs_f64() } else { seconds() - began };
        told(&format!("checked {what}"), report.instructions, ran);
        let (accessed, remembered) = report.shadow;
        let bytes = remembered as f64 / accessed as f64;
        println!("{kernel}: {} parts, {bytes:.1} bytes of shadow for each byte", report.parts);
        report.findings.iter().for_each(|finding| print!("{finding}"));
    }
}
