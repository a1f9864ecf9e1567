//! What the build's target has: one type for each SM and PTX ISA version at which something begins.

/// The target has SM `Self` or newer, as `What` needs. `At` is never read; it ties the bound to the call. `Version` is the PTX ISA
/// version of the same gate: rustc may report this bound alone.
///
/// It is implemented here alone.
#[diagnostic::on_unimplemented(
    message = "`{What}` needs {Self} or newer, and this build is for an older GPU",
    label = "not on this build's GPU"
)]
#[cfg_attr(
    ptx_by_build_script,
    diagnostic::on_unimplemented(note = "build.rs names the target: `{What}` needs {Self} and PTX ISA {Version}")
)]
#[cfg_attr(
    all(target_arch = "nvptx64", not(any(ptx_by_libnvvm, ptx_by_build_script))),
    diagnostic::on_unimplemented(
        note = "to build for {Self}, put `-Ctarget-cpu={Self}` into RUSTFLAGS; if PTX_INTRINSICS_TARGET is set, raise it there",
        note = "its PTX ISA version is {Version}: if the build then emits an older one, add `-Ctarget-feature=+{Version}`"
    )
)]
#[cfg_attr(
    ptx_by_libnvvm,
    diagnostic::on_unimplemented(
        note = "ask cuda_builder for a newer `arch`; if PTX_INTRINSICS_TARGET is set, raise it there"
    )
)]
#[cfg_attr(
    not(target_arch = "nvptx64"),
    diagnostic::on_unimplemented(
        note = "PTX_INTRINSICS_TARGET states the GPU: raise it there; the build for {Self} needs `-Ctarget-cpu={Self}` in RUSTFLAGS"
    )
)]
pub trait HasSm<What: ?Sized, At: ?Sized = (), Version = ptx20>: sealed::Has<What, At> {}

/// The target has PTX ISA version `Self` or newer, as `What` needs.
///
/// It is implemented here alone.
#[diagnostic::on_unimplemented(
    message = "`{What}` needs PTX ISA {Self} or newer, and this build emits an older `.version`",
    label = "not in this build's PTX ISA version"
)]
#[cfg_attr(
    ptx_by_build_script,
    diagnostic::on_unimplemented(note = "build.rs names the target: `{What}` needs PTX ISA {Self}")
)]
#[cfg_attr(
    all(target_arch = "nvptx64", not(any(ptx_by_libnvvm, ptx_by_build_script))),
    diagnostic::on_unimplemented(
        note = "add `-Ctarget-feature=+{Self}` to RUSTFLAGS: `-Ctarget-cpu` alone may not raise the version this far; if PTX_INTRINSICS_TARGET is set, raise it there",
        note = "rustc warns that the feature is unstable, or for the newest that it is unknown, and does what it says"
    )
)]
#[cfg_attr(
    ptx_by_libnvvm,
    diagnostic::on_unimplemented(
        note = "libnvvm writes its own version, which no flag changes: if yours writes {Self} or newer, state it with the GPU, as in `PTX_INTRINSICS_TARGET=sm_80,{Self}`"
    )
)]
#[cfg_attr(
    not(target_arch = "nvptx64"),
    diagnostic::on_unimplemented(
        note = "PTX_INTRINSICS_TARGET states the version: raise it there to {Self}; the build for the GPU needs a rustc with that version, and `-Ctarget-feature=+{Self}` in RUSTFLAGS"
    )
)]
pub trait HasPtx<What: ?Sized, At: ?Sized = ()>: sealed::Has<What, At> {}

/// The compiler of this build. A newer one may emit more PTX ISA versions.
#[allow(non_camel_case_types, reason = "error messages print it in a sentence")]
pub enum this_rustc {}

/// A compiler that can emit PTX ISA version `Version`, as `What` needs. [`this_rustc`] cannot emit the versions that are asked for
/// by this trait: no flag makes it.
#[diagnostic::on_unimplemented(
    message = "`{What}` needs a rustc with PTX ISA {Version}, and the newest version of this one is older",
    label = "newer than this rustc",
    note = "no flag helps: rustc ignores the target feature {Version} until `rustc --print target-features --target nvptx64-nvidia-cuda` lists it"
)]
pub trait Knows<Version, What: ?Sized, At: ?Sized>: sealed::Nobody<What> {}

pub(super) mod sealed {
    #[diagnostic::on_unimplemented(
        message = "only ptx-intrinsics says what the target has",
        note = "state the target with rustc's flags, or with PTX_INTRINSICS_TARGET"
    )]
    pub trait Has<What: ?Sized, At: ?Sized> {}
    pub trait Number {}
    /// Of no type.
    pub trait Nobody<What: ?Sized> {}
}

