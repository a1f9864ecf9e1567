//! What others call a word of PTX: a mistake that has such a name is answered by the word.

#[cfg(test)]
mod tests {
    use ptx_intrinsics::grammar::{access::Spelling, atomic::judge_atomic, multimem::judge_multimem};

    /// The word that the crate suggests for a spelling with a word that PTX does not have.
    fn suggested(spelling: &'static str) -> Option<&'static str> {
        match spelling.split('.').next() {
            Some("atom") => judge_atomic(spelling, false).err()?.suggestion(),
            Some("multimem") => judge_multimem(spelling).err()?.suggestion(),
            _ => Spelling::read(spelling).err()?.suggestion(),
        }
    }

    /// Spellings with one word that PTX does not have, the word, and the one that is meant.
    const MISTAKES: &str = include_str!("other_names.txt");

    #[test]
    fn each_other_name_leads_to_the_word() {
        let rows = MISTAKES.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        let rows = rows.map(|line| line.split(' ').collect::<Vec<_>>());
        let wrong = rows.filter_map(|row| {
            let [spelling, name, word] = row[..] else { panic!("{row:?} is no mistake") };
            let leads = suggested(spelling);
            (leads != Some(word)).then(|| format!("{spelling}: {name} leads to {leads:?}, not {word}"))
        });
        let wrong: Vec<String> = wrong.collect();
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}
