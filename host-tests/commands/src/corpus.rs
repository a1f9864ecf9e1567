//! `cargo xtask corpus`.

use std::fs;
use std::path::{Path, PathBuf};

use host_tests::tools::command::Machine;
use host_tests::tools::cuda_tools::CudaTools;
use host_tests::tools::error::{Error, Result};
use host_tests::tools::files::write_whole;
use host_tests::tools::program::print;
use host_tests::tools::progress::Progress;

#[derive(clap::Args)]
pub(crate) struct Corpus {
    /// Write the PTX instead of comparing it
    #[arg(long, visible_alias = "bless")]
    write: bool,
}

/// Where the sources and their PTX are.
const FOLDER: &str = "ptx-interpreter/tests/corpus";

impl Corpus {
    pub(crate) fn run(self) -> Result<()> {
        let progress = Progress::new();
        let folder = Machine::current().repository.join(FOLDER);
        let nvcc = CudaTools::find(&progress)?.nvcc(&progress)?;
        let scratch = tempfile::tempdir().map_err(Error::new)?;
        let sources = sources(&folder)?;
        let mut differ = Vec::new();
        for source in &sources {
            let _step = progress.step(format!("nvcc {}", source.display()));
            let (out, kept) = (scratch.path().join("new.ptx"), source.with_extension("ptx"));
            nvcc.ptx_with(source, architecture(source)?, &["-lineinfo"], &out)?;
            let text = plain(&read(&out)?);
            if self.write {
                write_whole(&kept, &text)?;
            } else if fs::read_to_string(&kept).is_ok_and(|kept| kept != text) || !kept.exists() {
                differ.push(kept.display().to_string());
            }
        }
        if !differ.is_empty() {
            return Err(Error::new(format_args!("nvcc makes another text of it: {}", differ.join(", ")))
                .fix("write the texts: cargo xtask corpus --write"));
        }
        print(&format!("{} sources of the corpus\n", sources.len()))
    }
}

fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).map_err(|error| Error::io("read", path, error))
}

fn sources(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).map_err(|error| Error::io("read", folder, error))?;
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "cu"));
    paths.sort();
    Ok(paths)
}

/// What the source says: `// sm_100`, in its first line.
fn architecture(source: &Path) -> Result<String> {
    let text = read(source)?;
    let first = text.lines().next().unwrap_or_default();
    let mut words = first.split(|letter: char| letter != '_' && !letter.is_alphanumeric());
    Ok(words.find(|word| word.starts_with("sm_")).unwrap_or("sm_90").to_owned())
}

/// Without what depends on where nvcc is: the folders of sources, and the sections for debuggers.
fn plain(ptx: &str) -> String {
    let lines = ptx.lines().take_while(|line| !line.trim_start().starts_with(".section"));
    let plain = |line: &str| match line.split_once('"') {
        Some((head, path)) if head.trim_start().starts_with(".file") => {
            format!("{head}\"{}\n", path.rsplit('/').next().unwrap_or(path))
        }
        _ => format!("{line}\n"),
    };
    lines.map(plain).collect()
}
