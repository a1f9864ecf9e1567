//! A machine without what a build needs.

use std::path::Path;

use crate::{Project, SOURCE};

/// What a machine lacks is told before anything is compiled.
#[test]
fn a_bare_machine_is_told_what_it_lacks() {
    let project = Project::new("auf bloßem Boden");
    project.write("kernels/src/lib.rs", SOURCE);
    let nothing = project.path("nothing");
    // No toolchain has the source of core.
    let sysroot = project.path("stable");
    for program in ["rustc", "cargo"] {
        project.write(&format!("stable/bin/{program}"), "");
    }
    let rustc = format!("#!/bin/sh\necho '{}'\n", sysroot.display());
    project.write("bin/rustc", &rustc);
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(project.path("bin/rustc"), executable).expect("it is ours");
    let bin = project.path("bin");
    let (succeeded, _, complaint) = project.build(
        "../kernels|sm 80",
        &[("PATH", &bin), ("RUSTUP_HOME", &nothing), ("PTX_INTRINSICS_TOOLCHAIN", Path::new(""))],
    );
    assert!(!succeeded);
    assert!(complaint.contains("error: this toolchain lacks the source of core"), "{complaint}");
    assert!(complaint.contains("→ rustup component add rust-src --toolchain stable"), "{complaint}");
    // It has a part of it.
    project.write("stable/lib/rustlib/src/rust/library/core/Cargo.toml", "");
    project.write("stable/lib/rustlib/src/rust/library/Cargo.toml", "");
    let (succeeded, _, complaint) = project.build(
        "../kernels|sm 80",
        &[("PATH", &bin), ("RUSTUP_HOME", &nothing), ("PTX_INTRINSICS_TOOLCHAIN", Path::new(""))],
    );
    assert!(!succeeded);
    assert!(
        complaint.contains("error: this toolchain's source of core is incomplete: a file is missing"),
        "{complaint}"
    );
    assert!(complaint.contains("library/core/src/lib.rs"), "{complaint}");
    assert!(
        complaint.contains("→ rustup toolchain uninstall stable && rustup toolchain install stable"),
        "{complaint}"
    );
    // No network: the source of core depends on crates that are not here.
    let (offline, home) = (Path::new("true"), project.path("home"));
    let variables = [("CARGO_NET_OFFLINE", offline), ("CARGO_HOME", &home)];
    let (succeeded, _, complaint) = project.build("../kernels|sm 80", &variables);
    assert!(!succeeded);
    assert!(complaint.contains("error: cargo could not compile Rust's `core` for the GPU"), "{complaint}");
    assert!(complaint.contains("offline"), "{complaint}");
    assert!(complaint.contains("→ check the network: the first build fetches"), "{complaint}");
}
