//! Where an installed `cargo ptx` keeps what it makes: it has no checkout.

use std::path::{Path, PathBuf};

use ptx_build::command::Machine;

/// This machine. Tools are downloaded into the checkout that this program is of; an installed one has none, and uses the user's
/// cache.
pub(crate) fn machine() -> Machine {
    let mut machine = Machine::current();
    if let Some(cache) = cache(&machine).filter(|_| !machine.repository.join("ptx-audit/Cargo.toml").is_file()) {
        machine.repository = cache;
    }
    machine
}

/// The folder of this program in the user's cache.
pub(crate) fn cache(machine: &Machine) -> Option<PathBuf> {
    let cache = machine.var("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.or_else(|| Some(Path::new(machine.var("HOME")?).join(".cache")));
    Some(cache?.join("cargo-ptx"))
}
