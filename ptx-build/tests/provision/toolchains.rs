//! Toolchains: found, installed, or missing.

use std::fs::{self};

use ptx_build::command::Machine;
use ptx_build::target::{PtxVersion, Sm};
use ptx_build::toolchain::{DeviceToolchain, Route};

use super::machine::*;

#[test]
fn debian_packages_need_root() {
    let fake = Fake::new();
    fake.script("bin/apt-get", "echo \"$*\" >> $HERE/apt.log");
    let (found, said) = fake.find_toolchain(Route::Debian);
    assert!(found.unwrap_err().starts_with("only root may install Debian packages; this is user 1000\n"));
    assert_eq!((said.len(), fake.log("apt.log").as_str()), (0, ""));
}

/// The lists of packages are from the day on which the machine was installed.
#[test]
fn debian_packages_of_an_old_list() {
    let mut fake = Fake::new();
    fake.machine.uid = 0;
    fake.script("old/rustc", &rustc("1.85.0"));
    fake.script("new/rustc", &rustc("1.96.0"));
    fake.script(
        "bin/apt-get",
        &format!(
            "echo \"$1\" >> $HERE/apt.log; cd $HERE/usr; [ $1 = update ] && {{ touch $HERE/updated; exit; }}
             mkdir -p bin; touch bin/cargo; [ -e $HERE/updated ] && cp ../new/rustc bin || cp ../old/rustc bin\n{CORE}"
        ),
    );
    let found = fake.find_toolchain(Route::Debian).0.unwrap();
    assert_eq!(
        (found.version.as_str(), fake.log("apt.log").as_str()),
        ("rustc 1.96.0 (0000 2026-01-01)", "install\nupdate\ninstall\n")
    );
    // Once is enough.
    fake.find_toolchain(Route::Debian).0.unwrap();
    assert_eq!(fake.log("apt.log").lines().count(), 3);
}

#[test]
fn a_toolchain_that_is_too_old() {
    let fake = Fake::new();
    fake.toolchain("usr", "1.63.0", true);
    fake.active("usr");
    let expected = "`rustc 1.63.0 (0000 2026-01-01)` is not a Rust 1.95 or later
  at @/usr/bin/rustc
  → install a newer one: rustup toolchain install stable --component rust-src";
    assert_eq!(fake.find_toolchain(Route::Active).0.unwrap_err(), expected);
}

#[test]
fn a_target_the_compiler_does_not_have() {
    let fake = Fake::new();
    fake.toolchain("usr", "1.97.0-nightly", true);
    fake.active("usr");
    let toolchain = fake.find_toolchain(Route::Active).0.unwrap();
    let check = |sm: u32, ptx: Option<(u32, u32)>| {
        let ptx = ptx.map(|(major, minor)| PtxVersion::new(major, minor));
        toolchain.check_target(Sm::new(sm), ptx).map_err(|error| fake.relative(error))
    };
    let at = "  at @/usr/bin/rustc (rustc 1.97.0-nightly (0000 2026-01-01))";
    let older = "  → or another toolchain: those up to 1.96 go down to sm_20, newer ones add newer GPUs";
    let expected = format!("this compiler cannot emit sm_61\n{at}\n  → use one of sm_80 sm_90\n{older}");
    assert_eq!(check(61, None), Err(expected));
    let expected = format!("this compiler cannot emit PTX ISA 8.6\n{at}\n  → use one that it knows: 7.0 7.4 7.8");
    assert_eq!(check(90, Some((8, 6))), Err(expected));
    let expected = format!("sm_90 needs PTX ISA 7.8, not 7.4\n{at}\n  → ask for 7.8 or later, or for an older GPU");
    assert_eq!(check(90, Some((7, 4))), Err(expected));
    assert_eq!((check(80, Some((7, 4))), check(90, None)), (Ok(()), Ok(())));
}

/// A folder of rustup's, as `Fake::toolchain` names it.
const STABLE: &str = "rustup/toolchains/stable";
const NIGHTLY: &str = "rustup/toolchains/nightly";

/// Whether a toolchain's compiler is let use what is unstable.
fn bootstrap(toolchain: &DeviceToolchain) -> String {
    toolchain.rustc().args(["--print", "bootstrap"]).run().unwrap().stdout.trim().to_owned()
}

/// What a toolchain lacks of it, rustup would install before cargo is started at all: where nothing can be fetched that is the
/// end, and where it is interrupted the toolchain is damaged.
#[test]
fn rustup_is_asked_for_no_part_of_a_toolchain() {
    let file = Machine::current().repository.join("rust-toolchain.toml");
    let text = fs::read_to_string(file).unwrap_or_default();
    let keys = text.lines().filter_map(|line| line.split_once('=')).map(|(key, _)| key.trim());
    assert!(keys.clone().all(|key| key == "channel"), "{:?}", keys.collect::<Vec<_>>());
}

#[test]
fn stable_alone_where_rustup_fetches() {
    let mut fake = Fake::new();
    fake.set("RUSTUP_HOME", fake.at("rustup"));
    fake.toolchain(STABLE, "1.99.1", false);
    fake.active(STABLE);
    fake.script("bin/rustup", &format!("echo \"$*\" >> $HERE/rustup.log; cd $HERE/{STABLE}\n{CORE}"));
    let (found, said) = fake.find_toolchain(Route::Auto);
    let found = found.unwrap();
    assert_eq!((found.route, fake.relative(found.rustc.display())), (Route::Rustup, format!("@/{STABLE}/bin/rustc")));
    // A stable compiler has to be let use what is unstable.
    assert_eq!(bootstrap(&found), "1");
    let announced = format!("Installing rust-src for stable into @/{STABLE}");
    assert_eq!(said, [announced, "rustup component add rust-src".to_owned()]);
    assert_eq!(fake.log("rustup.log"), "component add rust-src --toolchain stable\n");
    // The next time it is there.
    let (found, said) = fake.find_toolchain(Route::Auto);
    assert_eq!((found.unwrap().route, said.len()), (Route::Active, 0));
    assert_eq!(fake.log("rustup.log").lines().count(), 1);
}

