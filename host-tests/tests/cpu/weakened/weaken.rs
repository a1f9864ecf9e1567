//! Weakens one statement of a kernel's PTX.

/// What is done to a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Change {
    /// A barrier of the block or of the cluster, or one half of that, is left out.
    NoBarrier,
    /// A fence is left out.
    NoFence,
    /// A fence between proxies is left out.
    NoProxyFence,
    /// An order becomes a weaker one: of a fence, an access, an atomic, or an arrival.
    Order,
    /// A scope becomes narrower.
    Scope,
    /// A strong access becomes weak.
    Weak,
    /// A wait for copies is left out, or waits for one group less, or for what was read alone.
    Wait,
    /// A wait for a barrier in memory goes on at once.
    Phase,
    /// A group of copies is not committed.
    NoCommit,
    /// A barrier in memory is not told how many bytes it has to wait for.
    NoBytes,
}

/// A kernel with one statement changed.
#[derive(Clone, Debug)]
pub(super) struct Weakening {
    /// The statement.
    pub(super) was: String,
    /// What became of it; nothing if it was left out.
    pub(super) now: String,
    pub(super) change: Change,
    /// Which of the kernel's statements with the same first word and the same change it is.
    pub(super) number: usize,
    line: usize,
    column: usize,
}

impl Weakening {
    /// The first word of the statement: its instruction.
    pub(super) fn instruction(&self) -> &str {
        instruction(&self.was)
    }

    /// The text with the change.
    pub(super) fn apply(&self, text: &str) -> String {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let end = self.column + self.was.len();
        // A statement that is left out leaves its semicolon in a pair of braces.
        lines[self.line].replace_range(self.column..end, &self.now);
        if self.now.is_empty() {
            lines[self.line].remove(self.column);
        }
        lines.join("\n") + "\n"
    }
}

/// The lines of a module's one entry, with their numbers.
fn kernel(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let (mut inside, mut depth, mut ended) = (false, 0, false);
    text.lines().enumerate().filter(move |(_, line)| {
        inside |= line.contains(".entry ");
        let is_own = inside && !ended;
        if is_own {
            let before = depth;
            depth += braces(line);
            ended = before > 0 && depth == 0;
        }
        is_own
    })
}

/// How many braces a line opens, less those that it closes.
pub(super) fn braces(line: &str) -> i32 {
    let code = line.split("//").next().unwrap_or_default();
    code.chars().map(|letter| i32::from(letter == '{') - i32::from(letter == '}')).sum()
}

/// Every way to weaken one statement of a kernel: of a module that has no other entry.
pub(super) fn weakenings(text: &str) -> Vec<Weakening> {
    let mut all: Vec<Weakening> = Vec::new();
    for (line, content) in kernel(text) {
        let code = content.split("//").next().unwrap_or_default();
        for (column, was) in statements(code) {
            for (change, now) in weaker(was) {
                let alike = |other: &&Weakening| (other.change, other.instruction()) == (change, instruction(was));
                let number = all.iter().filter(alike).count();
                all.push(Weakening { was: was.to_owned(), now, change, number, line, column });
            }
        }
    }
    all
}

/// The statements of a line, each with the column where it begins.
fn statements(code: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut begin = 0;
    code.split_inclusive(';').filter_map(move |piece| {
        let from = begin;
        begin += piece.len();
        let piece = piece.strip_suffix(';')?;
        let inner = piece.trim_start_matches(|letter: char| letter.is_whitespace() || letter == '{');
        Some((from + piece.len() - inner.len(), inner.trim_end()))
    })
}

/// The instruction of a statement, without its predicate.
fn instruction(statement: &str) -> &str {
    statement.split_whitespace().find(|word| !word.starts_with('@')).unwrap_or_default()
}