/// An SM number as a type.
pub trait Sm: sealed::Number {
    /// 80 for sm_80.
    const NUMBER: u32;
    /// Where a number is not enough: the targets of which one is needed.
    const TARGETS: &'static [&'static str] = &[];
    /// Whether this build's GPU is that new.
    const REACHED: bool;
}

/// A PTX ISA version as a type.
pub trait Isa: sealed::Number {
    /// 74 for PTX ISA 7.4.
    const NUMBER: u32;
    /// Whether this build's PTX ISA version is that new.
    const REACHED: bool;
}

macro_rules! targets {
    ($kind:ident $cfg:ident: $($name:ident $number:literal $text:literal)*) => { $(
        #[doc = concat!("`", stringify!($name), "`.")]
        #[allow(non_camel_case_types, reason = "error messages print it as the flag that the user types")]
        pub struct $name;

        impl sealed::Number for $name {}
        impl $kind for $name {
            const NUMBER: u32 = $number;
            const REACHED: bool = cfg!($cfg = $text);
        }

        #[cfg($cfg = $text)]
        impl<What: ?Sized, At: ?Sized> sealed::Has<What, At> for $name {}
    )* };
}

// build.rs sets `ptx_sm` and `ptx_isa` to each of these values that the target reaches.
macro_rules! sms {
    ($($name:ident $number:literal $text:literal)*) => {
        targets! { Sm ptx_sm: $($name $number $text)* }

        $(
            #[cfg(ptx_sm = $text)]
            #[diagnostic::do_not_recommend]
            impl<What: ?Sized, At: ?Sized, Version> HasSm<What, At, Version> for $name {}
        )*
    };
}
sms! {
    sm_20 20 "20" sm_30 30 "30" sm_32 32 "32" sm_60 60 "60" sm_61 61 "61" sm_70 70 "70" sm_75 75 "75" sm_80 80 "80" sm_89 89 "89" sm_90 90 "90" sm_100 100 "100"
}

macro_rules! versions {
    ($($name:ident $number:literal $text:literal)*) => {
        targets! { Isa ptx_isa: $($name $number $text)* }

        $(
            #[cfg(ptx_isa = $text)]
            #[diagnostic::do_not_recommend]
            impl<What: ?Sized, At: ?Sized> HasPtx<What, At> for $name {}
            #[cfg(all(ptx_isa_beyond = $text, not(ptx_isa = $text)))]
            impl<What: ?Sized, At: ?Sized> sealed::Has<What, At> for $name {}
        )*

        /// Whether no flag makes this rustc emit that PTX ISA version.
        #[inline]
        pub(crate) const fn is_beyond_this_rustc(ptx: u32) -> bool {
            match ptx {
                $($number => cfg!(ptx_isa_beyond = $text),)*
                _ => false,
            }
        }
    };
}
versions! {
    ptx20 20 "20" ptx31 31 "31" ptx50 50 "50" ptx60 60 "60" ptx62 62 "62" ptx63 63 "63" ptx64 64 "64" ptx65 65 "65" ptx70 70 "70" ptx71 71 "71"
    ptx74 74 "74" ptx75 75 "75" ptx76 76 "76" ptx77 77 "77" ptx78 78 "78" ptx80 80 "80" ptx81 81 "81" ptx82 82 "82" ptx83 83 "83"
    ptx84 84 "84" ptx86 86 "86" ptx87 87 "87" ptx88 88 "88" ptx91 91 "91" ptx92 92 "92" ptx93 93 "93" ptx94 94 "94"
}

// The harness opens gates beyond rustc by `--cfg=ptx_isa="91"`, since it only compares texts.
// What no flag reaches is an error about the rustc and not about a flag. Every rustc that is new enough for this crate
// knows the versions before these. They are written out, since the error quotes them.
#[cfg(all(ptx_isa_beyond = "91", not(ptx_isa = "91")))]
impl<What: ?Sized, At: ?Sized> HasPtx<What, At> for ptx91 where this_rustc: Knows<ptx91, What, At> {}
#[cfg(all(ptx_isa_beyond = "92", not(ptx_isa = "92")))]
impl<What: ?Sized, At: ?Sized> HasPtx<What, At> for ptx92 where this_rustc: Knows<ptx92, What, At> {}
#[cfg(all(ptx_isa_beyond = "93", not(ptx_isa = "93")))]
impl<What: ?Sized, At: ?Sized> HasPtx<What, At> for ptx93 where this_rustc: Knows<ptx93, What, At> {}
#[cfg(all(ptx_isa_beyond = "94", not(ptx_isa = "94")))]
impl<What: ?Sized, At: ?Sized> HasPtx<What, At> for ptx94 where this_rustc: Knows<ptx94, What, At> {}
