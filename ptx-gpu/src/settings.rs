//! What `cargo ptx check` hands over, in the environment.

use std::ffi::OsString;
use std::str::FromStr;
use std::sync::LazyLock;
use std::time::{Duration, Instant, SystemTime};

use ptx_interpreter::Counting;

use crate::of_gpu::MOST_GPUS;

/// What `cargo ptx check` hands over.
pub(crate) struct Settings {
    /// The GPU that a program sees: 90 for sm_90.
    pub(crate) sm: u32,
    /// How many of them there are, if that is said.
    pub(crate) gpus: Option<usize>,
    /// The first order of its threads in which each launch is run, with which the program goes on.
    pub(crate) seed: u64,
    /// In how many orders of its threads each launch is run.
    pub(crate) seeds: u64,
    /// Whether each launch is run with older values too.
    pub(crate) weak: bool,
    /// When everything has to have ended.
    pub(crate) deadline: Option<Instant>,
    /// Where findings go, one JSON value to a line; to standard error, if there is none.
    pub(crate) report: Option<OsString>,
    /// What is counted of each launch.
    pub(crate) counting: Counting,
    /// Of which kernels launches are checked: those that have one of these in their names; of all, if there is none.
    pub(crate) kernels: Vec<String>,
    /// How many launches of each kernel are checked, in each shape; all, if nothing is said.
    pub(crate) launches: Option<u64>,
    /// Where compilers keep the PTX that they have assembled.
    pub(crate) kept: Option<OsString>,
}

pub(crate) static SETTINGS: LazyLock<Settings> = LazyLock::new(|| Settings {
    sm: number("PTX_CHECK_SM").unwrap_or(90),
    gpus: number("PTX_CHECK_GPUS").map(|gpus: usize| gpus.clamp(1, MOST_GPUS)),
    seed: number("PTX_CHECK_SEED").unwrap_or(0),
    seeds: number("PTX_CHECK_SEEDS").unwrap_or(1).max(1),
    weak: number("PTX_CHECK_WEAK") == Some(1),
    deadline: number("PTX_CHECK_DEADLINE").and_then(instant),
    report: std::env::var_os("PTX_CHECK_REPORT"),
    counting: match number("PTX_CHECK_COUNTS") {
        Some(1) => Counting::Instructions,
        Some(2) => Counting::Accesses,
        _ => Counting::Nothing,
    },
    kernels: std::env::var("PTX_CHECK_KERNELS")
        .map(|names| names.lines().map(str::to_owned).collect())
        .unwrap_or_default(),
    launches: number("PTX_CHECK_LAUNCHES"),
    kept: std::env::var_os("PTX_CHECK_KEPT"),
});

fn number<T: FromStr>(name: &str) -> Option<T> {
    std::env::var(name).ok()?.parse().ok()
}

/// The moment, in seconds after the epoch, which processes share.
fn instant(seconds: f64) -> Option<Instant> {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).ok()?.as_secs_f64();
    Instant::now().checked_add(Duration::from_secs_f64((seconds - now).clamp(0.0, 1e9)))
}
