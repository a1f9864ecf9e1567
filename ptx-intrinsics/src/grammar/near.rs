//! The word that was probably meant. It is looked for only when the build stops anyway.

use crate::isa::word::same;

/// What others call a word of PTX.
const ALSO_CALLED: &[(&str, &[&str])] = &[
    (".s8", &[".i8", ".int8"]),
    (".s16", &[".i16", ".int16", ".short"]),
    (".s32", &[".i32", ".int32", ".int"]),
    (".s64", &[".i64", ".int64", ".long", ".isize"]),
    (".u8", &[".uint8", ".bool"]),
    (".u16", &[".uint16", ".ushort"]),
    (".u32", &[".uint32", ".uint"]),
    (".u64", &[".uint64", ".ulong", ".usize"]),
    (".f32", &[".float", ".float32"]),
    (".f64", &[".double", ".float64"]),
    (".b128", &[".u128", ".i128", ".s128", ".f128"]),
    (".v2.f32", &[".float2"]),
    (".v2.f64", &[".double2"]),
    (".v2.s32", &[".int2"]),
    (".v2.u32", &[".uint2"]),
    (".v4.f32", &[".float4"]),
    (".v4.s32", &[".int4"]),
    (".v4.u32", &[".uint4"]),
    (".v2", &[".vec2", ".x2"]),
    (".v4", &[".vec4", ".x4"]),
    (".v8", &[".vec8", ".x8"]),
    (".cta", &[".block", ".workgroup"]),
    (".gpu", &[".device"]),
    (".sys", &[".system"]),
    (".nc", &[".readonly", ".noncoherent", ".non_coherent", ".ldg"]),
    (".cs", &[".stream", ".streaming"]),
    (".L1::no_allocate", &[".no_alloc", ".L1::bypass", ".L1::no_cache"]),
    (".exch", &[".swap", ".exchange"]),
    (".cas", &[".compare_exchange", ".cmpxchg"]),
];

/// The longest word that is compared.
const LONGEST: usize = 32;

/// The one of these words that is nearest to this one, if any is near.
pub(crate) const fn nearest(word: &str, lists: &[&[&'static str]]) -> Option<&'static str> {
    let mut best = None;
    let mut least = usize::MAX;
    let mut list = 0;
    while list < lists.len() {
        let mut at = 0;
        while at < lists[list].len() {
            let far = distance(word, lists[list][at]);
            if far < least {
                least = far;
                best = Some(lists[list][at]);
            }
            at += 1;
        }
        list += 1;
    }
    // One letter of three, without the dot.
    if least.saturating_mul(3) < word.len() { best } else { None }
}

/// How far a word is from the one that may be meant: changed, missing, added and swapped letters.
const fn distance(word: &str, meant: &str) -> usize {
    if is_also_called(word, meant) {
        return 0;
    }
    let (word, meant) = (word.as_bytes(), meant.as_bytes());
    if word.len() > LONGEST || meant.len() > LONGEST {
        return usize::MAX;
    }
    if is_part(word, meant) {
        return 1;
    }
    letters_between(word, meant)
}

/// The rows of Damerau's table, and of those the last three.
const fn letters_between(word: &[u8], meant: &[u8]) -> usize {
    let mut before_last = [0; LONGEST + 1];
    let mut last = [0; LONGEST + 1];
    let mut column = 0;
    while column <= meant.len() {
        last[column] = column;
        column += 1;
    }
    let mut row = 1;
    while row <= word.len() {
        let mut this = [0; LONGEST + 1];
        this[0] = row;
        let mut column = 1;
        while column <= meant.len() {
            let other = !word[row - 1].eq_ignore_ascii_case(&meant[column - 1]);
            let mut least = least(last[column - 1] + other as usize, least(last[column], this[column - 1]) + 1);
            let swapped = row > 1
                && column > 1
                && word[row - 1].eq_ignore_ascii_case(&meant[column - 2])
                && word[row - 2].eq_ignore_ascii_case(&meant[column - 1]);
            if swapped && before_last[column - 2] + 1 < least {
                least = before_last[column - 2] + 1;
            }
            this[column] = least;
            column += 1;
        }
        (before_last, last) = (last, this);
        row += 1;
    }
    last[meant.len()]
}

const fn least(a: usize, b: usize) -> usize {
    if a < b { a } else { b }
}

/// Whether a word of four letters or more is how the other one begins or, without the dot, how it ends.
const fn is_part(word: &[u8], of: &[u8]) -> bool {
    if word.len() < 5 || word.len() >= of.len() {
        return false;
    }
    let begin = of.split_at(word.len()).0;
    let end = of.split_at(of.len() - (word.len() - 1)).1;
    letters_between(word, begin) == 0 || letters_between(word.split_at(1).1, end) == 0
}

const fn is_also_called(word: &str, meant: &str) -> bool {
    let mut row = 0;
    while row < ALSO_CALLED.len() {
        let (ptx, names) = ALSO_CALLED[row];
        let mut at = 0;
        while same(ptx.as_bytes(), meant.as_bytes()) && at < names.len() {
            if same(names[at].as_bytes(), word.as_bytes()) {
                return true;
            }
            at += 1;
        }
        row += 1;
    }
    false
}

#[cfg(test)]
mod tests {
    use alloc::format;

    use super::nearest;

    const WORDS: &[&[&str]] =
        &[&[".L1::evict_last", ".L1::evict_first", ".cta", ".gpu", ".global", ".s32", ".f32", ".cs"]];

    #[test]
    fn a_word_is_near_itself_with_one_mistake() {
        for word in [".L1::evict_last", ".L1::evict_first", ".global"] {
            for at in 1..word.len() {
                let (before, after) = word.split_at(at);
                for mistake in [
                    format!("{before}{}", &after[1..]),
                    format!("{before}q{after}"),
                    format!("{before}q{}", &after[1..]),
                ] {
                    assert_eq!(nearest(&mistake, WORDS), Some(word), "{mistake}");
                }
            }
        }
        assert_eq!(nearest(".golbal", WORDS), Some(".global"));
        assert_eq!(nearest(".GLOBAL", WORDS), Some(".global"));
    }

    #[test]
    fn a_part_and_another_name_are_near() {
        for (word, meant) in
            [(".evict_last", ".L1::evict_last"), (".glob", ".global"), (".i32", ".s32"), (".block", ".cta")]
        {
            assert_eq!(nearest(word, WORDS), Some(meant), "{word}");
        }
    }

    #[test]
    fn what_is_far_is_not_near() {
        for word in [".quickly", ".q", ".cp", "", ".L1::evict_last_of_all_that_there_is_in_the_cache"] {
            assert_eq!(nearest(word, WORDS), None, "{word}");
        }
    }
}
