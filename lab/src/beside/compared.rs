//! Whether the kernels of a pair write the same.

use super::case::Then;
use super::data::POISON;
use crate::device::{Asked, Fault};

/// What a kernel wrote, and how each piece of memory is compared.
#[derive(Debug)]
pub(super) struct Outputs(Vec<(Then, Vec<u8>)>);

/// Bytes that are compared at once, before they are compared word by word.
const AT_ONCE: usize = 64 << 10;

/// Words of floats of which each has to be a number.
const LOOKED_AT: usize = 1024;

impl Outputs {
    /// An error if a piece of memory was not written at all, or if there are no numbers where there should be.
    pub(super) fn new(pieces: Vec<(Then, Vec<u8>)>) -> Asked<Outputs> {
        if pieces.iter().any(|(_, bytes)| bytes.iter().all(|byte| *byte == POISON)) {
            return Err(Fault::new("it wrote nothing"));
        }
        let is_number = |bits: u32| f32::from_bits(bits).is_finite();
        let wrong = pieces.iter().find_map(|(then, bytes)| {
            let mut few = words(bytes).take(LOOKED_AT);
            few.find(|word| match then {
                Then::F32 { .. } => !is_number(*word),
                Then::Bf16 { .. } => !halves(*word).into_iter().all(is_number),
                _ => false,
            })
        });
        match wrong {
            Some(word) => Err(Fault::new(format_args!("it wrote {word:#010x}, which is no number"))),
            None => Ok(Outputs(pieces)),
        }
    }

    /// How they differ from what the kernel in Rust wrote, if they do.
    pub(super) fn differ_from(&self, rust: &Outputs) -> Option<String> {
        let pieces = self.0.iter().zip(&rust.0).enumerate();
        let mut differences = pieces.filter_map(|(number, ((then, own), (_, rust_own)))| {
            let both = (&own[..], &rust_own[..]);
            match *then {
                Then::Unseen => None,
                Then::Equal => first(both, |own, rust| own == rust),
                Then::F32 { part, least } => first(both, |own, rust| near(own, rust, part, least)),
                Then::Bf16 { part, least } => first(both, |own, rust| {
                    halves(own).into_iter().zip(halves(rust)).all(|(own, rust)| near(own, rust, part, least))
                }),
                Then::AnyOrder => {
                    let [own, rust] = [self, rust].map(|outputs| outputs.in_any_order(number));
                    (own != rust).then(|| format!("{own:x?} is the sum of its words, and not {rust:x?}"))
                }
            }
        });
        differences.next()
    }

    /// A sum of the words of a piece that does not know their order: as many words as the next piece says.
    fn in_any_order(&self, number: usize) -> (u32, u64) {
        let count = self.0.get(number + 1).and_then(|(_, count)| words(count).next()).unwrap_or(0);
        let mixed = |word: u32| {
            let product = (u64::from(word) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            (product ^ product >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9)
        };
        let words = words(&self.0[number].1).take(count as usize);
        (count, words.fold(0, |sum: u64, word| sum.wrapping_add(mixed(word))))
    }
}

fn words(bytes: &[u8]) -> impl Iterator<Item = u32> {
    bytes.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word))
}

/// The bits of two `bf16` as those of floats.
fn halves(word: u32) -> [u32; 2] {
    [word << 16, word & 0xffff_0000]
}

fn near(own: u32, rust: u32, part: f32, least: f32) -> bool {
    let [own, rust] = [own, rust].map(f32::from_bits);
    (own - rust).abs() <= part * own.abs().max(rust.abs()).max(least)
}

/// The first word that is not alike, in words.
fn first((own, rust): (&[u8], &[u8]), is_alike: impl Fn(u32, u32) -> bool) -> Option<String> {
    let pieces = own.chunks(AT_ONCE).zip(rust.chunks(AT_ONCE)).enumerate();
    let mut unlike = pieces.filter(|(_, (own, rust))| own != rust).filter_map(|(piece, (own, rust))| {
        let at = words(own).zip(words(rust)).position(|(own, rust)| !is_alike(own, rust))?;
        let [own, rust] = [own, rust].map(|piece| words(piece).nth(at).unwrap_or_default());
        let at = piece * AT_ONCE / 4 + at;
        Some(format!("word {at} of its output is {own:#010x}, and of the kernel in Rust {rust:#010x}"))
    });
    unlike.next()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(words: &[u32]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    fn outputs(then: Then, words: &[u32], count: u32) -> Outputs {
        Outputs::new(vec![(then, bytes(words)), (Then::Equal, bytes(&[count]))]).expect("they are outputs")
    }

    #[test]
    fn a_difference_is_named_and_what_is_near_is_none() {
        let float = |value: f32| value.to_bits();
        let (part, least) = (1e-3, 1.0);
        let (floats, halves) = (Then::F32 { part, least }, Then::Bf16 { part: 0.01, least });
        let alike: [(Then, [u32; 2], [u32; 2], u32); 5] = [
            (Then::Equal, [1, 2], [1, 2], 0),
            (floats, [float(100.0), float(0.0)], [float(100.09), float(0.0009)], 0),
            (halves, [0x3f80_4000, 0], [0x3f81_4001, 0], 0),
            (Then::AnyOrder, [7, 9], [9, 7], 2),
            (Then::AnyOrder, [7, 9], [7, 5], 1),
        ];
        for (then, own, rust, count) in alike {
            assert_eq!(outputs(then, &own, count).differ_from(&outputs(then, &rust, count)), None, "{then:?}");
        }
        let unlike: [(Then, [u32; 2], [u32; 2], &str); 5] = [
            (Then::Equal, [1, 2], [1, 3], "word 1 of its output is 0x00000002, and of the kernel in Rust 0x00000003"),
            (floats, [float(100.0), 0], [float(100.2), 0], "word 0 "),
            (floats, [0, float(1e-2)], [0, float(2e-2)], "word 1 "),
            (halves, [0x3f80_4000, 0], [0x3f83_4000, 0], "word 0 "),
            (Then::AnyOrder, [7, 9], [7, 5], "(2, "),
        ];
        for (then, own, rust, expected) in unlike {
            let found = outputs(then, &own, 2).differ_from(&outputs(then, &rust, 2)).expect("they differ");
            assert!(found.starts_with(expected), "{found}");
        }
        // A word far behind, and counts that differ.
        let mut many = vec![3u32; AT_ONCE];
        let same = outputs(Then::Equal, &many, 0);
        many[AT_ONCE - 5] = 4;
        let found = outputs(Then::Equal, &many, 0).differ_from(&same).expect("they differ");
        assert!(found.starts_with(&format!("word {} ", AT_ONCE - 5)), "{found}");
        let [one, two] = [1, 2].map(|count| outputs(Then::AnyOrder, &[7, 9], count));
        assert!(one.differ_from(&two).is_some());
    }

    #[test]
    fn what_wrote_nothing_or_no_numbers_is_no_output() {
        let why = |then, word| Outputs::new(vec![(then, bytes(&[word; 3]))]).expect_err("it is none").what;
        assert_eq!(why(Then::Equal, u32::from_le_bytes([POISON; 4])), "it wrote nothing");
        let floats = Then::F32 { part: 0.0, least: 0.0 };
        assert_eq!(why(floats, f32::INFINITY.to_bits()), "it wrote 0x7f800000, which is no number");
        assert_eq!(why(Then::Bf16 { part: 0.0, least: 0.0 }, 0x7fc0), "it wrote 0x00007fc0, which is no number");
    }
}
