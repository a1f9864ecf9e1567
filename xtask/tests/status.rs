//! `cargo xtask` ends as the program that it runs.

use std::process::Command;

#[test]
fn the_status_of_the_program_is_handed_on() {
    for (arguments, code, said) in [
        (&["--help"][..], 0, ""),
        (&["forms", "--instruction", "nope"], 1, "error: there is no instruction `nope`\n"),
        (&["forms", "--nope"], 2, "error: unexpected argument '--nope' found\n"),
    ] {
        let mut xtask = Command::new(env!("CARGO_BIN_EXE_xtask"));
        xtask.args(arguments).env("NO_COLOR", "1");
        // `cargo xtask test` sets it for its tests; the program would be compiled anew.
        match option_env!("CARGO_INCREMENTAL") {
            Some(set) => xtask.env("CARGO_INCREMENTAL", set),
            None => xtask.env_remove("CARGO_INCREMENTAL"),
        };
        let output = xtask.output().expect("it starts");
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {complaint}");
        assert!(complaint.contains(said), "{arguments:?}: {complaint}");
    }
}
