//! What a GPU and a PTX ISA version offer, as flags: for host programs that choose which kernel image to load.

use bitflags::bitflags;

use super::form::Form;
use crate::isa::gate::{self, Gate};
use crate::isa::specific::Target;
use crate::isa::target::{Isa, Sm};

/// A flag for each gate, in the order of their table.
macro_rules! features {
    ($({$(#[$($doc:tt)*])* $flag:ident $gate:ident $sm:tt $isa:ident})*) => {
        bitflags! {
            /// Parts of the instructions that not every target has: a flag for each [gate](crate::gate).
            ///
            /// ```
            /// use ptx_intrinsics::features::Features;
            ///
            /// let h100 = Features::of(90, 78);
            /// assert!(h100.contains(Features::CACHE_HINT | Features::PREFETCH_256));
            /// assert!(!h100.contains(Features::WIDE));
            /// ```
            #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
            pub struct Features: u128 {
                $(
                    $(#[$($doc)*])*
                    #[doc = ""]
                    #[doc = sentence!($sm $isa)]
                    const $flag = <gate::$gate as Gate>::NEEDS.bits();
                )*
            }
        }

        const GATES: &[Begins] = &[$(Begins {
            feature: Features::$flag,
            sm: <gate::$gate as Gate>::Sm::NUMBER,
            targets: <gate::$gate as Gate>::Sm::TARGETS,
            ptx: <gate::$gate as Gate>::Isa::NUMBER,
        }),*];
    };
}
for_each_gate! { features }

/// Where a feature begins.
struct Begins {
    feature: Features,
    sm: u32,
    /// Where a number is not enough: the targets of which one is needed.
    targets: &'static [&'static str],
    ptx: u32,
}

impl Features {
    /// What SM `sm` (80 for sm_80) offers in PTX ISA version `ptx` (74 for 7.4), as a target without a suffix.
    #[must_use]
    pub const fn of(sm: u32, ptx: u32) -> Self {
        let mut features = Self::empty();
        let mut at = 0;
        while at < GATES.len() {
            let gate = &GATES[at];
            if sm >= gate.sm && ptx >= gate.ptx && gate.targets.is_empty() {
                features = features.union(gate.feature);
            }
            at += 1;
        }
        features
    }

    /// What a target offers, which may have a suffix, in PTX ISA version `ptx` (80 for 8.0). None if it is not the name of a target.
    ///
    /// ```
    /// use ptx_intrinsics::features::Features;
    ///
    /// let offers = |target| Features::of_target(target, 90).unwrap().contains(Features::SETMAXNREG);
    /// assert!(offers("sm_90a") && offers("sm_103f") && !offers("sm_90"));
    /// ```
    #[must_use]
    pub fn of_target(target: &str, ptx: u32) -> Option<Self> {
        let target = Target::read(target)?;
        let named = GATES.iter().filter(|gate| !gate.targets.is_empty());
        let offered = named.filter(|gate| ptx >= gate.ptx && target.is_among(gate.targets)).map(|gate| gate.feature);
        Some(offered.fold(Self::of(target.number, ptx), Self::union))
    }
}

impl Form {
    /// What the form needs of a target. A target has the form exactly if it offers all of these.
    #[must_use]
    pub fn features(&self) -> Features {
        Features::from_bits_retain(self.needs.bits())
    }

    /// Whether a target has the form, which may have a suffix, in PTX ISA version `ptx` (80 for 8.0): `is_on("sm_90a", 80)`.
    #[must_use]
    pub fn is_on(&self, target: &str, ptx: u32) -> bool {
        let target = Target::read(target);
        let is_among = |target: Target| self.min_sm() <= target.number && target.is_among(self.targets());
        self.min_ptx() <= ptx && target.is_some_and(is_among)
    }
}

#[cfg(test)]
mod tests {
    use alloc::collections::BTreeMap;
    use alloc::format;
    use alloc::vec::Vec;

    use super::*;

    const SMS: [u32; 11] = [30, 32, 50, 61, 70, 75, 80, 89, 90, 100, 121];
    const VERSIONS: [u32; 25] =
        [30, 31, 50, 60, 62, 63, 70, 71, 73, 74, 75, 77, 78, 80, 81, 82, 83, 84, 86, 87, 88, 90, 91, 92, 94];

    /// Forms of the same features that begin at the same target are asked about once.
    #[test]
    fn a_target_has_a_form_exactly_if_it_offers_its_features() {
        let forms = super::super::forms();
        let alike: BTreeMap<(u128, u32, u32), Form> =
            forms.map(|form| ((form.features().bits(), form.min_sm(), form.min_ptx()), form)).collect();
        for (&(bits, min_sm, min_ptx), form) in &alike {
            let features = Features::from_bits_retain(bits);
            for (sm, ptx) in SMS.into_iter().flat_map(|sm| VERSIONS.map(|ptx| (sm, ptx))) {
                let has = min_sm <= sm && min_ptx <= ptx && form.targets().is_empty();
                let offers = Features::of(sm, ptx).contains(features);
                assert_eq!(offers, has, "{features:?} of sm_{min_sm} and ptx{min_ptx}, on {sm}, {ptx}");
                for suffix in ["", "a", "f"] {
                    let target = format!("sm_{sm}{suffix}");
                    let offers = Features::of_target(&target, ptx).is_some_and(|offers| offers.contains(features));
                    assert_eq!(offers, form.is_on(&target, ptx), "{features:?} on {target}, {ptx}");
                }
            }
        }
        assert!(alike.len() >= 300, "kinds of forms: {}", alike.len());
        let named = alike.values().filter(|form| !form.targets().is_empty()).count();
        assert!(named >= 2, "kinds of forms that name targets: {named}");
    }

    /// `Form::targets` gives those of one gate.
    #[test]
    fn at_most_one_gate_of_a_form_names_targets() {
        let named: Vec<Features> =
            GATES.iter().filter(|gate| !gate.targets.is_empty()).map(|gate| gate.feature).collect();
        for form in super::super::forms() {
            let own = named.iter().filter(|feature| form.features().contains(**feature)).count();
            assert!(own <= 1, "{}", form.full_ptx());
        }
    }
}
