//! What a trial cannot see. It compares bytes; an instruction may have words that change none of them.

use ptx_intrinsics::catalogue::Form;

/// Words of an instruction, and what they do besides moving bytes.
const WORDS: [(&str, &[&str]); 6] = [
    ("an eviction hint", &["L1::", "L2::evict_"]),
    ("a cache operator", &["ca", "cg", "cs", "lu", "cv", "wb", "wt"]),
    ("a cache policy", &["L2::cache_hint"]),
    ("a prefetch size", &["L2::64B", "L2::128B", "L2::256B"]),
    ("`.nc`", &["nc"]),
    (
        "an order or a scope",
        &["relaxed", "acquire", "release", "acq_rel", "volatile", "mmio", "cta", "cluster", "gpu", "sys"],
    ),
];

/// Instructions that move nothing, and what they are for.
const INSTRUCTIONS: [(&str, &[&str]); 3] = [
    ("a prefetch", &["prefetch", "prefetchu", "cp.async.bulk.prefetch"]),
    ("a fence", &["fence", "membar"]),
    ("a priority or a discard", &["applypriority", "discard"]),
];

/// What of a form no byte shows.
pub(super) fn unseen(form: &Form) -> Vec<&'static str> {
    let ptx = form.ptx();
    let is_of = |name: &&str| ptx == *name || ptx.strip_prefix(name).is_some_and(|rest| rest.starts_with('.'));
    if let Some((what, _)) = INSTRUCTIONS.iter().find(|(_, names)| names.iter().any(is_of)) {
        return vec![what];
    }
    // The bits that it gives say all of its words, and are compared.
    if is_of(&"createpolicy") {
        return Vec::new();
    }
    let has = |word: &&str| match word.ends_with("::") || word.ends_with('_') {
        true => ptx.contains(&format!(".{word}")),
        false => ptx.split('.').skip(1).any(|own| own == *word),
    };
    WORDS.iter().filter(|(_, words)| words.iter().any(has)).map(|(what, _)| *what).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use host_tests::check::forms_check::every_form;

    #[test]
    fn each_word_that_changes_no_byte_is_named() {
        let forms = every_form();
        let of = |told: &str| unseen(forms.iter().find(|form| form.full_ptx() == told).expect(told));
        let (hint, size, order) = ("an eviction hint", "a prefetch size", "an order or a scope");
        let expected: [(&str, &[&str]); 9] = [
            ("ld.global.nc.L1::evict_last.L2::128B.f32", &[hint, size, "`.nc`"]),
            ("ld.global.f32", &[]),
            ("ld.acquire.gpu.global.f32", &[order]),
            ("st.global.wt.f32", &["a cache operator"]),
            ("prefetch.global.L2::evict_last", &["a prefetch"]),
            ("fence.acq_rel.gpu", &["a fence"]),
            ("discard.global.L2", &["a priority or a discard"]),
            ("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%]", &[order]),
            ("cp.async.wait_group 3", &[]),
        ];
        for (told, words) in expected {
            assert_eq!(of(told), words, "{told}");
        }
        let policies = forms.iter().filter(|form| form.ptx().starts_with("createpolicy"));
        assert_eq!(policies.filter(|form| !unseen(form).is_empty()).count(), 0);
        let seen = forms.iter().filter(|form| unseen(form).is_empty()).count();
        assert!(seen > 0 && seen < forms.len() / 5, "{seen} of {} forms are seen whole", forms.len());
    }
}
