//! Small programs, drawn by a seed.

use std::fmt::Write;

use crate::{Program, parse};

/// A random number generator that always makes the same numbers of a seed: xorshift.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % bound
    }

    /// True once in so many times.
    fn one_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    fn of<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())]
    }
}

/// How likely each location is accessed by strong accesses, in eighths.
type Strength = Vec<usize>;

const LOCATIONS: [&str; 3] = ["x", "y", "z"];

/// The program of a seed, and its text.
pub fn draw(seed: u64) -> (Program, String) {
    draw_on(seed, 1)
}

/// The same, whose blocks are on so many GPUs. Half of what is for one GPU is for the whole system then.
pub fn draw_on(seed: u64, gpus: usize) -> (Program, String) {
    let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    for _ in 0..20 {
        dice.below(2);
    }
    let threads = dice.of(&[2, 2, 2, 3, 3, 4]);
    let ctas: Vec<usize> = (0..threads).map(|_| dice.below(3)).collect();
    let clusters = dice.one_in(4);
    let strength: Strength = (0..dice.of(&[2, 2, 3])).map(|_| dice.of(&[0, 1, 6, 7, 8])).collect();
    // A block with several threads may have a barrier.
    let meets = ctas.iter().copied().find(|cta| ctas.iter().filter(|other| *other == cta).count() > 1);
    let meets = meets.filter(|_| dice.one_in(3));
    let columns: Vec<Vec<String>> = ctas
        .iter()
        .map(|cta| {
            let turns = [4, 4, 4, 3, 2][threads].min(2 + dice.below(3));
            column(&mut dice, turns, &strength, Some(*cta) == meets)
        })
        .collect();
    let mut widened = |cell: &String| {
        let is_wide = gpus > 1 && dice.one_in(2);
        if is_wide { cell.replace(".gpu", ".sys") } else { cell.clone() }
    };
    let columns: Vec<Vec<String>> = columns.iter().map(|column| column.iter().map(&mut widened).collect()).collect();
    let text = table(seed, (&ctas, gpus), clusters, &columns);
    let program = parse(&text).unwrap_or_else(|unread| panic!("{unread}\n{text}"));
    (program, text)
}

fn table(seed: u64, (ctas, gpus): (&[usize], usize), clusters: bool, columns: &[Vec<String>]) -> String {
    let mut text = format!("PTX drawn-{seed}\n{{ x=0; y=0; z=0; }}\n");
    let places = ctas.iter().enumerate().map(|(number, cta)| {
        let cluster = if clusters { format!(",cluster {}", cta / 2) } else { String::new() };
        format!(" P{number}@cta {cta}{cluster},gpu {}", cta % gpus)
    });
    writeln!(text, "{} ;", places.collect::<Vec<_>>().join(" |")).expect("a string takes all");
    for row in 0..columns.iter().map(Vec::len).max().unwrap_or_default() {
        let cells = columns.iter().map(|column| column.get(row).map_or("", String::as_str));
        writeln!(text, " {} ;", cells.collect::<Vec<_>>().join(" | ")).expect("a string takes all");
    }
    text + "exists (x == 0)\n"
}

/// What a thread does in so many turns that others can see.
fn column(dice: &mut Dice, turns: usize, strength: &Strength, meets: bool) -> Vec<String> {
    let mut column: Vec<String> = Vec::new();
    let meeting = if meets { dice.below(turns) } else { turns };
    let (mut read, mut guarded) = (0, false);
    for turn in 0..turns {
        if turn == meeting {
            column.push("bar.cta.sync 0".to_owned());
            continue;
        }
        if dice.one_in(6) {
            let order = dice.of(&["acq_rel", "acq_rel", "acq_rel", "acquire", "release"]);
            column.push(format!("fence.{order}.{}", scope(dice)));
        }
        if dice.one_in(8) {
            column.push(format!("fence.sc.{}", scope(dice)));
            continue;
        }
        let (instruction, reads) = access(dice, strength, read);
        column.push(instruction);
        read += usize::from(reads);
        // The rest is done only if that was read.
        if reads && !meets && turn + 1 < turns && dice.one_in(2) {
            column.push(format!("bne r{}, {}, END", read - 1, dice.of(&[0, 1, 1, 2])));
            guarded = true;
        }
    }
    if guarded {
        column.push("END:".to_owned());
    }
    column
}

fn scope(dice: &mut Dice) -> &'static str {
    dice.of(&["cta", "cta", "cluster", "gpu", "gpu", "gpu", "sys"])
}

/// An access, and whether it reads into the next register.
fn access(dice: &mut Dice, strength: &Strength, register: usize) -> (String, bool) {
    let number = dice.below(strength.len());
    let (at, strong) = (LOCATIONS[number], dice.below(8) < strength[number]);
    let value = 1 + dice.below(2);
    if strong && dice.one_in(4) {
        let (order, scope) = (dice.of(&["relaxed", "relaxed", "acquire", "release", "acq_rel"]), scope(dice));
        return match dice.below(3) {
            0 => (format!("atom.{order}.{scope}.exch r{register}, {at}, {value}"), true),
            1 => (format!("atom.{order}.{scope}.add r{register}, {at}, 1"), true),
            _ => (format!("atom.{order}.{scope}.cas r{register}, {at}, {}, {value}", dice.below(2)), true),
        };
    }
    let reads = dice.one_in(2);
    let words = match strong {
        false => "weak".to_owned(),
        true if dice.one_in(8) => "volatile".to_owned(),
        true => {
            let order = if dice.one_in(3) {
                "relaxed"
            } else if reads {
                "acquire"
            } else {
                "release"
            };
            format!("{order}.{}", scope(dice))
        }
    };
    match reads {
        true => (format!("ld.{words} r{register}, {at}"), true),
        false => (format!("st.{words} {at}, {value}"), false),
    }
}
