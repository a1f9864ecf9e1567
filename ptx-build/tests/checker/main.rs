//! `cargo ptx check` and `cargo ptx run`, with programs and kernels that know nothing of them.

mod calls;
mod chosen;
mod counted;
mod cublas;
mod cufft;
mod curand;
mod deadline;
mod driver;
mod early;
mod ends;
mod gpus;
mod host;
mod jax;
mod launches;
mod linked;
mod loaded;
mod locks;
mod pairs;
mod program;
mod runtime;
mod textures;
mod together;
mod weak;
