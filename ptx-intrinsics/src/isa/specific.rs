//! Targets with a suffix: `sm_90a` has what that GPU alone has, `sm_100f` what the later GPUs of its family have too. A gate may
//! name several of them, of which one is enough.

use super::target::{HasSm, Sm, sealed};

/// The build's target is one of `Targets`, as `What` needs; `First` is one that a build can ask for. `At` is never read; it ties the
/// bound to the call. `Version` is the PTX ISA version of the same gate.
///
/// It is implemented here alone.
#[diagnostic::on_unimplemented(
    message = "`{What}` needs the target {Targets}, and this build is for another",
    label = "not on this build's target"
)]
#[cfg_attr(
    ptx_by_build_script,
    diagnostic::on_unimplemented(
        note = "build.rs names the target: `.target(\"{First}\")` has `{What}` from PTX ISA {Version} on; what is compiled for it runs on no other GPU, and with an `f` on those of its family"
    )
)]
#[cfg_attr(
    all(target_arch = "nvptx64", not(any(ptx_by_libnvvm, ptx_by_build_script))),
    diagnostic::on_unimplemented(
        note = "one is enough: put it into RUSTFLAGS, as in `-Ctarget-cpu={First}`; if PTX_INTRINSICS_TARGET is set, state it there",
        note = "with an `a`, it is for that GPU alone, and with an `f` for the later ones of its family too, each with an `a` or an `f`",
        note = "its PTX ISA version is {Version}: if the build then emits an older one, add `-Ctarget-feature=+{Version}`"
    )
)]
#[cfg_attr(
    ptx_by_libnvvm,
    diagnostic::on_unimplemented(
        note = "ask cuda_builder for such an `arch`; if PTX_INTRINSICS_TARGET is set, state it there"
    )
)]
#[cfg_attr(
    not(target_arch = "nvptx64"),
    diagnostic::on_unimplemented(
        note = "PTX_INTRINSICS_TARGET states the target: one is enough, as in `PTX_INTRINSICS_TARGET={First}`; the build for it needs `-Ctarget-cpu={First}` in RUSTFLAGS"
    )
)]
pub trait Holds<Targets: ?Sized, First, What: ?Sized, At: ?Sized, Version> {}

#[diagnostic::do_not_recommend]
impl<Targets: ?Sized, First, What: ?Sized, At: ?Sized, Version> Holds<Targets, First, What, At, Version> for Yes {}

/// Whether the build is for a target, as a type.
pub trait Answer {
    /// It is.
    const HOLDS: bool;
    /// Whether it is for this one or another.
    type Or<Other: Answer>: Answer;
}

/// It is.
pub enum Yes {}
impl Answer for Yes {
    const HOLDS: bool = true;
    type Or<Other: Answer> = Yes;
}

/// It is not.
#[allow(dead_code, reason = "where a build has all targets")]
pub enum No {}
impl Answer for No {
    const HOLDS: bool = false;
    type Or<Other: Answer> = Other;
}

/// Targets with a suffix: one, or a tuple of several.
pub trait Targets: sealed::Number {
    /// One that a build can ask for.
    type First;
    /// Whether the build is for one of them.
    type Reached: Answer;
    /// Their names.
    const NAMES: &'static [&'static str];
    /// The oldest number.
    const OLDEST: u32;
}

/// What a gate asks for that wants one of several targets.
pub struct OneOf<T>(core::marker::PhantomData<T>);

impl<T: Targets> sealed::Number for OneOf<T> {}
impl<T: Targets> Sm for OneOf<T> {
    const NUMBER: u32 = T::OLDEST;
    const TARGETS: &'static [&'static str] = T::NAMES;
    const REACHED: bool = T::Reached::HOLDS;
}
impl<T: Targets, What: ?Sized, At: ?Sized> sealed::Has<What, At> for OneOf<T> {}
impl<T: Targets, What: ?Sized, At: ?Sized, Version> HasSm<What, At, Version> for OneOf<T> where
    T::Reached: Holds<T, T::First, What, At, Version>
{
}

