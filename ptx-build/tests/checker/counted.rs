//! `--coverage` and `--accesses` of `cargo ptx check` and `cargo ptx run`.

use std::fs;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use crate::program::{Program, cargo_ptx, check, source};

/// The lines of a trace file that are about lines of the source of the test: numbers and threads.
fn lines(trace: &Path) -> Vec<(u32, u64)> {
    let text = fs::read_to_string(trace).expect("it is written");
    let own =
        text.split("end_of_record\n").find(|record| record.contains("counted.cu\n")).expect("the source is in it");
    let line = |line: &str| {
        let (line, threads) = line.strip_prefix("DA:")?.split_once(',')?;
        Some((line.parse().ok()?, threads.parse().ok()?))
    };
    own.lines().filter_map(line).collect()
}

/// The number of a line of the source that has a text.
fn line_of(text: &str) -> u32 {
    let source = fs::read_to_string(source("counted.cu")).expect("the source");
    source.lines().position(|line| line.contains(text)).expect("a line has it") as u32 + 1
}

#[test]
fn lines_and_accesses_are_counted() {
    let (program, folder) = (Program::of_nvcc("counted.cu", &[]), TempDir::new().expect("a folder"));
    let trace = folder.path().join("new/trace.info");
    let words = ["--accesses", "--coverage", trace.to_str().expect("text")];
    let (code, printed, complaint) = check(&words, &Command::new(program.path()));
    assert_eq!(code, Some(0), "{printed}{complaint}");
    let threads_of = |trace: &Path, text: &str| {
        let number = line_of(text);
        lines(trace).into_iter().find(|(line, _)| *line == number).map(|(_, threads)| threads)
    };
    assert_eq!(threads_of(&trace, "out[x * N + y] = in"), Some(4096));
    assert_eq!(threads_of(&trace, "tile[threadIdx.y][threadIdx.x] = in"), Some(4096));
    assert_eq!(threads_of(&trace, "p[threadIdx.x] *= f"), Some(96));
    assert_eq!(threads_of(&trace, "= -p["), Some(0));
    assert_eq!(threads_of(&trace, "__threadfence()"), Some(0));
    assert_eq!(threads_of(&trace, "cudaMalloc"), None);
    let (_, table) = printed.split_once("accesses of memory that take more than their bytes need:\n").expect("a table");
    let rows: Vec<&str> = table.lines().collect();
    let [shared, global, others, own] = rows[..] else { panic!("{table}") };
    // A pass has one word of each bank: the columns of a tile without a pad are in one bank.
    let (load, store) = (line_of("out[y * N + x] = tile"), line_of("out[x * N + y] = in"));
    assert!(shared.starts_with("  32.0 passes  instead of  1.0,       128 times: ld.shared.f32 at "), "{shared}");
    assert!(shared.ends_with(&format!("tests/check/counted.cu:{load} (tiled<…>)")), "{shared}");
    assert!(global.starts_with("  32.0 sectors instead of  4.0,       128 times: st.global.f32 at "), "{global}");
    assert!(global.ends_with(&format!("tests/check/counted.cu:{store} (naive)")), "{global}");
    assert_eq!(others, "10 others take what they need");
    let (first, last) = (line_of("= -p["), line_of("__threadfence()"));
    assert_eq!(own, format!("tests/check/counted.cu: threads executed 15 of 17 lines, and not {first}-{last}"));
    // With an argument the other branch is executed.
    let (code, printed, complaint) = check(&words[1..], Command::new(program.path()).arg("-"));
    assert_eq!(code, Some(0), "{printed}{complaint}");
    assert!(!printed.contains("sectors"), "{printed}");
    assert_eq!(threads_of(&trace, "= -p["), Some(96));
}

#[test]
fn where_no_lines_are_known_nothing_is_written() {
    let folder = TempDir::new().expect("a folder");
    let trace = folder.path().join("trace.info");
    let (code, printed, complaint) = check(&["--coverage", trace.to_str().expect("text")], &Command::new("true"));
    assert_eq!((code, printed.as_str()), (Some(2), ""));
    let warning = format!("warning: no kernel ran whose PTX names lines: {} is not written\n", trace.display());
    assert!(complaint.starts_with(&format!("{warning}  → compile with `-lineinfo`\n")), "{complaint}");
    assert!(!trace.exists());
}

/// PTX without lines of a source has those of its own text.
#[test]
fn lines_that_ran_are_written() {
    let folder = TempDir::new().expect("a folder");
    let text = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n.reg .pred %p<2>;\n\
                .reg .b32 %r<2>;\n.reg .b64 %d<2>;\nld.param.u64 %d1, [p];\nmov.u32 %r1, %tid.x;\n\
                setp.eq.u32 %p1, %r1, 40;\n@%p1 st.global.u32 [%d1], %r1;\n@%p1 st.global.u32 [%d1+4], %r1;\nret;\n}\n";
    fs::write(folder.path().join("k.ptx"), text).expect("it is written");
    let run = |more: &[&str]| {
        let words = [&["run", "k.ptx", "k", "--arg", "buf:8:zeros", "--coverage", "k.info"], more].concat();
        let (code, printed, complaint) = cargo_ptx(folder.path(), &words);
        assert_eq!(code, Some(0), "{printed}{complaint}");
        (printed, complaint, fs::read_to_string(folder.path().join("k.info")).expect("it is written"))
    };
    let (printed, _, trace) = run(&["--block", "32"]);
    assert!(printed.ends_with("k.ptx: threads executed 4 of 6 lines, and not 12-13\n"), "{printed}");
    let lines = "DA:9,32\nDA:10,32\nDA:11,32\nDA:12,0\nDA:13,0\nDA:14,32\n";
    assert_eq!(trace, format!("SF:k.ptx\n{lines}LH:4\nLF:6\nend_of_record\n"));
    let (printed, complaint, trace) = run(&["--block", "64", "--seeds", "3", "--json"]);
    assert_eq!((printed.as_str(), complaint.as_str()), ("", "k.ptx: threads executed 6 of 6 lines\n"));
    assert!(trace.contains("DA:11,192\nDA:12,3\nDA:13,3\n"), "{trace}");
}
