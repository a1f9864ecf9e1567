//! The counters of the machine, by NVIDIA's profiler `ncu`: the program runs itself under it, and each kernel that was
//! counted is matched with the case that launched it.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::time::Duration;

use super::line::{Line, Lines, read};
use launch::child;
use ptx_build::error::{Error, Result};

/// What is counted, where the GPU has it, and what a page calls it. The profiler runs the program once more for each few of these.
pub const METRICS: [(&str, &str); 7] = [
    ("lts__t_sectors_op_read_lookup_hit.sum", "read, hit"),
    ("lts__t_sectors_op_read_lookup_miss.sum", "read, miss"),
    ("lts__t_sectors_evict_first.sum", "evict first"),
    ("lts__t_sectors_evict_normal.sum", "normal"),
    ("lts__t_sectors_evict_last.sum", "evict last"),
    ("dram__bytes_read.sum", "from memory"),
    ("dram__bytes_write.sum", "to memory"),
];

/// The case of what an experiment launches before the first of its own.
pub const PREPARATION: &str = "preparation";

/// How long the profiler may take to list its counters.
const LISTING: Duration = Duration::from_secs(60);

/// Where NVIDIA's packages put the profiler.
const PLACES: [&str; 2] = ["/usr/local/cuda/bin/ncu", "/opt/nvidia/nsight-compute/ncu"];

/// The profiler, if it is there.
pub fn find() -> Option<PathBuf> {
    child::find("ncu").or_else(|| PLACES.map(PathBuf::from).into_iter().find(|file| file.is_file()))
}

/// What runs under the profiler.
#[derive(Clone, Copy, Debug)]
pub struct Program<'p> {
    /// The program.
    pub program: &'p Path,
    /// Its arguments, before the file that its lines are to go to.
    pub arguments: &'p [&'p str],
    /// How long it may take.
    pub limit: Duration,
}

/// Counts one experiment: runs the program under the profiler, and writes what was counted. The profiler's own table is kept
/// in `folder`. It is an error if something of the experiment is missing; what there is is written before.
pub fn profile(ncu: &Path, experiment: char, of: Program<'_>, folder: &Path, out: &mut dyn Write) -> Result<usize> {
    let metrics = known(ncu, of.limit.min(LISTING))?;
    if metrics.is_empty() {
        return Err(Error::new("the profiler knows none of the counters on this GPU").at(ncu.display()));
    }
    let table = folder.join(format!("ncu-{experiment}.csv"));
    let launched = folder.join(format!("ncu-{experiment}.jsonl"));
    let mut command = Command::new(ncu);
    // What was in a cache before is what is asked about: nothing may be saved, restored, or flushed between launches.
    command.args(["--clock-control", "none", "--cache-control", "none", "--replay-mode", "application"]);
    command.args(["--metrics", &metrics.join(",")]);
    command.args(["--csv", "--page", "raw", "--log-file"]).arg(&table);
    command.arg(of.program).args(of.arguments).arg(&launched);
    let ended = child::run(&mut command, of.limit, true, || false)?;
    if ended.code() != Some(0) {
        return Err(Error::new(format_args!("ncu ended with {}", ended.in_words()))
            .at(table.display())
            .because(ended.stdout)
            .fix("counters may be for administrators alone: run it as root, or see NVIDIA's ERR_NVGPUCTRPERM"));
    }
    let text = |file: &Path| std::fs::read_to_string(file).map_err(|error| Error::io("read", file, error));
    let counted = counters(&text(&table)?).map_err(|error| error.at(table.display()))?;
    let launched = read(&text(&launched)?)?;
    let lines = matched(experiment, &launched, &counted)?;
    let mut all = Lines::new(out);
    lines.iter().try_for_each(|line| all.write(line))?;
    complete(experiment, &launched, &lines)?;
    Ok(lines.len())
}

