//! A copy of the checkout, in which mutants are made.

use std::path::{Path, PathBuf};

use super::{Mutant, replaced};
use crate::tools::command::Machine;
use crate::tools::error::{Error, Result};

/// What a copy leaves out.
const LEFT_OUT: [&str; 2] = ["target", ".git"];

/// A copy of the checkout.
pub struct Tree {
    from: PathBuf,
    /// Its root.
    pub root: PathBuf,
    /// The files that define gates, each with the line that brings its gates into scope, so that a gate can become another.
    gates: Vec<(String, String)>,
}

impl Tree {
    /// Copies what has changed since the last time. `gates` is put after each file that is changed;
    /// what is built lies in a folder of the copy's own, but for the shared ones.
    pub fn new(machine: &Machine, name: &str, gates: &[(String, String)], shared: &[&str]) -> Result<Tree> {
        let root = machine.target().join("mutants").join(name);
        create(&root)?;
        let tree = Tree { from: machine.repository.clone(), root, gates: gates.to_vec() };
        copy(&tree.from, &tree.root)?;
        let target = tree.root.join("target");
        create(&target)?;
        // NVIDIA's tools, and for a sample `core` too, as they were provided and compiled for the checkout.
        for shared in shared {
            let (from, to) = (machine.target().join(shared), target.join(shared));
            create(&from)?;
            if !to.exists() {
                std::os::unix::fs::symlink(&from, &to).map_err(|error| Error::io("link", &to, error))?;
            }
        }
        Ok(tree)
    }

    /// Makes exactly these changes; every other file becomes as it was.
    pub fn apply(&self, files: &[String], mutants: &[Mutant]) -> Result<()> {
        for file in files {
            let from = self.from.join(file);
            let source = std::fs::read_to_string(&from).map_err(|error| Error::io("read", &from, error))?;
            let own = mutants.iter().filter(|mutant| mutant.file == *file);
            let changes: Vec<_> = own.map(|mutant| (mutant.range.clone(), mutant.with.clone())).collect();
            // A module does not import itself.
            let others = self.gates.iter().filter(|(own, _)| own != file && !changes.is_empty());
            let gates: String = others.map(|(_, line)| line.as_str()).collect();
            self.write(file, &(replaced(&source, changes) + &gates))?;
        }
        Ok(())
    }

    /// Writes a file, if it is another one.
    pub fn write(&self, file: &str, text: &str) -> Result<()> {
        let path = self.root.join(file);
        if std::fs::read_to_string(&path).is_ok_and(|old| old == text) {
            return Ok(());
        }
        create(path.parent().unwrap_or(&path))?;
        std::fs::write(&path, text).map_err(|error| Error::io("write", &path, error))
    }

    /// The machine whose checkout this copy is.
    pub fn machine(&self) -> Machine {
        Machine { repository: self.root.clone(), ..Machine::current() }
    }
}

fn create(folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder).map_err(|error| Error::io("create the folder", folder, error))
}

/// Copies a file or a folder, without what was built; links are followed.
fn copy(from: &Path, to: &Path) -> Result<()> {
    let failed = |error| Error::io("copy", from, error);
    if !from.is_dir() {
        let bytes = std::fs::read(from).map_err(failed)?;
        if std::fs::read(to).is_ok_and(|old| old == bytes) {
            return Ok(());
        }
        return std::fs::write(to, bytes).map_err(|error| Error::io("write", to, error));
    }
    create(to)?;
    for entry in std::fs::read_dir(from).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        if !LEFT_OUT.iter().any(|name| entry.file_name() == *name) {
            copy(&entry.path(), &to.join(entry.file_name()))?;
        }
    }
    Ok(())
}
