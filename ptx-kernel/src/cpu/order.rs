//! In which order the threads of a block take their turns.

/// In which order the threads of a block take their turns, each from one wait to the next.
///
/// No order is right or wrong: a GPU has none. A kernel in which a thread reads what another writes, without a barrier between,
/// gives the right result in some orders and not in others. In ascending order a thread that reads what one of a lower number
/// wrote finds it, with a barrier or without; in descending order it does not. Seeded orders are different in each turn. So run a
/// kernel in several orders: what each gives has to be the same.
///
/// ```
/// use ptx_kernel::cpu::{Launch, Order};
/// use ptx_kernel::*;
///
/// shared! { fn values() -> [u32; 64]; }
///
/// kernel! {
///     /// Each thread takes the value of the one before. It lacks a barrier.
///     ///
///     /// # Safety
///     /// `out` points at 64 elements; the launch is one block of 64 threads.
///     pub unsafe fn shift(out: *mut u32) {
///         let (values, me) = (values().cast::<u32>(), thread_idx_x());
///         // SAFETY: a place for each thread.
///         unsafe {
///             values.add(me).write(me);
///             if me > 0 {
///                 *out.add(me as usize) = values.add(me - 1).read();
///             }
///         }
///     }
/// }
///
/// let run = |order| {
///     let mut out = [0; 64];
///     let to = out.as_mut_ptr();
///     // SAFETY: 64 elements, and 64 threads.
///     unsafe { Launch::new(1, 64).order(order).run(|| shift(to)) };
///     out[10]
/// };
/// assert_eq!(run(Order::Ascending), 9);
/// assert_ne!(run(Order::Descending), 9);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// Thread 0 is the first.
    #[default]
    Ascending,
    /// Thread 0 is the last.
    Descending,
    /// Another order in each turn, and in each block; the same ones for the same number.
    Seeded(u64),
}

/// The orders of a block's turns.
pub(super) struct Turns {
    order: Order,
    threads: Vec<usize>,
    random: u64,
}

impl Turns {
    pub(super) fn new(order: Order, threads: u32, block: u32) -> Turns {
        let threads = 0..threads as usize;
        let (threads, random) = match order {
            Order::Ascending => (threads.collect(), 0),
            Order::Descending => (threads.rev().collect(), 0),
            Order::Seeded(seed) => (threads.collect(), seed ^ (u64::from(block) << 32)),
        };
        Turns { order, threads, random }
    }

    /// The numbers of the block's threads, in the order of the next turn.
    pub(super) fn next(&mut self) -> &[usize] {
        if let Order::Seeded(_) = self.order {
            for last in (1..self.threads.len()).rev() {
                let other = (self.number() >> 32) as usize % (last + 1);
                self.threads.swap(last, other);
            }
        }
        &self.threads
    }

    /// SplitMix64.
    fn number(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.random ^ (self.random >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}
