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
#[inline]
pub(crate) const fn nearest(word: &str, lists: &[&[&'static str]]) -> Option<&'static str> {
    let in_ptx = in_ptx(word);
    let mut best = None;
    // One letter of three, without the dot.
    let mut least = word.len().div_ceil(3);
    let mut list = 0;
    while list < lists.len() {
        let mut at = 0;
        while at < lists[list].len() {
            let meant = lists[list][at];
            let far = match in_ptx {
                Some(ptx) if same(ptx.as_bytes(), meant.as_bytes()) => 0,
                _ => distance(word.as_bytes(), meant.as_bytes(), least),
            };
            if far < least {
                least = far;
                best = Some(meant);
            }
            at += 1;
        }
        list += 1;
    }
    best
}

/// How far a word is from the one that may be meant: changed, missing, added and swapped letters. What is as far as the limit
/// need not be told apart.
#[inline]
const fn distance(word: &[u8], meant: &[u8], limit: usize) -> usize {
    if word.len() > LONGEST || meant.len() > LONGEST {
        return usize::MAX;
    }
    if is_part(word, meant) {
        return 1;
    }
    // At least this number of letters is missing, or too many.
    if word.len().abs_diff(meant.len()) >= limit {
        return usize::MAX;
    }
    letters_between(word, meant)
}

/// The rows of Damerau's table, and of those the last three.
#[inline]
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

#[inline]
const fn least(a: usize, b: usize) -> usize {
    if a < b { a } else { b }
}

/// Whether a word of four letters or more is how the other one begins or, without the dot, how it ends.
#[inline]
const fn is_part(word: &[u8], of: &[u8]) -> bool {
    if word.len() < 5 || word.len() >= of.len() {
        return false;
    }
    let begin = of.split_at(word.len()).0;
    let end = of.split_at(of.len() - (word.len() - 1)).1;
    same_in_any_case(word, begin) || same_in_any_case(word.split_at(1).1, end)
}

/// Whether two texts of one length are the same, whatever the case of their letters. The method of slices is not const in 1.88.
#[inline]
const fn same_in_any_case(a: &[u8], b: &[u8]) -> bool {
    let mut at = 0;
    while at < a.len() && a[at].eq_ignore_ascii_case(&b[at]) {
        at += 1;
    }
    at == a.len()
}

/// The word of PTX that others call so.
#[inline]
const fn in_ptx(word: &str) -> Option<&'static str> {
    let mut row = 0;
    while row < ALSO_CALLED.len() {
        let (ptx, names) = ALSO_CALLED[row];
        let mut at = 0;
        while at < names.len() {
            if same(names[at].as_bytes(), word.as_bytes()) {
                return Some(ptx);
            }
            at += 1;
        }
        row += 1;
    }
    None
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
