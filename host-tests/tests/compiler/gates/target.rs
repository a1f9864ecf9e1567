//! `cargo check` for a GPU refuses what that GPU lacks.

use std::path::{Path, PathBuf};

use host_tests::check::forms::write_package_with;
use host_tests::check::here::{or_panic, toolchain};
use host_tests::check::refused::{Refusal, refusals};
use host_tests::tools::core_library;
use host_tests::tools::device_build::Profile;
use host_tests::tools::target::{PtxVersion, Sm};
use host_tests::tools::toolchain::DeviceToolchain;
use ptx_intrinsics::catalogue::IMPORTS;

use super::TARGET;

/// A kernel crate outside of this workspace, as a user has one.
struct User {
    toolchain: DeviceToolchain,
    /// Kept from run to run.
    folder: PathBuf,
}

impl User {
    fn new(name: &str) -> User {
        User { toolchain: toolchain(), folder: Path::new(env!("CARGO_TARGET_TMPDIR")).join(name) }
    }

    /// What `cargo check` says of a kernel with these parameters and this body.
    fn check(&self, flags: &[&str], kernel: &str) -> Vec<Refusal> {
        let core = core_library::flags(&self.toolchain, Profile::Release).unwrap_or_else(|error| panic!("{error}"));
        let flags: Vec<&str> = flags.iter().copied().chain(core.iter().map(String::as_str)).collect();
        self.check_for(TARGET, &flags, kernel)
    }

    /// The same for another target than the GPU.
    fn check_for(&self, target: &str, flags: &[&str], kernel: &str) -> Vec<Refusal> {
        let source = format!("#![no_std]\n{IMPORTS}\n#[unsafe(no_mangle)]\npub unsafe fn kernel{kernel}\n");
        or_panic(write_package_with(&self.folder, "user", &["ptx-intrinsics"], &source));
        let cargo = self.toolchain.cargo().dir(&self.folder).env("CARGO_ENCODED_RUSTFLAGS", flags.join("\x1f"));
        // The crate is compiled once for the users that ask for the same GPU.
        let cargo = cargo.env("CARGO_TARGET_DIR", self.folder.with_file_name("target"));
        let cargo = if target.is_empty() { cargo } else { cargo.env("CARGO_BUILD_TARGET", target) };
        or_panic(refusals(cargo.env_without(|name| name == "PTX_INTRINSICS_TARGET")))
    }

    fn accepts(&self, flags: &[&str], kernel: &str) {
        let refusals = self.check(flags, kernel);
        assert!(refusals.is_empty(), "{flags:?} {kernel}: {refusals:#?}");
    }

    /// The only error.
    fn refuses(&self, flags: &[&str], kernel: &str) -> Refusal {
        let mut refusals = self.check(flags, kernel);
        assert_eq!(refusals.len(), 1, "{flags:?} {kernel}: {refusals:#?}");
        refusals.remove(0)
    }
}

const EVICT_LAST: &str = "(p: *const f32) -> f32 { unsafe { ld_global_nc::<EvictLast, NoPrefetch>().read(p) } }";
const POLICY: &str =
    "(p: *const f32, policy: CachePolicy) -> f32 { unsafe { ld_global::<Cg, NoPrefetch>().read_with(p, policy) } }";
const WIDE: &str = "(p: *const V8<f32>, q: *mut V8<f32>) { unsafe {
    st_global::<(EvictLast, L2EvictFirst)>().write(q, ld_global_nc::<L2EvictLast, Prefetch256>().read(p)) } }";
const VOLATILE_LOCAL: &str = "(p: *const f32) -> f32 { unsafe { ld_local().volatile().read(p) } }";
const TENSORMAP: &str = "(p: *const u8) { unsafe { prefetch_tensormap(p) } }";

