//! What a kernel leaves where loads return older values is compared with what it leaves where they do not: all but what depends on the
//! order of its threads in any case.

use std::convert::Infallible;
use std::ops::Range;
use std::sync::Arc;

use ptx_interpreter::{Again, Finding, Left, Newest, Order, Program, Report, Trial};

/// Orders with older values.
const SEEDS: u64 = 60;

/// Blocks of one thread, with one buffer.
struct Runs {
    program: Program,
    blocks: u32,
}

impl Runs {
    /// `%r1` is the number of a thread, `%d1` the buffer, and `%d2` the word of it with that number.
    fn new(blocks: u32, body: &str) -> Runs {
        let text = format!(
            ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p) {{\n.reg .b64 %d<6>; .reg .b32 %r<9>; \
             .reg .pred %p<4>;\nld.param.u64 %d1, [p]; mov.u32 %r1, %ctaid.x;\nmul.wide.u32 %d2, %r1, 4; add.u64 %d2, %d1, %d2;\n\
             {body}\nret;\n}}\n"
        );
        Runs { program: Program::parse(&text), blocks }
    }
}

impl Again for Runs {
    type Error = Infallible;

    fn run(&mut self, order: &Order<'_>) -> Result<(Report, Left), Infallible> {
        let mut trial = Trial::new(&self.program, "k");
        trial.grid([self.blocks, 1, 1]).block([1, 1, 1]).order(order).buffer(&[0; 128]).expect("a little memory");
        let report = trial.check();
        assert!(report.is_clean(), "{report}");
        Ok((report, Left::of(&[trial.content(0).to_vec()])))
    }

    fn before(&self, _: u64) -> u8 {
        0
    }

    fn piece(&self, _: u64) -> (Arc<str>, Range<u64>) {
        ("the buffer".into(), 0..128)
    }
}

/// What is found, in the order of the seeds.
fn found(blocks: u32, body: &str) -> Vec<Finding> {
    let mut runs = Runs::new(blocks, body);
    let mut newest = Newest::new(0);
    for number in 0..Newest::ORDERS {
        let Ok((report, left)) = runs.run(&Order::newest(0, number));
        newest.add(&report, left, &runs);
    }
    let mut all = Vec::new();
    for seed in 0..SEEDS {
        let order = Order::weak(seed);
        let Ok((report, left)) = runs.run(&order);
        let Ok(found) = newest.judge(&order, (&report, left), &mut runs);
        all.extend(found);
    }
    assert_eq!(newest.why_not(), None);
    all
}

/// Peterson's lock, with a counter in the same buffer. Who comes second is left there as well.
fn peterson(between: &str, before_loads: &str) -> String {
    format!(
        "xor.b32 %r2, %r1, 1; mul.wide.u32 %d3, %r2, 4; add.u64 %d3, %d1, %d3;\nst.relaxed.gpu.global.u32 [%d2], 1;\n{between}\n\
         st.relaxed.gpu.global.u32 [%d1+8], %r2;\n{before_loads}\n\
         SPIN: ld.relaxed.gpu.global.u32 %r3, [%d3]; setp.eq.u32 %p1, %r3, 0; @%p1 bra IN;\n\
         ld.relaxed.gpu.global.u32 %r4, [%d1+8]; setp.eq.u32 %p2, %r4, %r2; @%p2 bra SPIN;\n\
         IN: fence.acq_rel.gpu; ld.relaxed.gpu.global.u32 %r5, [%d1+16]; add.u32 %r5, %r5, 1;\n\
         st.relaxed.gpu.global.u32 [%d1+16], %r5; fence.acq_rel.gpu; st.relaxed.gpu.global.u32 [%d2], 0;"
    )
}

const SC: &str = "fence.sc.gpu;";
const WEAKER: &str = "fence.acq_rel.gpu;";

#[test]
fn a_lock_with_a_word_that_depends_on_the_order_is_compared() {
    assert_eq!(found(2, &peterson(SC, SC)), []);
    for (between, before_loads) in [(SC, ""), (SC, WEAKER), ("", SC)] {
        let all = found(2, &peterson(between, before_loads));
        let notes: Vec<&str> = all.iter().flat_map(|finding| &finding.notes).map(String::as_str).collect();
        let note = "the buffer has 0x1 at byte 16 instead of 0x2, which every order leaves there if loads return the newest values";
        assert!(!notes.is_empty() && notes.iter().all(|one| *one == note), "{between} {before_loads}: {all:#?}");
    }
}

