//! Every spelling that the words of an instruction can make, legal or not.
//!
//! The words are here once more, apart from the crate's tables: what the tables leave out has to be asked too.

mod spelling;

use std::collections::HashMap;
use std::sync::LazyLock;

use rand::{Rng, RngExt};

use crate::check::only;

pub use spelling::{Operands, REGISTERS, Spelling};
use spelling::{POLICY, takes_policy_among_operands, without_registers};

/// The choices of one place in a mnemonic; an empty one leaves the place empty.
type Axis = &'static [&'static str];

/// An instruction's grammar: the places of its mnemonic, and whether a type ends it.
#[derive(Debug)]
pub struct Grammar {
    /// `ld`.
    pub name: &'static str,
    places: Vec<Axis>,
    /// The same as the catalogue shows them: with `%` for a register.
    shown: Vec<Axis>,
    /// Whether a type ends it: what moves a value.
    pub typed: bool,
}

const WORDS: &str = include_str!("grammar/words.txt");

fn lines() -> impl Iterator<Item = &'static str> {
    WORDS.lines().filter(|line| !line.is_empty() && !line.starts_with('#'))
}

/// The choices of a line. One that begins with neither a dot nor a comma has a blank before it, but for the first place.
fn axis(line: &'static str, is_first: bool) -> Axis {
    let choice = |word: &'static str| match word {
        "-" => "",
        _ if is_first || word.starts_with(['.', ',']) => word,
        _ => format!(" {word}").leak(),
    };
    line.split(" | ").map(choice).collect::<Vec<_>>().leak()
}

/// The classes of types.
static TYPES: LazyLock<Vec<Axis>> =
    LazyLock::new(|| lines().filter_map(|line| line.strip_prefix("type ")).map(|line| axis(line, false)).collect());

/// Every grammar.
pub static GRAMMARS: LazyLock<Vec<Grammar>> = LazyLock::new(|| {
    let mut named: HashMap<&str, Axis> = HashMap::new();
    let mut all: Vec<Grammar> = Vec::new();
    for line in lines().filter(|line| !line.starts_with("type ")) {
        if let Some((name, words)) = line.split_once(" = ") {
            named.insert(name, axis(words, false));
        } else if let Some(name) = line.strip_prefix("grammar: ") {
            let typed = name.strip_suffix(" with types");
            all.push(Grammar {
                name: typed.unwrap_or(name),
                places: Vec::new(),
                shown: Vec::new(),
                typed: typed.is_some(),
            });
        } else if let Some(Grammar { places, shown, .. }) = all.last_mut() {
            let axis = named.get(line).copied().unwrap_or_else(|| axis(line, places.is_empty()));
            places.push(axis);
            shown
                .push(axis.iter().map(|word| &*without_registers(word).into_owned().leak()).collect::<Vec<_>>().leak());
        }
    }
    all
});

impl Grammar {
    /// How many spellings it has, one of each class of types.
    pub fn len(&self) -> usize {
        self.heads() * if self.typed { TYPES.len() } else { 1 }
    }

    /// Whether `ptx!` is how it is written.
    pub fn is_spelled(&self) -> bool {
        ["ld", "st", "ldu", "atom and red", "multimem", "other words"].contains(&self.name)
    }

    /// Whether a slice holds only some of it.
    pub fn is_large(&self) -> bool {
        self.len() > 100_000
    }