/// A rustup that fetches nothing, and says so.
const OFFLINE: &str = "echo \"$*\" >> $HERE/rustup.log; echo 'error: could not download file' >&2; exit 1";

#[test]
fn a_bare_nightly_where_nothing_is_fetched() {
    let mut fake = Fake::new();
    fake.set("RUSTUP_HOME", fake.at("rustup"));
    fake.toolchain(NIGHTLY, "1.101.0-nightly", false);
    fake.active(NIGHTLY);
    fake.script("bin/rustup", OFFLINE);
    let error = fake.find_toolchain(Route::Auto).0.unwrap_err();
    let lacks = format!(
        "  | Active: this toolchain lacks the source of core, which has to be compiled for the GPU
  |   at @/{NIGHTLY}/lib/rustlib/src/rust/library/core
  |   → rustup component add rust-src --toolchain nightly
  | Installed: rustup has no other toolchain with the source of core
  |   at @/rustup/toolchains
  |   → rustup toolchain install stable --component rust-src
  | Rustup: @/bin/rustup exited with status 1
  |   at @/bin/rustup component add rust-src --toolchain nightly
  |   | error: could not download file
"
    );
    assert!(error.contains(&lacks), "{error}");
    assert_eq!(fake.log("rustup.log"), "component add rust-src --toolchain nightly\n");

    // On a Debian machine its packages do; the nightly is left as it is.
    fake.machine.uid = 0;
    fake.script("source/rustc", &rustc("1.96.0"));
    fake.script("source/cargo", "exit 1");
    fake.script("bin/apt-get", &format!("mv $HERE/source $HERE/usr/bin; cd $HERE/usr\n{CORE}"));
    let found = fake.find_toolchain(Route::Auto).0.unwrap();
    assert_eq!((found.route, bootstrap(&found).as_str()), (Route::Debian, "1"));
}

#[test]
fn another_of_rustups_toolchains_has_the_source() {
    let mut fake = Fake::new();
    fake.set("HOME", fake.at("home"));
    // Where rustup is if nothing else is said.
    fake.toolchain("home/.rustup/toolchains/stable", "1.95.0", false);
    for (name, version) in [("nightly", "1.101.0-nightly"), ("1.99.1", "1.99.1"), ("1.88.0", "1.88.0")] {
        fake.toolchain(&format!("home/.rustup/toolchains/{name}"), version, true);
    }
    fake.active("home/.rustup/toolchains/stable");
    fake.script("bin/rustup", OFFLINE);
    let (found, said) = fake.find_toolchain(Route::Auto);
    let found = found.unwrap();
    let nightly = "@/home/.rustup/toolchains/nightly/bin/rustc";
    assert_eq!((found.route, fake.relative(found.rustc.display()).as_str()), (Route::Installed, nightly));
    assert_eq!((said, fake.log("rustup.log"), bootstrap(&found)), (vec![], String::new(), String::new()));
}

#[test]
fn an_incomplete_rust_src() {
    let mut fake = Fake::new();
    fake.set("RUSTUP_HOME", fake.at("rustup"));
    fake.toolchain(NIGHTLY, "1.101.0-nightly", true);
    fake.active(NIGHTLY);
    fake.script("bin/rustup", OFFLINE);
    assert_eq!(fake.find_toolchain(Route::Auto).0.unwrap().route, Route::Active);

    fs::remove_file(fake.at(NIGHTLY).join("lib/rustlib/src/rust/library/windows-sys/Cargo.toml")).unwrap();
    let again = "rustup toolchain uninstall nightly && rustup toolchain install nightly --component rust-src";
    let damaged = format!(
        "this toolchain's source of core is incomplete: a file is missing
  at @/{NIGHTLY}/lib/rustlib/src/rust/library/windows-sys/Cargo.toml
  → {again}"
    );
    for route in [Route::Active, Route::Rustup] {
        assert_eq!(fake.find_toolchain(route).0.unwrap_err(), damaged);
    }
    let (found, said) = fake.find_toolchain(Route::Auto);
    assert!(found.unwrap_err().starts_with("no Rust toolchain here can compile for the GPU\n"));
    let told = format!("Passing over the active toolchain: {damaged}");
    assert_eq!(said, [told.as_str()]);
    // rustup would say that it is up to date.
    assert_eq!(fake.log("rustup.log"), "");

    fake.toolchain(STABLE, "1.99.1", true);
    let (found, said) = fake.find_toolchain(Route::Auto);
    assert_eq!((found.unwrap().route, said), (Route::Installed, vec![told]));
}

#[test]
fn every_way_that_fails_is_told() {
    let fake = Fake::new();
    let error = fake.find_toolchain(Route::Auto).0.unwrap_err();
    assert!(error.starts_with("no Rust toolchain here can compile for the GPU\n"), "{error}");
    for part in [
        "| Active: could not start rustc",
        "| Installed: rustup has no other toolchain",
        "| Rustup: could not start rustc",
        "| Debian: Debian's Rust packages",
    ] {
        assert!(error.contains(part), "{part}: {error}");
    }
}