#[test]
fn a_finding_names_what_it_needs_alone() {
    let store_buffering = "xor.b32 %r2, %r1, 1; mul.wide.u32 %d3, %r2, 4; add.u64 %d3, %d1, %d3;\n\
         st.relaxed.gpu.global.u32 [%d2+64], %r1;\nld.relaxed.gpu.global.u32 %r6, [%d3+64];\n\
         st.relaxed.gpu.global.u32 [%d2], 1;\nld.relaxed.gpu.global.u32 %r3, [%d3]; setp.ne.u32 %p1, %r3, 0;\n\
         selp.u32 %r4, 0, 256, %p1; add.u32 %r4, %r4, 1; atom.relaxed.gpu.global.add.u32 %r5, [%d1+16], %r4;\n\
         add.u32 %r5, %r5, %r4; setp.eq.u32 %p2, %r5, 514; @%p2 st.relaxed.gpu.global.u32 [%d1+32], 1;";
    let all = found(2, store_buffering);
    let named = |finding: &Finding| finding.places.iter().map(|place| place.instruction.clone()).collect::<Vec<_>>();
    let one = all
        .iter()
        .find(|finding| named(finding) == ["ld.relaxed.gpu.global.u32 %r3, [%d3]"])
        .expect("one needs that alone");
    assert!(all.iter().all(|finding| finding.needs_what(one)), "{all:#?}");
    let other = Finding { places: vec![], ..one.clone() };
    assert!(!one.needs_what(&other), "what names nothing hides nothing");
}

#[test]
fn what_depends_on_the_order_is_no_finding() {
    const LIST: &str = "atom.relaxed.gpu.global.add.u32 %r2, [%d1], 1; mul.wide.u32 %d3, %r2, 4; add.u64 %d3, %d1, %d3;\n\
                        st.global.u32 [%d3+16], %r1;";
    const TICKET: &str = "atom.relaxed.gpu.global.add.u32 %r2, [%d1+64], 1; st.global.u32 [%d2], %r2;";
    const FIRST: &str = "add.u32 %r2, %r1, 1; atom.relaxed.gpu.global.cas.b32 %r3, [%d1], 0, %r2;";
    const LAST: &str = "st.relaxed.gpu.global.u32 [%d1], %r1;";
    const SUM: &str = "add.u32 %r2, %r1, 1; cvt.rn.f32.u32 %r3, %r2; rcp.rn.f32 %r3, %r3;\n\
                       atom.relaxed.gpu.global.add.f32 %r4, [%d1], %r3;";
    const SEEN: &str = "setp.ne.u32 %p1, %r1, 0; @%p1 bra LOOK; st.relaxed.gpu.global.u32 [%d1+64], 1; bra OVER;\n\
                        LOOK: ld.relaxed.gpu.global.u32 %r2, [%d1+64]; st.global.u32 [%d2], %r2;\nOVER:";
    for body in [LIST, TICKET, FIRST, LAST, SUM, SEEN] {
        assert_eq!(found(3, body), [], "{body}");
    }
}

/// A lock that threads take by exchanges, in a loop. It has so many writes that the first ones are forgotten while exchanges still wait for
/// what they have found.
#[test]
fn a_lock_by_exchanges_lets_in_one_thread_at_a_time() {
    let body = "SPIN: atom.acquire.gpu.global.exch.b32 %r2, [%d1], 1; setp.ne.u32 %p1, %r2, 0; @%p1 bra SPIN;\n\
                ld.global.u32 %r3, [%d1+16]; add.u32 %r3, %r3, 1; st.global.u32 [%d1+16], %r3;\n\
                st.release.gpu.global.u32 [%d1], 0;";
    let mut runs = Runs::new(4, body);
    for seed in 0..400 {
        let Ok((_, left)) = runs.run(&Order::weak(seed));
        assert_eq!(left.at(16), Some(4), "seed {seed}");
    }
}