/// Nothing is missing: cases were launched, none of them failed, and each has counters.
fn complete(experiment: char, launched: &[Line], counters: &[Line]) -> Result<()> {
    let failed = launched.iter().find_map(|line| match line {
        Line::Failed { case, why, .. } => Some(format!("{case}: {why}")),
        Line::Done { why: Some(why), .. } => Some(why.clone()),
        _ => None,
    });
    if let Some(why) = failed {
        return Err(Error::new(format_args!("not all of experiment {experiment} ran under ncu")).because(why));
    }
    let cases = own_cases(launched);
    if cases.is_empty() {
        return Err(Error::new(format_args!("experiment {experiment} launched no case of its own under ncu"))
            .fix("name a size of it that is counted, and the variants that a profiler looks at"));
    }
    let of = |line: &Line| match line {
        Line::Counter { case, .. } => Some(case.clone()),
        _ => None,
    };
    let counted: BTreeSet<String> = counters.iter().filter_map(of).collect();
    match cases.difference(&counted).next() {
        Some(case) => Err(Error::new(format_args!("ncu has no counter of experiment {experiment}, {case}"))),
        None => Ok(()),
    }
}

/// The cases that launched something.
pub fn own_cases(launched: &[Line]) -> BTreeSet<String> {
    let of = |line: &Line| match line {
        Line::Launched { case, .. } if case != PREPARATION => Some(case.clone()),
        _ => None,
    };
    launched.iter().filter_map(of).collect()
}

/// Which of the counters this GPU has. A profiler is asked once: it takes seconds to list them.
fn known(ncu: &Path, limit: Duration) -> Result<Vec<&'static str>> {
    static KNOWN: Mutex<BTreeMap<PathBuf, Vec<&'static str>>> = Mutex::new(BTreeMap::new());
    let mut all = KNOWN.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    if let Some(known) = all.get(ncu) {
        return Ok(known.clone());
    }
    let ended = child::run(Command::new(ncu).arg("--query-metrics"), limit, true, || false)?;
    if ended.code() != Some(0) {
        return Err(Error::new(format_args!("ncu --query-metrics ended with {}", ended.in_words()))
            .at(ncu.display())
            .because(ended.stdout));
    }
    let names: BTreeSet<&str> = ended.stdout.lines().filter_map(|line| line.split_whitespace().next()).collect();
    let has = |metric: &&str| metric.split_once('.').is_some_and(|(name, _)| names.contains(name));
    let known: Vec<_> = METRICS.into_iter().map(|(metric, _)| metric).filter(has).collect();
    all.insert(ncu.to_owned(), known.clone());
    Ok(known)
}

/// What was counted of one launch: the kernel's name, and each number with its unit.
#[derive(Clone, Debug, PartialEq)]
struct Counted {
    kernel: String,
    metrics: BTreeMap<String, (String, f64)>,
}

/// The launches of a table of the profiler's, `--page raw`: a line of names, a line of units, and a line for each launch.
fn counters(csv: &str) -> Result<Vec<Counted>> {
    let rows: Vec<Vec<String>> = csv.lines().filter(|line| line.starts_with('"')).map(cells).collect();
    let [names, units, launches @ ..] = &rows[..] else {
        return Err(Error::new("this is no table of ncu's").because(csv.lines().next().unwrap_or_default()));
    };
    let kernel = names.iter().position(|name| name == "Kernel Name");
    let kernel = kernel.ok_or_else(|| Error::new("the table of ncu's names no kernels"))?;
    let launch = |row: &Vec<String>| {
        let columns =
            names.iter().zip(units).zip(row).filter(|((name, _), _)| METRICS.iter().any(|(metric, _)| metric == name));
        let number = |text: &str| text.replace(',', "").parse::<f64>().ok();
        let metrics = columns.filter_map(|((name, unit), cell)| {
            let (value, unit) = plain(number(cell)?, unit);
            Some((name.clone(), (unit.to_owned(), value)))
        });
        let name = row.get(kernel).map_or("", String::as_str);
        Counted { kernel: name.split('(').next().unwrap_or_default().to_owned(), metrics: metrics.collect() }
    };
    Ok(launches.iter().map(launch).collect())
}

