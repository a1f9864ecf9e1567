//! What a GPU and a PTX ISA version offer, as flags: for host programs that choose which kernel image to load.

use bitflags::bitflags;

use super::form::Form;
use crate::isa::gate::Gate;
use crate::isa::{gate, target};

/// A flag for each gate, in the order of their table.
macro_rules! features {
    ($({$(#[$($doc:tt)*])* $flag:ident $gate:ident $sm:ident $isa:ident})*) => {
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
                    #[doc = concat!("Needs ", stringify!($sm), " and ", stringify!($isa), ".")]
                    const $flag = <gate::$gate as Gate>::NEEDS.bits();
                )*
            }
        }

        /// Where each begins: SM and PTX ISA version.
        const BEGINS: &[(Features, u32, u32)] = &[
            $((Features::$flag, <target::$sm as target::Sm>::NUMBER, <target::$isa as target::Isa>::NUMBER),)*
        ];
    };
}
for_each_gate! { features }

impl Features {
    /// What SM `sm` (80 for sm_80) offers in PTX ISA version `ptx` (74 for 7.4).
    #[must_use]
    pub const fn of(sm: u32, ptx: u32) -> Self {
        let mut features = Self::empty();
        let mut at = 0;
        while at < BEGINS.len() {
            let (feature, first_sm, first_ptx) = BEGINS[at];
            if sm >= first_sm && ptx >= first_ptx {
                features = features.union(feature);
            }
            at += 1;
        }
        features
    }
}

impl Form {
    /// What the form needs of a target. A target has the form exactly if it offers all of these.
    #[must_use]
    pub fn features(&self) -> Features {
        Features::from_bits_retain(self.needs.bits())
    }
}

#[cfg(test)]
mod tests {
    use alloc::collections::BTreeSet;

    use super::*;

    const SMS: [u32; 11] = [30, 32, 50, 61, 70, 75, 80, 89, 90, 100, 121];
    const VERSIONS: [u32; 25] =
        [30, 31, 50, 60, 62, 63, 70, 71, 73, 74, 75, 77, 78, 80, 81, 82, 83, 84, 86, 87, 88, 90, 91, 92, 94];

    /// Forms of the same features that begin at the same target are asked about once.
    #[test]
    fn a_target_has_a_form_exactly_if_it_offers_its_features() {
        let forms = super::super::forms();
        let alike: BTreeSet<(u128, u32, u32)> =
            forms.map(|form| (form.features().bits(), form.min_sm(), form.min_ptx())).collect();
        for &(bits, min_sm, min_ptx) in &alike {
            let features = Features::from_bits_retain(bits);
            for (sm, ptx) in SMS.into_iter().flat_map(|sm| VERSIONS.map(|ptx| (sm, ptx))) {
                let has = min_sm <= sm && min_ptx <= ptx;
                let offers = Features::of(sm, ptx).contains(features);
                assert_eq!(offers, has, "{features:?} of sm_{min_sm} and ptx{min_ptx}, on {sm}, {ptx}");
            }
        }
        assert!(alike.len() >= 300, "kinds of forms: {}", alike.len());
    }
}
