//! What the build's target has: one type for each SM and PTX ISA version at which something begins.

/// The target has SM `Self` or newer, as `What` needs. `At` is never read; it ties the bound to the call.
#[diagnostic::on_unimplemented(
    message = "`{What}` needs {Self} or newer, and this build is for an older GPU",
    label = "not on this build's GPU",
    note = "to build for {Self}, put `-Ctarget-cpu={Self}` into RUSTFLAGS; if PTX_INTRINSICS_TARGET is set, raise it there"
)]
pub trait HasSm<What: ?Sized, At: ?Sized = ()> {}

/// The target has PTX ISA version `Self` or newer, as `What` needs.
#[diagnostic::on_unimplemented(
    message = "`{What}` needs PTX ISA {Self} or newer, and this build emits an older `.version`",
    label = "not in this build's PTX ISA version",
    note = "add `-Ctarget-feature=+{Self}` to RUSTFLAGS: `-Ctarget-cpu` alone may not raise the version this far; if PTX_INTRINSICS_TARGET is set, raise it there",
    note = "rustc warns that the feature is unstable, or for the newest that it is unknown, and does what it says"
)]
pub trait HasPtx<What: ?Sized, At: ?Sized = ()> {}

/// An SM number as a type.
pub trait Sm {
    /// 80 for sm_80.
    const NUMBER: u32;
    /// Whether this build's GPU is that new.
    const REACHED: bool;
}

/// A PTX ISA version as a type.
pub trait Isa {
    /// 74 for PTX ISA 7.4.
    const NUMBER: u32;
    /// Whether this build's PTX ISA version is that new.
    const REACHED: bool;
}

macro_rules! targets {
    ($kind:ident $has:ident $cfg:ident: $($name:ident $number:literal $text:literal)*) => { $(
        #[doc = concat!("`", stringify!($name), "`.")]
        #[allow(non_camel_case_types, reason = "error messages print it as the flag that the user types")]
        #[derive(Clone, Copy, Debug)]
        pub struct $name;

        impl $kind for $name {
            const NUMBER: u32 = $number;
            const REACHED: bool = cfg!($cfg = $text);
        }

        #[cfg($cfg = $text)]
        #[diagnostic::do_not_recommend]
        impl<What: ?Sized, At: ?Sized> $has<What, At> for $name {}
    )* };
}

// build.rs sets `ptx_sm` and `ptx_isa` to each of these values that the target reaches.
targets! { Sm HasSm ptx_sm:
    sm_20 20 "20" sm_30 30 "30" sm_32 32 "32" sm_60 60 "60" sm_70 70 "70" sm_75 75 "75" sm_80 80 "80" sm_90 90 "90" sm_100 100 "100"
}
targets! { Isa HasPtx ptx_isa:
    ptx20 20 "20" ptx31 31 "31" ptx50 50 "50" ptx60 60 "60" ptx62 62 "62" ptx63 63 "63" ptx70 70 "70" ptx71 71 "71"
    ptx74 74 "74" ptx75 75 "75" ptx77 77 "77" ptx78 78 "78" ptx80 80 "80" ptx81 81 "81" ptx82 82 "82" ptx83 83 "83"
    ptx84 84 "84" ptx86 86 "86" ptx88 88 "88" ptx91 91 "91" ptx92 92 "92" ptx94 94 "94"
}

/// The newer of two SMs, or of two PTX ISA versions.
pub const fn newer(a: u32, b: u32) -> u32 {
    if a > b { a } else { b }
}