// build.rs sets `ptx_target` to each of these names that the target has.
macro_rules! targets {
    ($($name:ident $number:literal $text:literal)*) => { $(
        #[doc = concat!("`", $text, "`.")]
        #[allow(non_camel_case_types, reason = "error messages print it as the flag that the user types")]
        pub struct $name;

        impl sealed::Number for $name {}
        impl Targets for $name {
            type First = Self;
            #[cfg(ptx_target = $text)]
            type Reached = Yes;
            #[cfg(not(ptx_target = $text))]
            type Reached = No;
            const NAMES: &'static [&'static str] = &[$text];
            const OLDEST: u32 = $number;
        }
    )* };
}
targets! { sm_90a 90 "sm_90a" sm_100f 100 "sm_100f" sm_110f 110 "sm_110f" sm_120f 120 "sm_120f" sm_120a 120 "sm_120a" sm_121a 121 "sm_121a" }

macro_rules! tuples {
    ($(($first:ident $($other:ident)+))*) => { $(
        impl<$first: Targets $(, $other: Targets)+> sealed::Number for ($first $(, $other)+) {}
        // The first is the oldest.
        impl<$first: Targets $(, $other: Targets)+> Targets for ($first $(, $other)+) {
            type First = $first::First;
            type Reached = tuples!(@or $first $($other)+);
            const NAMES: &'static [&'static str] = &[$first::NAMES[0] $(, $other::NAMES[0])+];
            const OLDEST: u32 = $first::OLDEST;
        }
    )* };
    (@or $last:ident) => { $last::Reached };
    (@or $first:ident $($other:ident)+) => { <$first::Reached as Answer>::Or<tuples!(@or $($other)+)> };
}
tuples! { (A B) (A B C) (A B C D) }

/// A target by its name.
#[cfg(not(ptx_device))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    pub(crate) number: u32,
    suffix: Option<char>,
}

#[cfg(not(ptx_device))]
impl Target {
    /// Reads `sm_90`, `sm_90a`, `sm_100f`.
    pub(crate) fn read(name: &str) -> Option<Self> {
        let name = name.strip_prefix("sm_")?;
        let suffix = name.chars().last().filter(|last| matches!(last, 'a' | 'f'));
        let digits = name.strip_suffix(['a', 'f']).unwrap_or(name);
        let is_number = digits.len() >= 2 && digits.bytes().all(|byte| byte.is_ascii_digit());
        Some(Self { number: digits.parse().ok().filter(|_| is_number)?, suffix })
    }

    /// Whether it has all that this one with a suffix has: it is the same, or a later one of its family, with a suffix.
    fn includes(self, other: Self) -> bool {
        let in_family = self.number >= other.number && family(self.number) == family(other.number);
        self == other || other.suffix == Some('f') && self.suffix.is_some() && in_family
    }

    /// Whether one of these targets is enough for it; none are asked for where there are none.
    pub(crate) fn is_among(self, targets: &[&str]) -> bool {
        targets.is_empty() || targets.iter().filter_map(|name| Self::read(name)).any(|other| self.includes(other))
    }
}

/// The first GPU of a family: 100 of 103 and 107. CUDA 13 calls 110 what was 101.
#[cfg(not(ptx_device))]
fn family(number: u32) -> u32 {
    match number {
        101 | 110 => 110,
        _ => number / 10 * 10,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By ptxas 13.5 and its help.
    #[test]
    fn a_family_is_the_gpu_and_later_ones_with_a_suffix() {
        let has = |name: &str, other: &str| Target::read(name).is_some_and(|target| target.is_among(&[other]));
        for (name, others) in [
            ("sm_90a", &["sm_90a"][..]),
            ("sm_100a", &["sm_100a", "sm_100f"]),
            ("sm_100f", &["sm_100f"]),
            ("sm_103a", &["sm_100f", "sm_103f", "sm_103a"]),
            ("sm_107f", &["sm_100f", "sm_103f"]),
            ("sm_101a", &["sm_101f"]),
            ("sm_110a", &["sm_110f", "sm_101f"]),
            ("sm_121f", &["sm_120f", "sm_121f"]),
        ] {
            for other in
                ["sm_90a", "sm_100a", "sm_100f", "sm_103a", "sm_103f", "sm_101f", "sm_110f", "sm_120f", "sm_121f"]
            {
                assert_eq!(has(name, other), others.contains(&other), "{name} {other}");
            }
        }
        for plain in ["sm_90", "sm_100", "sm_103", "sm_120"] {
            assert!(!["sm_90a", "sm_100f", "sm_120f"].iter().any(|other| has(plain, other)), "{plain}");
        }
        for nonsense in ["90a", "sm_", "sm_9", "sm_90b", "sm_+90", "sm_90aa"] {
            assert_eq!(Target::read(nonsense), None, "{nonsense}");
        }
    }
}
