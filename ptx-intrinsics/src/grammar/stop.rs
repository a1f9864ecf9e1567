//! Stopping the build with a text that says why: a panic while constants are evaluated.
//!
//! `#[track_caller]` keeps the functions here out of the error: it shows the author's line alone.

use super::read::Wrong;
use crate::isa::gate::Needs;
use crate::isa::target::is_beyond_this_rustc;

/// Stops the build where its target is too old.
#[track_caller]
#[inline]
pub(crate) const fn stop_unless_on_target(text: &str, needs: Needs) {
    if !needs.has_sm() {
        stop_for_sm(text, needs);
    }
    if !needs.has_ptx() {
        stop_for_ptx(text, needs.ptx());
    }
}

/// Stops the build with `text: word: why`.
#[track_caller]
#[inline]
pub(crate) const fn stop(text: &str, wrong: Wrong<'_>) -> ! {
    let message = ErrorText::about(text);
    let message = if wrong.word.is_empty() { message } else { message.and("`").and(wrong.word).and("`: ") };
    let message = message.and(wrong.why);
    match wrong.suggestion() {
        Some(meant) => message.and("; did you mean `").and(meant).and("`?").panic(),
        None => message.panic(),
    }
}

#[track_caller]
#[inline]
const fn stop_for_sm(text: &str, needs: Needs) -> ! {
    let targets = needs.targets();
    if !targets.is_empty() {
        stop_for_target(text, targets, needs.ptx());
    }
    let sm = needs.sm();
    let message =
        ErrorText::about(text).and("needs sm_").and_number(sm).and(" or newer, and this build is for an older GPU: ");
    if cfg!(ptx_by_build_script) {
        let message = message.and("build.rs names the target: it needs sm_").and_number(sm);
        message.and(" and PTX ISA ptx").and_number(needs.ptx()).panic()
    }
    let message = if cfg!(ptx_by_libnvvm) {
        message.and("ask cuda_builder for a newer `arch`")
    } else {
        message.and("put `-Ctarget-cpu=sm_").and_number(sm).and("` into RUSTFLAGS")
    };
    message.and("; if PTX_INTRINSICS_TARGET is set, raise it there").panic()
}

/// Where the number of a GPU is not enough.
#[track_caller]
#[inline]
const fn stop_for_target(text: &str, targets: &[&str], ptx: u32) -> ! {
    let mut message = ErrorText::about(text).and("needs the target ").and(targets[0]);
    let mut at = 1;
    while at < targets.len() {
        message = message.and(if at + 1 == targets.len() { " or " } else { ", " }).and(targets[at]);
        at += 1;
    }
    let message = message.and(", and this build is for another: ");
    let message = match () {
        () if cfg!(ptx_by_build_script) => {
            message.and("build.rs names the target: `.target(\"").and(targets[0]).and("\")`")
        }
        () if cfg!(ptx_by_libnvvm) => message.and("ask cuda_builder for such an `arch`"),
        () => message.and("put `-Ctarget-cpu=").and(targets[0]).and("` into RUSTFLAGS"),
    };
    let message = message.and("; it has this from PTX ISA ptx").and_number(ptx).and(" on");
    if cfg!(ptx_by_build_script) {
        message.panic()
    }
    message.and("; if PTX_INTRINSICS_TARGET is set, state it there").panic()
}

#[track_caller]
#[inline]
const fn stop_for_ptx(text: &str, ptx: u32) -> ! {
    let message = ErrorText::about(text);
    if is_beyond_this_rustc(ptx) {
        let message = message.and("needs a rustc with PTX ISA ptx").and_number(ptx);
        let message =
            message.and(", and the newest version of this one is older: it would ignore `-Ctarget-feature=+ptx");
        message.and_number(ptx).and("`").panic()
    }
    let message =
        message.and("needs PTX ISA ptx").and_number(ptx).and(" or newer, and this build emits an older `.version`: ");
    if cfg!(ptx_by_build_script) {
        message.and("build.rs names the target: it needs PTX ISA ptx").and_number(ptx).panic()
    }
    if cfg!(ptx_by_libnvvm) {
        let message = message.and("libnvvm writes its own; if yours writes ptx").and_number(ptx);
        message.and(" or newer, state it in PTX_INTRINSICS_TARGET").panic()
    }
    if cfg!(target_arch = "nvptx64") {
        let message = message.and("add `-Ctarget-feature=+ptx").and_number(ptx);
        message.and("` to RUSTFLAGS; if PTX_INTRINSICS_TARGET is set, raise it there").panic()
    }
    let message =
        message.and("raise it in PTX_INTRINSICS_TARGET; the build for the GPU needs a rustc with that version, and");
    message.and(" `-Ctarget-feature=+ptx").and_number(ptx).and("` in RUSTFLAGS").panic()
}

/// A text that is put together while constants are evaluated.
struct ErrorText {
    bytes: [u8; 512],
    length: usize,
}

impl ErrorText {
    #[inline]
    const fn about(text: &str) -> Self {
        Self { bytes: [0; 512], length: 0 }.and("`").and(text).and("`: ")
    }

    #[inline]
    const fn and(mut self, text: &str) -> Self {
        let text = text.as_bytes();
        let mut at = 0;
        while at < text.len() && self.length < self.bytes.len() {
            self.bytes[self.length] = text[at];
            self.length += 1;
            at += 1;
        }
        self
    }

    #[inline]
    const fn and_number(self, number: u32) -> Self {
        let digit = "0123456789".split_at((number % 10) as usize).1.split_at(1).0;
        let before = if number >= 10 { self.and_number(number / 10) } else { self };
        before.and(digit)
    }

    #[track_caller]
    #[inline]
    const fn panic(self) -> ! {
        match core::str::from_utf8(self.bytes.split_at(self.length).0) {
            Ok(message) => panic!("{}", message),
            Err(_) => panic!("the words do not go together"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::gate::RegisterCounts;

    #[test]
    #[should_panic(
        expected = "`x`: needs the target sm_90a, sm_100f, sm_110f or sm_120f, and this build is for another: put \
                    `-Ctarget-cpu=sm_90a` into RUSTFLAGS"
    )]
    fn several_targets_are_named() {
        stop_for_sm("x", Needs::of::<RegisterCounts>());
    }
}
