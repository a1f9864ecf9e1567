//! The litmus tests of the suite: their threads, their questions, their scopes.

use litmus::Scope;

pub(super) const SCOPES: [Scope; 4] = [Scope::Cta, Scope::Cluster, Scope::Gpu, Scope::Sys];

/// A test.
pub(super) struct Shape {
    pub(super) name: &'static str,
    /// What each thread does.
    pub(super) threads: Vec<Vec<&'static str>>,
    /// What is looked at.
    pub(super) condition: &'static str,
}

/// Those that run there, as `shapes.txt` says it.
pub(super) fn shapes(place: &str) -> impl Iterator<Item = Shape> {
    let shape = move |line: &'static str| {
        let parts: Vec<&str> = line.split(" | ").collect();
        let [head, threads @ .., condition] = &parts[..] else { return None };
        let (_, name) = head.split_once(' ').filter(|(own, _)| *own == place)?;
        let threads = threads.iter().map(|thread| thread.split("; ").collect()).collect();
        Some(Shape { name, threads, condition })
    };
    include_str!("shapes.txt").lines().filter(|line| !line.starts_with('#')).filter_map(shape)
}
