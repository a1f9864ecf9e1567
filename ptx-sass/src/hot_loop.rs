//! Loops in machine code, and which of them is hot.

use std::collections::{BTreeMap, BTreeSet};

use crate::nvdisasm::SassInstruction;

/// The instructions of the hot loop, in order: of those loops that hold at least two fifths of the memory instructions the
/// shortest; if none does, that with the most of them, and of several the longest. All of the code if it has no loop.
pub fn hot_loop(code: &[SassInstruction]) -> Option<Vec<&SassInstruction>> {
    let memory = |body: &BTreeSet<usize>| body.iter().filter(|at| moved(&code[**at]).is_some()).count();
    let all = code.iter().filter(|one| moved(one).is_some()).count();
    let loops = loops(code);
    let main = loops.iter().filter(|body| 5 * memory(body) >= 2 * all).min_by_key(|body| body.len());
    let hot = main.or_else(|| loops.iter().max_by_key(|body| (memory(body), body.len())))?;
    Some(hot.iter().map(|at| &code[*at]).collect())
}

/// The instructions of each loop, in order.
pub fn every_loop(code: &[SassInstruction]) -> Vec<Vec<&SassInstruction>> {
    loops(code).iter().map(|body| body.iter().map(|at| &code[*at]).collect()).collect()
}

/// The bytes that one thread moves by a memory instruction; nothing for other instructions, and for one that is never
/// executed, as ptxas puts before asynchronous copies. Local memory is a detour of what is moved anyway: nothing is moved by it.
pub fn moved(one: &SassInstruction) -> Option<u32> {
    let memory =
        ["LDG", "STG", "LD", "ST", "LDS", "STS", "ATOM", "ATOMG", "ATOMS", "RED", "REDG", "LDGSTS", "LDSM", "STSM"];
    (one.predicate.as_deref() != Some("!PT") && memory.contains(&one.name())).then(|| width(one))
}

/// The bytes of a thread that a memory instruction names.
pub fn width(one: &SassInstruction) -> u32 {
    if matches!(one.name(), "LDSM" | "STSM") {
        // A thread has four bytes of each matrix: `LDSM.16.M88.4`.
        return one
            .opcode
            .rsplit('.')
            .next()
            .and_then(|matrices| matrices.parse().ok())
            .map_or(4, |count: u32| 4 * count);
    }
    let width = one.opcode.split('.').find_map(|word| match word {
        "U8" | "S8" => Some(1),
        "U16" | "S16" => Some(2),
        "64" => Some(8),
        "128" => Some(16),
        "256" => Some(32),
        _ => None,
    });
    width.unwrap_or(4)
}

/// The loops: for each instruction that a branch comes back to, and that every way to that branch passes, all that lies
/// on the way from the one to the other.
fn loops(code: &[SassInstruction]) -> Vec<BTreeSet<usize>> {
    let next = successors(code);
    let mut before = vec![Vec::new(); code.len()];
    for (from, to) in next.iter().enumerate().flat_map(|(from, all)| all.iter().map(move |to| (from, *to))) {
        before[to].push(from);
    }
    let live = reached(0, code.len(), &next);
    let mut loops: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    for (head, back) in (0..code.len()).flat_map(|head| before[head].iter().map(move |from| (head, *from))) {
        if back >= head && live.contains(&back) && !reached(0, head, &next).contains(&back) {
            let body = loops.entry(head).or_insert_with(|| BTreeSet::from([head]));
            body.extend(reached(back, head, &before).intersection(&live));
        }
    }
    loops.into_values().collect()
}

/// What is reached from `start` along `edges` without `barred`.
fn reached(start: usize, barred: usize, edges: &[Vec<usize>]) -> BTreeSet<usize> {
    let (mut seen, mut open) = (BTreeSet::new(), vec![start]);
    while let Some(at) = open.pop() {
        if at != barred && seen.insert(at) {
            open.extend(&edges[at]);
        }
    }
    seen
}

