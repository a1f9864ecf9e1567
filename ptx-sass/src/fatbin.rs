//! Fat binaries: what nvcc puts into a program, PTX and machine code for several GPUs, often compressed.

use std::fmt;
use std::io::Read;

/// What a fat binary begins with.
const MAGIC: [u8; 4] = 0xba55_ed50_u32.to_le_bytes();
/// Bytes of its own header, and the fewest of an image's header.
const HEADER: usize = 16;
const IMAGE_HEADER: usize = 64;

/// Bits of an image's flags.
const LZ4: u64 = 1 << 13;
const ZSTD: u64 = 1 << 15;

/// What an image holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// PTX, as text.
    Ptx,
    /// Machine code, as an ELF file.
    Cubin,
    /// Something else, such as what the linker of device code reads.
    Other(u16),
}

/// How an image is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// It is not.
    None,
    /// As LZ4 does it: nvcc's `--compress-mode=speed`, and what nvcc of CUDA 12 does.
    Lz4,
    /// As Zstandard does it, which is what nvcc of CUDA 13 does.
    Zstd,
}

/// One image of a fat binary.
#[derive(Clone, Debug)]
pub struct Image<'a> {
    /// What it holds.
    pub kind: Kind,
    /// The GPU: 90 for sm_90, of PTX the one that it was compiled for. Of sm_90a it is 90 too.
    pub sm: u32,
    /// The file that it was compiled from, if the compiler has said it.
    pub file: Option<&'a str>,
    /// How it is compressed.
    pub compression: Compression,
    stored: &'a [u8],
    length: usize,
}

/// Why bytes are no fat binary, or cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable(String);

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unreadable {}

fn unreadable<T>(text: impl Into<String>) -> Result<T, Unreadable> {
    Err(Unreadable(text.into()))
}

/// How many bytes a fat binary has, from its first 16; `None` if it is none.
pub fn length(header: &[u8]) -> Option<usize> {
    if !header.starts_with(&MAGIC) {
        return None;
    }
    let files = usize::try_from(number(header, 8, 8)?).ok()?;
    (number(header, 6, 2)? as usize).checked_add(files)
}

/// The images of a fat binary. What comes after its end is not looked at.
///
/// ```
/// use ptx_sass::fatbin::{Kind, images};
///
/// let bytes = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fatbin/zstd.fatbin"));
/// let images = images(bytes).unwrap();
/// assert_eq!((images[0].kind, images[0].sm), (Kind::Ptx, 80));
/// assert!(images[0].text().unwrap().contains(".visible .entry scale("));
/// ```
///
/// # Errors
/// The bytes are no fat binary, or it is cut off.
pub fn images(bytes: &[u8]) -> Result<Vec<Image<'_>>, Unreadable> {
    let Some(length) = length(bytes) else { return unreadable("this is no fat binary") };
    let Some(whole) = bytes.get(..length) else {
        return unreadable(format!("a fat binary of {length} bytes is cut off after {}", bytes.len()));
    };
    let header = number(whole, 6, 2).map_or(HEADER, |bytes| bytes as usize);
    let (mut images, mut rest) = (Vec::new(), whole.get(header..).unwrap_or_default());
    while !rest.is_empty() {
        let Some((image, bytes)) = image(rest) else { return unreadable("an image of a fat binary is cut off") };
        images.push(image);
        rest = &rest[bytes..];
    }
    Ok(images)
}

/// The fat binaries in a file of any kind: an executable, a library or an object file.
pub fn find(file: &[u8]) -> Vec<&[u8]> {
    let (mut found, mut at) = (Vec::new(), 0);
    // Linkers align them to 8 bytes.
    while let Some(rest) = file.get(at..).filter(|rest| rest.len() >= HEADER) {
        let whole = length(rest).and_then(|length| rest.get(..length)).filter(|whole| images(whole).is_ok());
        found.extend(whole);
        at += whole.map_or(8, |whole| whole.len().next_multiple_of(8));
    }
    found
}

/// The first image, and its bytes with its header.
fn image(bytes: &[u8]) -> Option<(Image<'_>, usize)> {
    let (header, payload) = (number(bytes, 4, 4)? as usize, usize::try_from(number(bytes, 8, 8)?).ok()?);
    if header < IMAGE_HEADER {
        return None;
    }
    let whole = header.checked_add(payload)?;
    let stored = bytes.get(header..whole)?;
    let flags = number(bytes, 40, 8)?;
    let compression = match flags {
        flags if flags & ZSTD != 0 => Compression::Zstd,
        flags if flags & LZ4 != 0 => Compression::Lz4,
        _ => Compression::None,
    };
    let kind = match number(bytes, 0, 2)? {
        1 => Kind::Ptx,
        2 => Kind::Cubin,
        other => Kind::Other(other as u16),
    };
    // Padding follows what is compressed.
    let (stored, length) = match compression {
        Compression::None => (stored, stored.len()),
        _ => (stored.get(..number(bytes, 16, 4)? as usize)?, usize::try_from(number(bytes, 56, 8)?).ok()?),
    };
    let sm = number(bytes, 28, 4)? as u32;
    let [name, name_length] = [32, 36].map(|at| number(bytes, at, 4).unwrap_or_default() as usize);
    let name = name.checked_add(name_length).and_then(|end| bytes[..header].get(name..end));
    let file = name.and_then(|name| std::str::from_utf8(name).ok()).filter(|name| !name.is_empty());
    Some((Image { kind, sm, file, compression, stored, length }, whole))
}

fn number(bytes: &[u8], at: usize, size: usize) -> Option<u64> {
    let mut number = [0; 8];
    number[..size].copy_from_slice(bytes.get(at..at + size)?);
    Some(u64::from_le_bytes(number))
}

impl Image<'_> {
    /// What it holds, decompressed.
    ///
    /// # Errors
    /// The compressed bytes are damaged.
    pub fn bytes(&self) -> Result<Vec<u8>, Unreadable> {
        let damaged = |error: String| Unreadable(format!("a compressed image of a fat binary is damaged: {error}"));
        let content = match self.compression {
            Compression::None => self.stored.to_vec(),
            Compression::Lz4 => {
                lz4_flex::block::decompress(self.stored, self.length).map_err(|error| damaged(error.to_string()))?
            }
            Compression::Zstd => {
                let mut content = Vec::new();
                let decoder = ruzstd::decoding::StreamingDecoder::new(self.stored);
                let decoder = decoder.map_err(|error| damaged(error.to_string()))?;
                // A damaged length must not fill the memory.
                let read = decoder.take(self.length as u64 + 1).read_to_end(&mut content);
                read.map_err(|error| damaged(error.to_string()))?;
                content
            }
        };
        if content.len() == self.length {
            Ok(content)
        } else {
            Err(damaged(format!("it has {} bytes instead of {}", content.len(), self.length)))
        }
    }

    /// PTX as text, without the padding after it.
    ///
    /// # Errors
    /// It is no PTX, or the compressed bytes are damaged.
    pub fn text(&self) -> Result<String, Unreadable> {
        if self.kind != Kind::Ptx {
            return unreadable("the image is no PTX");
        }
        let mut bytes = self.bytes()?;
        bytes.truncate(bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len()));
        String::from_utf8(bytes).map_err(|_| Unreadable("the PTX of a fat binary is no text".into()))
    }
}
