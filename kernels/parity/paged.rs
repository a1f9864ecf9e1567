//! A sequence's rows gathered out of the pages of a cache, as attention keeps keys and values: a table says which page has which
//! tokens.

use ptx_intrinsics::prelude::*;
use ptx_kernel::*;

/// Tokens of a page.
pub const PAGE: u32 = 16;

/// Vectors of a token's row: half a warp moves it.
pub const ROW: u32 = 16;

/// Rows of a thread that are on their way at once.
const UNROLL: usize = 4;

/// A row is read once.
const CACHE: LdGlobalNc<NoAllocate, Prefetch256> = ld_global_nc();

/// An entry of the table serves a whole page.
const TABLE: LdGlobalNc<EvictLast, NoPrefetch> = ld_global_nc();

kernel! {
    /// Copies the rows of `tokens` tokens, as one writes it first: a thread copies a vector at a time.
    ///
    /// # Safety
    /// `out` is valid for writes of the rows of `tokens` tokens, `table` for reads of an entry for each page of them, and every
    /// entry names a page of `cache`. Nobody else touches `out`, and nobody writes to the others while the grid runs.
    pub unsafe fn paged_gather_first(out: *mut V4<u32>, cache: *const V4<u32>, table: *const u32, tokens: u32) {
        let mut i = global_index();
        while i < tokens * ROW {
            let (token, part) = (i / ROW, i % ROW);
            // SAFETY: the token is below `tokens`, and its page as promised.
            unsafe {
                let from = ldg(table.add((token / PAGE) as usize)) * PAGE + token % PAGE;
                *out.add(i as usize) = ldg(cache.add((from * ROW + part) as usize));
            }
            i += global_size();
        }
    }
}

kernel! {
    /// The same: half a warp moves a row, four are on their way, and the table's entries for the next four arrive meanwhile.
    ///
    /// # Safety
    /// As for [`paged_gather_first`]. The grid has a multiple of [`ROW`] threads, a block at most 256, and there are fewer than 2^27
    /// tokens, in the cache too.
    #[launch_bounds(256, 2)]
    pub unsafe fn paged_gather(out: *mut V4<u32>, cache: *const V4<u32>, table: *const u32, tokens: u32) {
        let (part, step) = (global_index() % ROW, global_size() / ROW);
        let (cache, out) = (cache.wrapping_add(part as usize), out.wrapping_add(part as usize));
        let mut token = whole(global_index() / ROW);
        // SAFETY: an entry is read if it is one of the table's.
        let page_of = |token: u32| unsafe { TABLE.read_if(token < tokens, table.wrapping_add((token / PAGE) as usize), 0) };
        let mut next = [0; UNROLL];
        for k in 0..UNROLL {
            next[k] = page_of(token + k as u32 * step);
        }
        while token < tokens {
            let mut from = [0; UNROLL];
            for k in 0..UNROLL {
                from[k] = next[k] * PAGE + (token + k as u32 * step) % PAGE;
            }
            for k in 0..UNROLL {
                next[k] = page_of(token + (UNROLL + k) as u32 * step);
            }
            // SAFETY: the pages are as promised, and there is a page 0 if there is any; a row is written if there is one.
            unsafe {
                let values: [V4<u32>; UNROLL] = core::array::from_fn(|k| CACHE.read(cache.add((from[k] * ROW) as usize)));
                for k in 0..UNROLL {
                    let at = token + k as u32 * step;
                    if at < tokens {
                        st_global::<Cs>().write(out.add((at * ROW) as usize), values[k]);
                    }
                }
            }
            token += UNROLL as u32 * step;
        }
    }
}