#[test]
fn the_gpu_build_refuses_what_its_target_lacks() {
    let user = User::new("refusing");
    let refusal = user.refuses(&["-Ctarget-cpu=sm_80"], EVICT_LAST);
    assert_eq!(
        refusal.message,
        "`ptx_intrinsics::caching::EvictLast` needs PTX ISA ptx74 or newer, and this build emits an older `.version`"
    );
    assert!(refusal.notes[0].starts_with("add `-Ctarget-feature=+ptx74` to RUSTFLAGS"), "{refusal:?}");

    // The same core: what this rustc knows is the build script's to find out.
    let knows = user.toolchain.check_target(Sm::new(80), Some(PtxVersion::new(9, 1))).is_ok();
    let refusal = user.refuses(&["-Ctarget-cpu=sm_80"], VOLATILE_LOCAL);
    let begins = if knows {
        "`ptx_intrinsics::order::Volatile` needs PTX ISA ptx91 or newer"
    } else {
        "`ptx_intrinsics::order::Volatile` needs a rustc with PTX ISA ptx91"
    };
    assert!(refusal.message.starts_with(begins), "{refusal:?}");

    let refusal = user.refuses(&["-Ctarget-cpu=sm_75", "-Ctarget-feature=+ptx74"], POLICY);
    assert_eq!(
        refusal.message,
        "`ptx_intrinsics::CachePolicy` needs sm_80 or newer, and this build is for an older GPU"
    );
    assert!(refusal.notes[0].starts_with("to build for sm_80, put `-Ctarget-cpu=sm_80` into RUSTFLAGS"), "{refusal:?}");
}

#[test]
fn a_missing_feature_is_named() {
    let user = User::new("featureless");
    let flags = ["-Ctarget-cpu=sm_100", "-Ctarget-feature=+ptx88"];
    let feature = "the cargo feature `l2-combinations` of ptx-intrinsics";
    let methods = format!("the methods `read_if_with` and `write_if_with` need {feature}");
    let priority = format!("`L2EvictLast` with a cache policy or under a condition needs {feature}");
    let size = format!("`Prefetch<256>` with a cache policy or under a condition needs {feature}");
    let pair = format!("`(EvictFirst, L2EvictLast)` with a cache policy or under a condition needs {feature}");
    for (body, message) in [
        ("_ = ld_global::<NoHint, NoPrefetch>().read_if_with(true, p, V8::default(), policy);", &methods),
        ("st_global::<NoHint>().write_if_with(true, p, V8::default(), policy);", &methods),
        ("_ = ld_global_nc::<(EvictFirst, L2EvictLast), NoPrefetch>().read_if(true, p, V8::default());", &pair),
        ("_ = ld_global::<L2EvictLast, NoPrefetch>().read_with(p, policy);", &priority),
        ("st_global::<L2EvictLast>().write_with(p, V8::default(), policy);", &priority),
        ("_ = ld_global::<EvictLast, Prefetch256>().read_with(p, policy);", &size),
    ] {
        let refusal =
            user.refuses(&flags, &format!("(p: *mut V8<f32>, policy: CachePolicy) {{ unsafe {{ {body} }} }}"));
        assert_eq!(
            refusal.message.replace("ptx_intrinsics::caching::", "").replace("ptx_intrinsics::prefetch_size::", ""),
            *message,
            "{body}"
        );
        assert!(refusal.notes.iter().any(|note| note.contains("`ptx!(@cond ")), "{refusal:?}");
    }
    user.accepts(
        &flags,
        "(p: *mut V8<f32>, policy: CachePolicy) { unsafe {
            let value = ptx!(@true ld.global.L2::cache_hint.v8.f32 [p], policy, else V8::default());
            ptx!(@true st.global.L1::evict_first.L2::evict_last.v8.f32 [p], value);
            ptx!(st.global.L2::evict_last.L2::cache_hint.v8.f32 [p], value, policy) } }",
    );
}

