//! Mutations of what Rust code does.

use super::Mutant;
use crate::command::Machine;
use crate::error::Result;

/// All of them.
pub fn every(_: &Machine) -> Result<Vec<Mutant>> {
    Ok(Vec::new())
}
