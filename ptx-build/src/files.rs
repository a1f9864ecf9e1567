//! Files that are whole or not there.

use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::error::{Error, Result};

/// Writes a file, and the folders above it, so that it is never seen half-written.
pub fn write_whole(path: &Path, bytes: impl AsRef<[u8]>) -> Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let written = || -> io::Result<()> {
        std::fs::create_dir_all(folder)?;
        // As readable as any file that this user writes.
        let readable = std::fs::Permissions::from_mode(0o666);
        let new = tempfile::Builder::new().permissions(readable).tempfile_in(folder)?;
        std::fs::write(new.path(), bytes)?;
        new.persist(path)?;
        Ok(())
    };
    written().map_err(|error| {
        Error::io("write", path, error)
            .fix("make sure that its folder may be written to, and that the disk is not full")
    })
}
