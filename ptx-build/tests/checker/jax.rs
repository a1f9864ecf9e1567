//! What JAX asks for before it compiles, and JAX itself.

use std::path::Path;
use std::process::Command;

use crate::loaded::python_with;
use crate::program::{check, source};

/// Modules stand for JAX's.
#[test]
fn jax_is_led_to_the_gpu_and_to_the_assembler() {
    let mut python = Command::new("python3");
    python.arg(source("jax/asks.py")).env("XLA_FLAGS", "--mine");
    let (_, printed, complaint) = check(&[], &python);
    assert_eq!(
        printed,
        "gpu True\nptxas True /toolkit/nvvm\nflags --mine cuda_async\n\
         version 1 ptxas fatal   : Unsupported .version 99.99; current version is '9.3'\nmade 0 PTX\n",
        "{complaint}"
    );
}

/// `cargo test -p ptx-build --test checker jax -- --ignored`
#[test]
#[ignore = "it installs JAX, which has three gigabytes"]
fn jax_and_pallas_run() {
    let python = python_with("python-jax-0.10.2", &["jax[cuda13]==0.10.2", "absl-py"]);
    let run =
        |words: &[&str]| check(&[], Command::new(Path::new(&python)).arg(source("python/jax_kernels.py")).args(words));
    let (code, printed, complaint) = run(&[]);
    assert_eq!(code, Some(0), "{printed}{complaint}");
    assert!(printed.contains("right\n") && printed.matches("no findings").count() >= 3, "{printed}");
    let (code, printed, complaint) = run(&["early"]);
    assert_eq!(code, Some(1), "{printed}{complaint}");
    assert!(printed.contains("error[async]") && printed.contains("jax_kernels.py:24"), "{printed}");
}
