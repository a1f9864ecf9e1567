//! A part of a run under `compute-sanitizer`.

use std::collections::BTreeSet;

use suite::journal::{Event, Journal};

use crate::bundle::{forms_of, hostile};
use crate::slice::Slice;

/// Stands for `compute-sanitizer`: writes down what it is told, runs the program, and complains if the test wants it.
const SANITIZER: &str = r#"#!/bin/sh
[ "$1" = --version ] && echo "NVIDIA Compute Sanitizer, Version 0" && exit
echo "$*" >> "$RECORD"
while [ "$1" != --log-file ]; do shift; done
echo "========= ERROR SUMMARY: 0 errors" > "$2"
shift 2
"$@" || exit
case "$*" in *"$COMPLAINS"*) exit 86;; esac
"#;

pub(crate) fn a_part_under_each_sanitizer(slice: &Slice) {
    let tools = tempfile::tempdir().unwrap();
    let (sanitizer, record) = (tools.path().join("compute-sanitizer"), tools.path().join("record"));
    std::fs::write(&sanitizer, SANITIZER).unwrap();
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&sanitizer, executable).unwrap();
    let path = format!("{}:{}", tools.path().display(), std::env::var("PATH").unwrap());
    let record_path = record.display().to_string();
    let settings = [("PATH", path), ("RECORD", record_path), ("COMPLAINS", "--kind host".into())];
    let left = hostile(slice, &settings, &["--only", "sanitizer"]);
    assert_eq!(left.code, Some(1), "{}", left.text);
    let stage = left.report.stages.iter().find(|stage| stage.name == "sanitizer").unwrap();
    let recorded = std::fs::read_to_string(&record).unwrap();
    // One complaint ends nothing.
    assert_eq!((stage.results.len(), stage.lost.len(), recorded.lines().count()), (24, 0, 24), "{}", left.text);
    for (row, line) in stage.results.iter().zip(recorded.lines()) {
        let (tool, kind) = row.item.split_once(' ').unwrap();
        assert!(
            line.starts_with(&format!("--tool {tool} --report-api-errors no --error-exitcode 86 --log-file ")),
            "{line}"
        );
        assert!(line.contains(&format!(" --work forms --kind {kind} --launch-limit 60 --seed 7 --results ")), "{line}");
        assert_eq!(row.passed, kind != "host", "{}: {}", row.item, row.text);
        let ending = if kind == "host" { "exit status: 86: " } else { "exit status: 0: " };
        assert!(row.text.starts_with(&format!("{ending}ERROR SUMMARY: 0 errors; ")), "{}", row.text);
        assert_eq!(row.data["log"], "========= ERROR SUMMARY: 0 errors\n");
    }
    // Clusters, bulk copies and constants are among what ran.
    let ran = |kind: &str| {
        let results = left._folder.path().join(format!("sanitizer/memcheck-{kind}.jsonl"));
        let events = Journal::open(&results).unwrap().events().unwrap();
        let kernels = events.into_iter().filter_map(|event| match event {
            Event::Begun { part, .. } => part,
            _ => None,
        });
        let kernels: BTreeSet<String> = kernels.collect();
        let planned = slice.plan.kernels.iter().filter(|kernel| kernels.contains(&kernel.name));
        planned.flat_map(forms_of).collect::<Vec<_>>()
    };
    assert!(ran("cluster").iter().any(|form| form.contains(".shared::cluster")));
    assert!(ran("shared").iter().any(|form| form.starts_with("cp.async.bulk.")));
    assert!(ran("constant").iter().any(|form| form.starts_with("ld.const")));
    // Without the program the stage is not run, which the report says, and all else is right.
    let settings = [("PATH", tools.path().join("nothing").display().to_string())];
    let left = hostile(slice, &settings, &["--only", "sanitizer"]);
    let stage = left.report.stages.iter().find(|stage| stage.name == "sanitizer").unwrap();
    assert_eq!((left.code, stage.items, stage.lost.len()), (Some(0), 0, 0), "{}", left.text);
    assert_eq!(stage.missing.as_deref(), Some("compute-sanitizer"));
    assert!(left.text.contains("sanitizer: not run: there is no compute-sanitizer here"), "{}", left.text);
    assert!(left.text.contains("all is right, but sanitizer not run, "), "{}", left.text);
}
