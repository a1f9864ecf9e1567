//! The profiler, whose place a script takes.

use std::path::PathBuf;
use std::time::Duration;

use lab::line::{Line, read};
use lab::profile;
use libtest_mimic::Failed;

/// Stands for `ncu`: knows two of the four counters, runs the program, and writes a table.
const NCU: &str = r#"#!/bin/sh
if [ "$1" = --query-metrics ]; then
    echo listed >> "$RECORD.listed"
    echo "dram__bytes_read  Counter  byte  # of bytes read"
    echo "lts__t_sectors_op_read_lookup_hit  Counter  sector  # of hits"
    exit 0
fi
echo "$*" > "$RECORD"
while [ "$1" != --log-file ]; do shift; done
cp "$TABLE" "$2"
shift 2
exec "$@"
"#;

/// Stands for the program under the profiler: it writes its lines to its last argument.
const PROGRAM: &str = r#"#!/bin/sh
for last; do :; done
cp "$LAUNCHED" "$last"
exit "$ENDS_WITH"
"#;

pub(crate) fn a_profiler_counts_each_launch() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let file = |name: &str| folder.path().join(name);
    let executable = |name: &str, text: &str| -> std::io::Result<PathBuf> {
        std::fs::write(file(name), text)?;
        std::fs::set_permissions(file(name), std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
        Ok(file(name))
    };
    let (table, launched, record) = (file("table"), file("launched"), file("record"));
    let told = |script: &str, ends_with: &str| {
        script
            .replace("$RECORD", &record.display().to_string())
            .replace("$TABLE", &table.display().to_string())
            .replace("$LAUNCHED", &launched.display().to_string())
            .replace("$ENDS_WITH", ends_with)
    };
    std::fs::write(
        &table,
        "==PROF== Connected\n\"ID\",\"Kernel Name\",\"dram__bytes_read.sum\"\n\"\",\"\",\"Kbyte\"\n\"0\",\"sweep_plain\",\"3\"\n",
    )?;
    std::fs::write(
        &launched,
        "{\"line\":\"launched\",\"experiment\":\"B\",\"case\":\"hot=none\",\"kernel\":\"sweep_plain\"}\n",
    )?;
    let (ncu, program) = (executable("ncu", &told(NCU, "0"))?, executable("program", &told(PROGRAM, "0"))?);
    let mut out = Vec::new();
    let of = |program, seconds| profile::Program {
        program,
        arguments: &["lab", "--once"],
        limit: Duration::from_secs(seconds),
    };
    let count = profile::profile(&ncu, 'B', of(&program, 60), folder.path(), &mut out)?;
    let expected = Line::Counter {
        experiment: 'B',
        case: "hot=none".into(),
        kernel: "sweep_plain".into(),
        metric: "dram__bytes_read.sum".into(),
        unit: "byte".into(),
        value: 3000.0,
    };
    assert_eq!((count, read(std::str::from_utf8(&out)?)?), (1, vec![expected]));
    let folder_of = folder.path().display();
    let arguments = format!(
        "--clock-control none --cache-control none --replay-mode application --metrics \
         lts__t_sectors_op_read_lookup_hit.sum,dram__bytes_read.sum --csv --page raw --log-file \
         {folder_of}/ncu-B.csv {folder_of}/program lab --once {folder_of}/ncu-B.jsonl\n"
    );
    assert_eq!(std::fs::read_to_string(&record)?, arguments);
    assert!(file("ncu-B.csv").is_file(), "the profiler's table is kept");
    // What is missing is an error, after what is there was written.
    let preparation = std::fs::read_to_string(&launched)?.replace("hot=none", "preparation");
    let failed = "{\"line\":\"failed\",\"experiment\":\"B\",\"case\":\"hot=last\",\"why\":\"no kernel\"}\n";
    let no_number = std::fs::read_to_string(&table)?.replace("\"3\"", "\"n/a\"");
    let whole = [std::fs::read_to_string(&launched)?, std::fs::read_to_string(&table)?];
    let missing = [
        (preparation, whole[1].clone(), "experiment B launched no case of its own under ncu\n"),
        (whole[0].clone() + failed, whole[1].clone(), "not all of experiment B ran under ncu\n  | hot=last: no kernel"),
        (whole[0].clone(), no_number, "ncu has no counter of experiment B, hot=none"),
    ];
    for (lines, numbers, expected) in missing {
        std::fs::write(&launched, &lines)?;
        std::fs::write(&table, numbers)?;
        let error = profile::profile(&ncu, 'B', of(&program, 60), folder.path(), &mut out).expect_err(expected);
        assert!(error.to_string().starts_with(expected), "{error}");
    }
    std::fs::write(&launched, &whole[0])?;
    std::fs::write(&table, &whole[1])?;
    assert_eq!(std::fs::read_to_string(file("record.listed"))?, "listed\n", "the counters are listed once");
    let hangs = executable("ncu-that-hangs", "#!/bin/sh\nsleep 100\n")?;
    let error = profile::profile(&hangs, 'B', of(&program, 1), folder.path(), &mut out).expect_err("it hangs");
    assert!(error.to_string().starts_with("ncu --query-metrics ended with stopped: its time was over\n"), "{error}");
    let program = executable("program", &told(PROGRAM, "9"))?;
    let error = profile::profile(&ncu, 'B', of(&program, 60), folder.path(), &mut out).expect_err("it fails");
    assert!(error.to_string().starts_with("ncu ended with exit status: 9\n"), "{error}");
    let program = executable("program", "#!/bin/sh\nsleep 100\n")?;
    let error = profile::profile(&ncu, 'B', of(&program, 0), folder.path(), &mut out).expect_err("its time is over");
    assert!(error.to_string().starts_with("ncu ended with stopped: its time was over\n"), "{error}");
    Ok(())
}
