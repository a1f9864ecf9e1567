//! `cargo ptx audit`.

mod files;
mod inputs;
mod page;