/// A number in the unit without its prefix.
fn plain(value: f64, unit: &str) -> (f64, &str) {
    for (prefix, times) in [("K", 1e3), ("M", 1e6), ("G", 1e9)] {
        if let Some(unit) = unit.strip_prefix(prefix).filter(|unit| *unit == "byte" || *unit == "sector") {
            return (value * times, unit);
        }
    }
    (value, unit)
}

/// The cells of a line of CSV whose cells are all quoted.
fn cells(line: &str) -> Vec<String> {
    let line = line.trim();
    let inner = line.strip_prefix('"').and_then(|line| line.strip_suffix('"')).unwrap_or(line);
    inner.split("\",\"").map(str::to_owned).collect()
}

/// What was counted, launch by launch in the order in which the program says that it launched.
fn matched(experiment: char, lines: &[Line], counted: &[Counted]) -> Result<Vec<Line>> {
    let launches = lines.iter().filter_map(|line| match line {
        Line::Launched { case, kernel, .. } => Some((case, kernel)),
        _ => None,
    });
    let launches: Vec<_> = launches.collect();
    let differs = launches.iter().zip(counted).position(|((_, kernel), counted)| **kernel != counted.kernel);
    if launches.len() != counted.len() || differs.is_some() {
        return Err(Error::new(format_args!(
            "ncu counted {} kernels, and the program launched {}",
            counted.len(),
            launches.len()
        ))
        .because(differs.map_or_else(String::new, |at| {
            format!("kernel {at} is {} for the one and {} for the other", counted[at].kernel, launches[at].1)
        })));
    }
    let own = launches.iter().zip(counted).filter(|((case, _), _)| *case != PREPARATION);
    let lines = own.flat_map(|((case, kernel), counted)| {
        counted.metrics.iter().map(move |(metric, (unit, value))| Line::Counter {
            experiment,
            case: (*case).clone(),
            kernel: (*kernel).clone(),
            metric: metric.clone(),
            unit: unit.clone(),
            value: *value,
        })
    });
    Ok(lines.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "==PROF== Connected to process 7\n\
        \"ID\",\"Kernel Name\",\"Block Size\",\"dram__bytes_read.sum\",\"lts__t_sectors_op_read_lookup_hit.sum\",\"device__attribute_warp_size\"\n\
        \"\",\"\",\"\",\"Mbyte\",\"sector\",\"\"\n\
        \"0\",\"link\",\"(256, 1, 1)\",\"0.5\",\"1,024\",\"32\"\n\
        \"1\",\"sweep_plain(unsigned int *)\",\"(256, 1, 1)\",\"2\",\"n/a\",\"32\"\n";

    fn launched(case: &str, kernel: &str) -> Line {
        Line::Launched { experiment: 'B', case: case.into(), kernel: kernel.into() }
    }

    #[test]
    fn a_table_is_read_and_matched_with_the_launches() {
        let counted = counters(TABLE).expect("it is a table");
        let lines = [launched("preparation", "link"), launched("hot=none", "sweep_plain")];
        let found = matched('B', &lines, &counted).expect("they match");
        let expected = [Line::Counter {
            experiment: 'B',
            case: "hot=none".into(),
            kernel: "sweep_plain".into(),
            metric: "dram__bytes_read.sum".into(),
            unit: "byte".into(),
            value: 2_000_000.0,
        }];
        assert_eq!(found, expected);
        assert_eq!(counted[0].metrics.len(), 2, "attributes of the device are no counters");
    }

    #[test]
    fn another_order_or_number_of_launches_is_an_error() {
        let counted = counters(TABLE).expect("it is a table");
        let lines = [launched("a", "sweep_plain"), launched("b", "link")];
        let error = matched('B', &lines, &counted).expect_err("the order is another").to_string();
        assert!(error.contains("kernel 0 is link for the one and sweep_plain for the other"), "{error}");
        let error = matched('B', &lines[..1], &counted).expect_err("one is missing").to_string();
        assert!(error.starts_with("ncu counted 2 kernels, and the program launched 1"), "{error}");
        assert!(counters("==PROF== nothing\n").is_err());
    }
}