/// For each instruction those that may come next, by their positions.
pub fn successors(code: &[SassInstruction]) -> Vec<Vec<usize>> {
    let index: BTreeMap<u64, usize> = code.iter().enumerate().map(|(at, one)| (one.address, at)).collect();
    let mut meeting: BTreeMap<&str, u64> = BTreeMap::new();
    let mut all = Vec::new();
    for (at, one) in code.iter().enumerate() {
        let name = one.opcode.split('.').next().unwrap_or_default();
        let barrier = one.operands.first().map(String::as_str).unwrap_or_default();
        if name == "BSSY" {
            meeting.extend(one.target.map(|target| (barrier, target)));
        }
        // A uniform branch has its condition among its operands.
        let conditional = one.predicate.is_some() || name == "BRA" && one.operands.len() > 1;
        let (jump, ends) = match name {
            // What diverged threads of a warp do instead of a collective instruction is nobody's hot path.
            "BRA" if one.opcode.contains(".DIV") => (None, false),
            "BRA" => (one.target, true),
            "BSYNC" => (meeting.get(barrier).copied(), true),
            "EXIT" | "RET" => (None, true),
            _ => (None, false),
        };
        let behind = (conditional || !ends).then_some(at + 1).filter(|at| *at < code.len());
        all.push(jump.and_then(|address| index.get(&address).copied()).into_iter().chain(behind).collect());
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nvdisasm::parse;

    /// The hot loop's instructions by their addresses.
    fn hot(body: &str) -> Option<Vec<u64>> {
        let listing = format!("        .type k,@function\nk:\n{body}");
        let code = parse(&listing).remove(0).instructions;
        hot_loop(&code).map(|hot| hot.iter().map(|one| one.address).collect())
    }

    #[test]
    fn a_branch_forward_or_out_makes_no_loop() {
        assert_eq!(hot("/*00*/ @P0 BRA `(.L_0) ;\n/*10*/ LDG.E R0, [R2] ;\n.L_0:\n/*20*/ EXIT ;\n"), None);
    }

    #[test]
    fn the_shortest_loop_with_two_fifths_of_the_accesses_is_hot() {
        let nest = "/*00*/ LDG.E R0, [R2] ;\n.L_0:\n/*10*/ LDG.E R0, [R2] ;\n.L_1:\n/*20*/ LDG.E R0, [R2] ;\n\
                    /*30*/ STG.E [R2], R0 ;\n/*40*/ @P0 BRA `(.L_1) ;\n/*50*/ @P1 BRA `(.L_0) ;\n/*60*/ EXIT ;\n";
        assert_eq!(hot(nest), Some(vec![0x20, 0x30, 0x40]));
        let two_of_five = nest.replace("/*50*/", "/*48*/ LDG.E R0, [R2] ;\n/*50*/");
        assert_eq!(hot(&two_of_five), Some(vec![0x20, 0x30, 0x40]));
        let outer = nest.replace("/*30*/ STG.E [R2], R0", "/*30*/ FADD R0, R0, R0");
        assert_eq!(hot(&outer), Some(vec![0x10, 0x20, 0x30, 0x40, 0x50]));
    }

    #[test]
    fn parted_threads_meet_behind_the_barrier_and_a_cold_way_back_is_of_the_loop() {
        let body = "/*00*/ MOV R0, R1 ;\n.L_0:\n/*10*/ LDG.E.128 R4, [R2] ;\n/*20*/ BSSY B0, `(.L_1) ;\n\
                    /*30*/ @P1 BRA `(.L_2) ;\n/*40*/ FADD R0, R0, R4 ;\n/*50*/ BSYNC B0 ;\n.L_1:\n\
                    /*60*/ BRA.U UP0, `(.L_0) ;\n/*70*/ EXIT ;\n.L_2:\n/*80*/ STG.E [R2], R0 ;\n/*90*/ BSYNC B0 ;\n";
        let expected = vec![0x10, 0x20, 0x30, 0x40, 0x50, 0x60, 0x80, 0x90];
        assert_eq!(hot(body), Some(expected));
    }

    #[test]
    fn what_diverged_threads_do_instead_is_of_no_loop() {
        let body = ".L_0:\n/*00*/ LDG.E R0, [R2] ;\n/*10*/ BRA.DIV UR4, `(.L_1) ;\n/*20*/ SHFL.UP P0, R1, R0, 0x1, RZ ;\n\
                    .L_2:\n/*30*/ @P1 BRA `(.L_0) ;\n/*40*/ EXIT ;\n.L_1:\n/*50*/ WARPSYNC.COLLECTIVE R1, `(.L_3) ;\n\
                    /*60*/ SHFL.UP P0, R1, R0, R3, R4 ;\n.L_3:\n/*70*/ BRA `(.L_2) ;\n";
        assert_eq!(hot(body), Some(vec![0x00, 0x10, 0x20, 0x30]));
    }

    #[test]
    fn an_access_says_how_much_it_moves() {
        let code = "LDG.E.CONSTANT R0, [R2] ;\n/*10*/ LDG.E.EF.ENL2.256 R0, R4, [R2] ;\n/*20*/ STS.U16 [R2], R0 ;\n\
                    /*30*/ FADD R0, R0, R0 ;\n/*40*/ @P0 LDS.64 R0, [R2+0x128] ;\n/*50*/ @!PT LDS RZ, [RZ] ;\n\
                    /*60*/ LDGSTS.E.BYPASS.LTC128B.128 [R5], desc[UR4][R2.64] ;\n/*70*/ LDL.128 R4, [R1] ;\n\
                    /*80*/ STL.64 [R1+0x10], R4 ;\n/*90*/ LDSM.16.M88.4 R4, [R2] ;\n/*a0*/ STSM.16.MT88.2 [R2], R4 ;\n\
                    /*b0*/ LDSM.16.M88 R4, [R2] ;\n/*c0*/ EXIT ;\n";
        let listing = format!("        .type k,@function\nk:\n/*00*/ {code}");
        let bytes: Vec<_> = parse(&listing)[0].instructions.iter().map(moved).collect();
        assert_eq!(
            bytes,
            [Some(4), Some(32), Some(2), None, Some(8), None, Some(16), None, None, Some(16), Some(8), Some(4), None]
        );
    }
}
