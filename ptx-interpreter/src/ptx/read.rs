//! What instructions read and give, and whether somebody reads that.

use std::collections::HashSet;
use std::sync::{Arc, PoisonError};

use crate::machine::Program;
use crate::ptx::text::{self, element, guarded, opcode, operands};

/// The registers of a function that its instructions read, by their names. To move a register is no reading of it, if nobody reads what it is
/// moved to.
pub(crate) type Read = HashSet<String>;

/// Whether an instruction gives a value to its first operand, if that is no address.
pub(crate) fn gives(words: &[&str]) -> bool {
    match words[0] {
        "bra" | "brx" | "call" | "nanosleep" | "stackrestore" | "setmaxnreg" => false,
        "bar" | "barrier" => words.contains(&"red"),
        "tcgen05" => !words.contains(&"dealloc"),
        _ => true,
    }
}

/// Whether it reads its first operand, if that is no address. A product of `wgmma` is added to what is there.
pub(crate) fn reads_first(words: &[&str]) -> bool {
    words[0] == "wgmma" || !gives(words)
}

impl Program {
    /// Whether the function does something with the first operand of an instruction.
    pub(crate) fn uses_result_of(&self, site: u32) -> bool {
        let site = &self.sites[site as usize];
        let read = self.read_in(&site.function);
        let operands = operands(opcode(guarded(&site.text).1).1);
        operands.first().is_some_and(|first| text::words(&whole(first)).any(|name| read.contains(name)))
    }

    fn read_in(&self, function: &str) -> Arc<Read> {
        let mut known = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        let new = || {
            let sites = self.sites.iter().filter(|site| site.function == function);
            Arc::new(read(sites.map(|site| site.text.as_str())))
        };
        known.entry(function.to_owned()).or_insert_with(new).clone()
    }
}

/// An operand. All elements of a vector are one.
fn whole(operand: &str) -> String {
    element(operand).map_or(operand, |(vector, _)| vector).to_owned()
}

fn read<'t>(texts: impl Iterator<Item = &'t str>) -> Read {
    let (mut read, mut moves) = (Read::new(), Vec::new());
    let mut reads = |operand: &str| read.extend(text::words(operand).map(str::to_owned));
    for text in texts {
        let (guard, instruction) = guarded(text);
        guard.into_iter().for_each(&mut reads);
        let (opcode, rest) = opcode(instruction);
        let operands: Vec<String> = operands(rest).iter().map(|operand| whole(operand)).collect();
        let Some((first, others)) = operands.split_first() else { continue };
        let words: Vec<&str> = opcode.split('.').collect();
        match words[0] {
            "mov" => moves.extend(others.iter().map(|from| (first.clone(), from.clone()))),
            _ => {
                let is_read = first.starts_with('[') || reads_first(&words);
                operands.iter().skip(usize::from(!is_read)).for_each(|operand| reads(operand));
            }
        }
    }
    // What is moved mostly is read below.
    loop {
        let before = read.len();
        for (to, from) in moves.iter().rev() {
            if text::words(to).any(|name| read.contains(name)) {
                read.extend(text::words(from).map(str::to_owned));
            }
        }
        if read.len() == before {
            return read;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read() {
        let texts = [
            "atom.global.add.u32 %r1, [%rd1], %r2",
            "atom.global.add.u32 %r3, [%rd1], 1",
            "mov.u32 %r4, %r3",
            "mov.u32 %r5, %r4",
            "mov.b64 %rd2, {%r6, %r7}",
            "@%p1 st.global.u64 [%rd3], %rd2",
            "@!%p2 bra DONE",
        ];
        let read = read(texts.into_iter());
        let are_read = ["%rd1", "%r2", "%r6", "%r7", "%rd2", "%rd3", "%p1", "%p2"];
        assert!(are_read.iter().all(|name| read.contains(*name)), "{read:?}");
        assert!(["%r1", "%r3", "%r4", "%r5"].iter().all(|name| !read.contains(*name)), "{read:?}");
    }
}
