//! Names of kernels.

/// The instruction that a text is about, as a name of a kernel.
pub(crate) fn name_of(text: &str) -> String {
    let all: Vec<&str> =
        text.split(';').filter_map(|line| line.split_whitespace().find(|word| word.contains('.'))).collect();
    let is_move = |word: &&&str| ["ld.", "st.", "bar.", "mov.", "setp."].iter().any(|begin| word.starts_with(begin));
    let main = all.iter().find(|word| !is_move(word)).or(all.first()).copied().unwrap_or(text);
    // A move is about the register of the machine that it reads, if it reads one.
    let special = text.split('%').nth(2).map(|name| name.trim_end_matches(';')).filter(|_| main.starts_with("mov."));
    let special = special.filter(|name| name.len() > 2 && !name.contains([',', '}']));
    let special = special.map(|name| format!("_{name}")).unwrap_or_default();
    (main.to_owned() + &special).replace("::", "_").replace('.', "_")
}
