//! What the build's target lacks is refused by `cargo check` for it, with nothing but rustc's own flags; and the build
//! script reads those flags.

mod build_script;
mod script;
mod target;

/// What rustc calls the GPU.
const TARGET: &str = "nvptx64-nvidia-cuda";