fn weaker(statement: &str) -> Vec<(Change, String)> {
    let name = instruction(statement);
    let words: Vec<&str> = name.split('.').collect();
    let with = |other: &str| statement.replacen(name, other, 1);
    let without = |change| vec![(change, String::new())];
    match words[0] {
        "bar" | "barrier" if words.contains(&"cluster") => {
            let mut all = without(Change::NoBarrier);
            if words.contains(&"arrive") && !words.contains(&"relaxed") {
                let relaxed: Vec<&str> = words.iter().copied().filter(|word| *word != "release").collect();
                all.push((Change::Order, with(&relaxed.join(".").replace(".arrive", ".arrive.relaxed"))));
            }
            all
        }
        "bar" | "barrier" if words.contains(&"sync") => without(Change::NoBarrier),
        "fence" if words.contains(&"proxy") || words.contains(&"mbarrier_init") => without(Change::NoProxyFence),
        "fence" | "membar" => {
            let mut all = without(Change::NoFence);
            all.extend(orders(&words).into_iter().map(|(change, words)| (change, with(&words))));
            all
        }
        "ld" | "st" | "atom" | "red" => {
            orders(&words).into_iter().map(|(change, words)| (change, with(&words))).collect()
        }
        "cp" if words.contains(&"commit_group") => without(Change::NoCommit),
        "cp" if words.contains(&"wait_all") => without(Change::Wait),
        "cp" if words.contains(&"wait_group") => {
            let mut all = without(Change::Wait);
            let (before, number) = statement.rsplit_once(char::is_whitespace).unwrap_or_default();
            all.extend(number.parse::<u32>().map(|number| (Change::Wait, format!("{before} {}", number + 1))));
            if words.contains(&"bulk") && !words.contains(&"read") {
                all.push((Change::Wait, with(&format!("{name}.read"))));
            }
            all
        }
        "mbarrier" => in_memory(statement, &words),
        "griddepcontrol" if words.contains(&"wait") => without(Change::Wait),
        _ => Vec::new(),
    }
}

/// Weaker orders, narrower scopes, and no order.
fn orders(words: &[&str]) -> Vec<(Change, String)> {
    let is_fence = matches!(words[0], "fence" | "membar");
    let is_atomic = matches!(words[0], "atom" | "red");
    let replaced = |from: &str, to: &[&str]| {
        let all = words.iter().flat_map(|word| if *word == from { to.to_vec() } else { vec![*word] });
        all.collect::<Vec<&str>>().join(".")
    };
    let mut all = Vec::new();
    for (from, to) in [
        ("sc", "acq_rel"),
        ("acq_rel", "acquire"),
        ("acq_rel", "release"),
        ("acquire", "relaxed"),
        ("release", "relaxed"),
    ] {
        if words.contains(&from) && !(is_fence && from != "sc") {
            all.push((Change::Order, replaced(from, &[to])));
        }
    }
    for (from, to) in [("sys", "gpu"), ("gpu", "cta"), ("cluster", "cta")] {
        if words.contains(&from) {
            all.push((Change::Scope, replaced(from, &[to])));
        }
    }
    if !is_fence && !is_atomic {
        let of_order = ["relaxed", "volatile", "sys", "gpu", "cluster", "cta"];
        if words.contains(&"relaxed") || words.contains(&"volatile") {
            let kept: Vec<&str> = words.iter().copied().filter(|word| !of_order.contains(word)).collect();
            all.push((Change::Weak, kept.join(".")));
        }
    }
    all
}

/// Barriers in memory.
fn in_memory(statement: &str, words: &[&str]) -> Vec<(Change, String)> {
    let name = words.join(".");
    let operands = statement[statement.find(&name).map_or(0, |at| at + name.len())..].trim();
    match words[1] {
        "try_wait" | "test_wait" => {
            let done = operands.split(',').next().unwrap_or_default();
            vec![(Change::Phase, format!("setp.eq.u32 {done}, 0, 0"))]
        }
        "arrive" if words.contains(&"expect_tx") => {
            let kept: Vec<&str> = words.iter().copied().filter(|word| *word != "expect_tx").collect();
            let (operands, _) = operands.rsplit_once(',').unwrap_or_default();
            vec![(Change::NoBytes, format!("{} {operands}", kept.join(".")))]
        }
        _ => Vec::new(),
    }
}
