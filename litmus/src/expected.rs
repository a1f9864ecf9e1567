//! Published results: lines of `FILE,1` if a file's condition holds, `FILE,0` if not.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use ptx_build::error::{Error, Result};

/// What a file of published results says.
#[derive(Clone, Debug, Default)]
pub struct Expected {
    holds: HashMap<String, bool>,
    from: PathBuf,
}

impl Expected {
    /// Reads one.
    pub fn read(path: &Path) -> Result<Expected> {
        let text = std::fs::read_to_string(path).map_err(|error| Error::io("read", path, error))?;
        let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        let read = lines.map(|(at, line)| {
            let (file, holds) = line.trim().rsplit_once(',').unwrap_or((line, ""));
            match holds.trim() {
                "0" => Ok((file.trim().to_owned(), false)),
                "1" => Ok((file.trim().to_owned(), true)),
                _ => Err(Error::new(format_args!("`{line}` is not FILE,0 or FILE,1"))
                    .at(format_args!("{}:{}", path.display(), at + 1))
                    .fix("write 1 where the condition holds, 0 where it does not")),
            }
        });
        Ok(Expected { holds: read.collect::<Result<_>>()?, from: path.to_owned() })
    }

    /// How many files it names.
    pub fn len(&self) -> usize {
        self.holds.len()
    }

    /// Whether it names none.
    pub fn is_empty(&self) -> bool {
        self.holds.is_empty()
    }

    /// What it says about a file, which it may name by the end of its path.
    pub fn of(&self, file: &Path) -> Option<bool> {
        let parts: Vec<_> = file.iter().map(|part| part.to_string_lossy()).collect();
        (0..parts.len()).find_map(|from| self.holds.get(&parts[from..].join("/")).copied())
    }

    /// An error unless it says something about one of these files.
    pub fn covers(&self, files: &[PathBuf]) -> Result<()> {
        if files.iter().any(|file| self.of(file).is_some()) {
            return Ok(());
        }
        let shown = |name: Option<String>| name.unwrap_or_else(|| "none".to_owned());
        Err(Error::new("no published result is of a file that is judged")
            .at(self.from.display())
            .because(format_args!(
                "it names {} files, first {}; the first file that is judged is {}",
                self.len(),
                shown(self.holds.keys().min().cloned()),
                shown(files.first().map(|file| file.display().to_string())),
            ))
            .fix("name the published results of these files: each line is the end of a file's path, and 0 or 1"))
    }
}
