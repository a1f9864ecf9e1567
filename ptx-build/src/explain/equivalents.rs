//! Words that CUDA code writes and the catalogue leaves out, because they change nothing: `.shared::cta` of a barrier, `.tile` of a copy of a box,
//! `.aligned` of a barrier of the block, an order that is the default.

/// The instruction as the catalogue may have it: with these words changed, and then without an order that is the default.
pub(super) fn equivalents(text: &str) -> Vec<String> {
    let mut words: Vec<&str> = text.split('.').collect();
    words.retain(|word| *word != "weak");
    barrier_of_block(&mut words);
    cluster_barrier(&mut words);
    let is = |words: &[&str], begin: &[&str]| words.starts_with(begin);
    let bulk = words.contains(&"bulk");
    if is(&words, &["mbarrier"]) || is(&words, &["cp", "async"]) && !bulk {
        words.iter_mut().filter(|word| **word == "shared::cta").for_each(|word| *word = "shared");
    }
    if bulk && words.contains(&"tensor") {
        mode(&mut words);
    }
    let mut short = words.clone();
    if is(&words, &["mbarrier"]) {
        let counts_bytes = words.get(1).is_some_and(|word| ["expect_tx", "complete_tx"].contains(word));
        let default =
            |order: &str| if counts_bytes { order == "relaxed" } else { ["release", "acquire"].contains(&order) };
        if let Some(at) = words.windows(2).position(|pair| default(pair[0]) && pair[1] == "cta") {
            short.drain(at..at + 2);
        }
    }
    [words, short].map(|words| words.join(".")).into()
}

/// `barrier.cta.sync.aligned` is `bar.sync`.
fn barrier_of_block(words: &mut Vec<&str>) {
    if !["bar", "barrier"].contains(&words[0]) || ["cluster", "warp"].iter().any(|other| words.contains(other)) {
        return;
    }
    words.retain(|word| *word != "cta");
    if words.contains(&"aligned") {
        words[0] = "bar";
        words.retain(|word| *word != "aligned");
    }
}

/// An arrival releases and a wait acquires.
fn cluster_barrier(words: &mut Vec<&str>) {
    if words.starts_with(&["barrier", "cluster"]) {
        let default = if words.contains(&"wait") { "acquire" } else { "release" };
        words.retain(|word| *word != default);
    }
}

/// A copy of a box without a mode is one of a tile; a prefetch of one says nothing.
fn mode(words: &mut Vec<&str>) {
    if words.contains(&"prefetch") {
        words.retain(|word| *word != "tile");
    } else if !words.iter().any(|word| word.starts_with("tile") || word.starts_with("im2col")) {
        words.push("tile");
    }
}