    /// Whether some of it is looked at.
    pub fn is_wanted(&self) -> bool {
        let heads: Vec<Axis> = GRAMMARS.iter().map(|grammar| grammar.places[0]).collect();
        only::reaches(self.places[0], &heads)
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn heads(&self) -> usize {
        self.places.iter().map(|axis| axis.len()).product()
    }

    /// The spelling of that number.
    pub fn spelling(&self, number: usize) -> Spelling {
        let mut ptx = self.head(number % self.heads());
        if self.typed {
            let class = TYPES[number / self.heads()];
            // Far apart for neighbours, so that no type always meets the same words.
            ptx += class[(number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40) % class.len()];
        }
        Spelling { ptx, operands: Operands::Plain }
    }

    /// The spelling of that number with each type of its class, and with everything that its operands may say.
    pub fn family(&self, number: usize) -> Vec<Spelling> {
        if !self.typed {
            return vec![self.spelling(number)];
        }
        let head = self.head(number % self.heads());
        let types = TYPES[number / self.heads()].iter();
        types
            .flat_map(|ty| {
                Operands::of(self.name, ty)
                    .map(|operands| Spelling { ptx: format!("{head}{ty}"), operands })
                    .collect::<Vec<_>>()
            })
            .collect()
    }

    /// The number of a spelling that differs from that one in one word, or in its type.
    pub fn neighbour(&self, number: usize, random: &mut impl Rng) -> usize {
        let place = random.random_range(0..self.places.len() + usize::from(self.typed));
        let (weight, choices) = match self.places.get(place) {
            Some(axis) => (self.places[..place].iter().map(|axis| axis.len()).product(), axis.len()),
            None => (self.heads(), TYPES.len()),
        };
        let choice = number / weight % choices;
        number - choice * weight + random.random_range(0..choices) * weight
    }

    /// The number of what the catalogue shows, its type standing for the class, if this grammar spells it.
    pub fn number(&self, told: &str) -> Option<usize> {
        fn rest(places: &[Axis], typed: bool, ptx: &str) -> Option<usize> {
            let Some((axis, others)) = places.split_first() else {
                let class = TYPES.iter().position(|class| class.contains(&ptx));
                return if typed { class } else { ptx.is_empty().then_some(0) };
            };
            axis.iter().enumerate().find_map(|(choice, word)| {
                let left =
                    ptx.strip_prefix(word).filter(|left| left.is_empty() || left.starts_with(['.', ' ', ',']))?;
                Some(choice + axis.len() * rest(others, typed, left)?)
            })
        }
        let is_by_operands = !self.typed && takes_policy_among_operands(told);
        rest(&self.shown, self.typed, if is_by_operands { told.strip_suffix(POLICY)? } else { told })
    }

    fn head(&self, mut number: usize) -> String {
        let mut head = String::with_capacity(80);
        for axis in &self.places {
            head += axis[number % axis.len()];
            number /= axis.len();
        }
        head
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_product_once() {
        let access = 10 * 5 * 10 * 8 * 2 * 6 * 4 * 2 * 4;
        let lengths: Vec<usize> = GRAMMARS.iter().map(Grammar::len).collect();
        assert_eq!(
            lengths,
            [
                6 * access,
                6 * access,
                6 * 9 * 10 * 14,
                2 * 8 * 5 * 8 * 12 * 2 * 2 * 4 * 19,
                3 * 7 * 5 * 5 * 9 * 3 * 4 * 20,
                2 * 10 * 4 * 6 * 2 * 2,
                4 * 3 * 6 * 6 * 4,
                2 * 10 * 7,
                3 * 6,
                3 * 12 * 5 * 3 * 4 * 5,
                4 * 2 * 5 * 5 * 5 * 2 * 10 * 4 * 15,
                2 * 10 * 2 * 13 * 13,
                2 * 3 * 11 * 6 * 4 * 6,
                5 * 10 * 5,
                4 * 4 * 2 * 2 * 5 * 4 * 3,
                3 * 5 * 8 * 5,
                9 * 3 * 3 * 2 * 2 * 5,
                6 * 3 * 2 * 10 * 2 * 13 * 2,
                3 * 3 * 3 * 2,
                5 * 2 * 6 * 2 * 5 * 4,
                5 * 3 * 4 * 3 * 2 * 4 * 2 * 10 * 3,
                4 * 3 * 6 * 2 * 2 * 3 * 2 * 6 * 4 * 2,
                5 * 3 * 10 * 7 * 2 * 2 * 5,
                2 * 4 * 4 * 4 * 4 * 5,
                2 * 3 * 4 * 4 * 4 * 3,
                7 * 3 * 4 * 4 * 4 * 2 * 3,
                2 * 2 * 2 * 2,
                3 * 2 * 2 * 6,
                2 * 8 * 2 * 2 * 9,
                2 * 2 * 8 * 2 * 4 * 9,
                2 * 4 * 5 * 2 * 2,
                4 * 6 * 5,
                2 * 5 * 3 * 3 * 3 * 3,
                7 * 7 * 3 * 5,
                3 * 2 * 2 * 4 * 2,
            ]
        );
        for grammar in GRAMMARS.iter().filter(|grammar| !grammar.is_large() && !grammar.typed) {
            let all: HashSet<_> = (0..grammar.len()).map(|number| grammar.spelling(number)).collect();
            assert_eq!(all.len(), grammar.len());
        }
        let heads: HashSet<_> = (0..access).map(|number| GRAMMARS[0].head(number)).collect();
        assert_eq!(heads.len(), access);
        assert_eq!(TYPES.iter().flat_map(|class| class.iter()).collect::<HashSet<_>>().len(), 4 * 15);
    }

    #[test]
    fn numbers_are_found_again() {
        for grammar in GRAMMARS.iter() {
            for number in (0..grammar.len()).step_by(grammar.len().div_ceil(500)) {
                let told = grammar.spelling(number).full_ptx();
                let found = grammar.number(&told).unwrap_or_else(|| panic!("{}: no {told}", grammar.name));
                // Registers are told alike.
                assert!(found == number || !grammar.typed && grammar.spelling(found).full_ptx() == told, "{told}");
            }
        }
        assert_eq!(GRAMMARS[0].number("ld.global.nc.L2::1024B.f32"), None);
    }

    #[test]
    fn each_class_is_met_whole() {
        let access = GRAMMARS[0].heads();
        for (at, class) in TYPES.iter().enumerate() {
            // 2 heads that differ in their space only meet several types.
            let met: HashSet<_> = (0..100 * class.len())
                .map(|number| GRAMMARS[0].spelling(at * access + number * 50).ptx)
                .filter_map(|ptx| class.iter().find(|ty| ptx.ends_with(*ty)).copied())
                .collect();
            assert_eq!(met.len(), class.len(), "class {at}");
        }
    }
}
