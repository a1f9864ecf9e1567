//! The policies that are encoded on the host are what the assembler makes of `createpolicy`.

use ptx_intrinsics::prelude::*;

type Fractional = fn(f32) -> CachePolicy;
type Range = fn(u64, u32, u32) -> CachePolicy;

macro_rules! priorities {
    ($($name:ty, $ptx:literal;)*) => {
        [$(($ptx, CachePolicy::encode_fractional::<$name> as Fractional, CachePolicy::encode_range::<$name> as Range)),*]
    };
}

/// Every choice of priorities, in PTX and in Rust.
const PRIORITIES: [(&str, Fractional, Range); 12] = priorities! {
    L2EvictLast, ".L2::evict_last";
    L2EvictNormal, ".L2::evict_normal";
    L2EvictFirst, ".L2::evict_first";
    L2EvictUnchanged, ".L2::evict_unchanged";
    (L2EvictLast, L2EvictFirst), ".L2::evict_last.L2::evict_first";
    (L2EvictNormal, L2EvictFirst), ".L2::evict_normal.L2::evict_first";
    (L2EvictFirst, L2EvictFirst), ".L2::evict_first.L2::evict_first";
    (L2EvictUnchanged, L2EvictFirst), ".L2::evict_unchanged.L2::evict_first";
    (L2EvictLast, L2EvictUnchanged), ".L2::evict_last.L2::evict_unchanged";
    (L2EvictNormal, L2EvictUnchanged), ".L2::evict_normal.L2::evict_unchanged";
    (L2EvictFirst, L2EvictUnchanged), ".L2::evict_first.L2::evict_unchanged";
    (L2EvictUnchanged, L2EvictUnchanged), ".L2::evict_unchanged.L2::evict_unchanged";
};

#[test]
fn policies_of_the_host_are_those_of_createpolicy() {
    let hex = |text: &str| u64::from_str_radix(text, 16).expect("a number");
    let size = |text: &str| text.parse::<u32>().expect("a size");
    let (mut fractions, mut ranges) = (0, 0);
    for line in include_str!("policies.txt").lines().filter(|line| !line.starts_with('#')) {
        let words: Vec<&str> = line.split(' ').collect();
        let (_, fractional, range) = PRIORITIES.iter().find(|(ptx, ..)| *ptx == words[0]).expect("these priorities");
        let (found, made) = match words[1..] {
            [fraction, "=", made] => {
                fractions += 1;
                (fractional(f32::from_bits(hex(fraction) as u32)), made)
            }
            [address, primary, total, "=", made] => {
                ranges += 1;
                (range(hex(address), size(primary), size(total)), made)
            }
            _ => panic!("{line}"),
        };
        assert_eq!(format!("{:016x}", found.bits()), made, "{line}");
    }
    assert_eq!((fractions, ranges), (12 * 26, 187));
    let constants =
        [CachePolicy::EVICT_LAST, CachePolicy::EVICT_NORMAL, CachePolicy::EVICT_FIRST, CachePolicy::EVICT_UNCHANGED];
    for (constant, (priority, fractional, _)) in constants.iter().zip(PRIORITIES) {
        assert_eq!(constant.bits(), fractional(1.0).bits(), "{priority}");
    }
}
