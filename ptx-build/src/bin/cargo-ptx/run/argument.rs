//! `--arg`: what a kernel is given.

use std::fs;
use std::str::FromStr;

use ptx_build::error::{Error, Result};

use super::map::Map;

/// An argument of the kernel.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Argument {
    /// A buffer of this number of bytes.
    Buffer(usize, Content),
    /// A number, as its bytes.
    Value(Vec<u8>),
    /// The pointer of another argument.
    Same(usize),
    /// Another virtual address of another argument's memory.
    Alias(usize),
    /// A structure of buffers and numbers, each as aligned as C does it.
    Struct(Vec<Argument>),
    Map(Map),
}

/// What a buffer begins with.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Content {
    Zeros,
    IotaU32,
    RandomF32,
    RandomU32,
    /// Nothing: the kernel has to write it before it reads it.
    Unwritten,
    File(String),
}

const EXPECTED: &str = "buf:BYTES:CONTENT, where CONTENT is zeros, iota_u32, random_f32, random_u32, unwritten or a file; \
                        TYPE:NUMBER, where TYPE is u8 to u64, s8 to s64, f32 or f64; same:ARGUMENT; alias:ARGUMENT; \
                        struct:FIELD,FIELD, where each FIELD is a buffer or a number; \
                        or map:TENSOR:TYPE:SIZES:BOX or map:TENSOR:TYPE:SIZES:BOX:SWIZZLE, where TENSOR is a CONTENT or the \
                        number of a buffer's argument, TYPE u8 to u64, s32, s64, f16, bf16, tf32, f32 or f64, SIZES and BOX \
                        numbers of elements as 64x32, the fastest dimension first, and SWIZZLE 32, 64 or 128";

impl FromStr for Argument {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Argument, String> {
        let wrong = || format!("expected {EXPECTED}");
        let (kind, rest) = text.split_once(':').ok_or_else(wrong)?;
        match kind {
            "buf" => {
                let (bytes, content) = rest.split_once(':').unwrap_or((rest, "zeros"));
                let bytes = bytes.parse().map_err(|_| format!("{bytes} is no number of bytes: {}", wrong()))?;
                Ok(Argument::Buffer(bytes, Content::of(content)))
            }
            "struct" => rest.split(',').map(field).collect::<std::result::Result<_, _>>().map(Argument::Struct),
            "map" => Map::parse(rest).map(Argument::Map).ok_or_else(wrong),
            "alias" => rest.parse().map(Argument::Alias).map_err(|_| wrong()),
            "same" => rest.parse().map(Argument::Same).map_err(|_| wrong()),
            _ => value(kind, rest).map(Argument::Value).ok_or_else(wrong),
        }
    }
}

/// A field of a structure.
fn field(text: &str) -> std::result::Result<Argument, String> {
    match text.parse()? {
        Argument::Buffer(_, Content::Unwritten) => {
            Err(format!("`{text}`: a buffer in a structure begins with values: expected {EXPECTED}"))
        }
        field @ (Argument::Buffer(..) | Argument::Value(_)) => Ok(field),
        _ => Err(format!("`{text}` cannot be in a structure: expected {EXPECTED}")),
    }
}

/// The fields of a structure one after the other, with what C puts between them and behind the last.
pub(crate) fn laid_out(fields: &[Vec<u8>]) -> Vec<u8> {
    let mut all = Vec::new();
    for field in fields {
        all.resize(all.len().next_multiple_of(field.len()), 0);
        all.extend(field);
    }
    let alignment = fields.iter().map(Vec::len).max().unwrap_or(1);
    all.resize(all.len().next_multiple_of(alignment), 0);
    all
}

impl Content {
    pub(crate) fn of(text: &str) -> Content {
        match text {
            "zeros" => Content::Zeros,
            "iota_u32" => Content::IotaU32,
            "random_f32" => Content::RandomF32,
            "random_u32" => Content::RandomU32,
            "unwritten" => Content::Unwritten,
            file => Content::File(file.to_owned()),
        }
    }

    /// The bytes of a buffer; none, if nobody has written them. `number` makes random ones different in each buffer.
    pub(crate) fn bytes(&self, bytes: usize, number: usize) -> Result<Option<Vec<u8>>> {
        let words = |word: &mut dyn FnMut(u32) -> u32| {
            let all = (0..bytes.div_ceil(4) as u32).flat_map(|at| word(at).to_le_bytes());
            Ok(Some(all.take(bytes).collect()))
        };
        let mut state = 0x9e37_79b9_7f4a_7c15 ^ number as u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 32) as u32
        };
        match self {
            Content::Zeros => Ok(Some(vec![0; bytes])),
            Content::IotaU32 => words(&mut |at| at),
            // From -1 to 1.
            Content::RandomF32 => words(&mut |_| ((random() >> 8) as f32 / (1 << 23) as f32 - 1.0).to_bits()),
            Content::RandomU32 => words(&mut |_| random()),
            Content::Unwritten => Ok(None),
            Content::File(path) => {
                let fix = format!("expected {EXPECTED}");
                let mut read = fs::read(path).map_err(|error| Error::new(error).at(path).fix(fix))?;
                read.resize(bytes, 0);
                Ok(Some(read))
            }
        }
    }
}

fn value(kind: &str, text: &str) -> Option<Vec<u8>> {
    fn bytes<const N: usize, T: FromStr>(text: &str, of: fn(T) -> [u8; N]) -> Option<Vec<u8>> {
        Some(of(text.parse().ok()?).to_vec())
    }
    match kind {
        "u8" => bytes(text, u8::to_le_bytes),
        "u16" => bytes(text, u16::to_le_bytes),
        "u32" => bytes(text, u32::to_le_bytes),
        "u64" => bytes(text, u64::to_le_bytes),
        "s8" | "i8" => bytes(text, i8::to_le_bytes),
        "s16" | "i16" => bytes(text, i16::to_le_bytes),
        "s32" | "i32" => bytes(text, i32::to_le_bytes),
        "s64" | "i64" => bytes(text, i64::to_le_bytes),
        "f32" => bytes(text, f32::to_le_bytes),
        "f64" => bytes(text, f64::to_le_bytes),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_structure_is_laid_out_as_in_c() {
        let fields = [vec![1], vec![2, 2, 2, 2], vec![3; 8], vec![4, 4]];
        let expected = [&[1, 0, 0, 0, 2, 2, 2, 2][..], &[3; 8], &[4, 4, 0, 0, 0, 0, 0, 0]].concat();
        assert_eq!(laid_out(&fields), expected);
        assert!("struct:u32:7,same:0".parse::<Argument>().is_err());
        let expected = Argument::Struct(vec![Argument::Value(vec![7, 0]), Argument::Buffer(64, Content::IotaU32)]);
        assert_eq!("struct:u16:7,buf:64:iota_u32".parse(), Ok(expected));
    }
}