/// What the build script says by these `cfg`s, which is tested above, in words.
#[test]
fn no_flag_is_named_that_would_not_help() {
    let user = User::new("advised");
    let flags = ["-Ctarget-cpu=sm_80", "--cfg=ptx_isa_beyond=\"91\"", "--cfg=ptx_by_libnvvm"];
    let refusal = user.refuses(&flags, VOLATILE_LOCAL);
    assert_eq!(
        refusal.message,
        "`ptx_intrinsics::order::Volatile` needs a rustc with PTX ISA ptx91, and the newest version of this one is older"
    );
    assert_eq!(
        refusal.notes[0],
        "no flag helps: rustc ignores the target feature ptx91 until `rustc --print target-features --target \
         nvptx64-nvidia-cuda` lists it"
    );
    let refusal = user.refuses(&flags, "(p: *const f32) -> f32 { unsafe { ptx!(ld.volatile.local.f32 [p]) } }");
    assert_eq!(
        refusal.message,
        "evaluation panicked: `ld.volatile.local.f32`: needs a rustc with PTX ISA ptx91, and the newest version of \
         this one is older: it would ignore `-Ctarget-feature=+ptx91`"
    );

    let refusal = user.refuses(&flags, EVICT_LAST);
    assert_eq!(
        refusal.notes[0],
        "libnvvm writes its own version, which no flag changes: if yours writes ptx74 or newer, state it with the GPU, as in \
         `PTX_INTRINSICS_TARGET=sm_80,ptx74`"
    );
    let refusal = user.refuses(&flags, "(p: *const f32) -> f32 { unsafe { ptx!(ld.global.L1::evict_last.f32 [p]) } }");
    assert_eq!(
        refusal.message,
        "evaluation panicked: `ld.global.L1::evict_last.f32`: needs PTX ISA ptx74 or newer, and this build emits an older \
         `.version`: libnvvm writes its own; if yours writes ptx74 or newer, state it in PTX_INTRINSICS_TARGET"
    );
    let refusal = user.check(&flags, TENSORMAP).swap_remove(0);
    assert_eq!(
        refusal.notes[0],
        "ask cuda_builder for a newer `arch`; if PTX_INTRINSICS_TARGET is set, raise it there"
    );
}

/// cuda-oxide compiles device code for the host, where every hint would be lost.
#[test]
fn nothing_is_lost_in_silence_by_cuda_oxide() {
    let user = User::new("oxide");
    // cargo-oxide gives a digest of itself as the value.
    let refusals = user.check_for("", &["--cfg", "cuda_oxide_internal_backend_identity=\"5f0c\""], "() {}");
    assert_eq!(refusals.len(), 1, "{refusals:#?}");
    assert_eq!(
        refusals[0].message,
        "under cuda-oxide ptx-intrinsics needs its feature `cuda-oxide`: without it this crate is compiled as for a CPU, \
         and every cache hint, order and copy would be lost without a word"
    );
}

#[test]
fn the_gpu_build_accepts_what_its_target_has() {
    let user = User::new("accepting");
    let ampere = ["-Ctarget-cpu=sm_80", "-Ctarget-feature=+ptx74"];
    user.accepts(&ampere, EVICT_LAST);
    user.accepts(&ampere, POLICY);
    user.accepts(&["-Ctarget-cpu=sm_90a"], TENSORMAP);
    // This one has no `cfg` for its SM.
    user.accepts(&["-Ctarget-cpu=sm_103f"], WIDE);
}

/// What a target with a suffix has, one without it lacks, and one of another family.
#[test]
fn a_target_with_a_suffix() {
    const REGISTERS: &str = "() { unsafe { setmaxnreg_dec_sync_aligned::<40>() } }";
    const FLOATS: &str = "(x: f32) -> f32 { unsafe { redux_sync_min_f32(x, !0) } }";
    let user = User::new("suffix");
    user.accepts(&["-Ctarget-cpu=sm_90a"], REGISTERS);
    user.accepts(&["-Ctarget-cpu=sm_103f"], REGISTERS);
    user.accepts(&["-Ctarget-cpu=sm_103f"], FLOATS);
    // As for `a_missing_feature_is_named`, so that the crate is compiled once for both.
    let refused = user.refuses(&["-Ctarget-cpu=sm_100", "-Ctarget-feature=+ptx88"], REGISTERS);
    let message = "`ptx_intrinsics::setmaxnreg_dec_sync_aligned` needs the target (sm_90a, sm_100f, sm_110f, sm_120f), and this \
                   build is for another";
    assert_eq!(refused.message, message);
    assert!(refused.notes.iter().any(|note| note.contains("as in `-Ctarget-cpu=sm_90a`")), "{refused:?}");
    let refused = user.refuses(&["-Ctarget-cpu=sm_120a"], FLOATS);
    let message = "`ptx_intrinsics::redux_sync_min_f32` needs the target sm_100f, and this build is for another";
    assert_eq!(refused.message, message);
    assert!(refused.notes.iter().any(|note| note.contains("`-Ctarget-cpu=sm_100f`")), "{refused:?}");
}
