//! A prefix sum in one pass, `out[i] = in[0] + … + in[i]`: a block publishes the sum of its tile as soon as it has it,
//! and looks back at those of the tiles before, while their blocks still work.

use core::sync::atomic::{AtomicU32, Ordering};

use ptx_intrinsics::prelude::*;
use ptx_kernel::*;

/// Threads in a block: [`GROUPS`] groups of as many threads.
pub const THREADS: usize = GROUPS * GROUPS;

/// Elements in a tile.
pub const TILE: usize = ROWS * THREADS * LANES;

const GROUPS: usize = 16;
const LANES: usize = 4;

/// Vectors of a thread, all in flight at once. A row is a vector of every thread, so that a warp reads whole lines.
const ROWS: usize = 4;

/// How many tiles a block looks back at a time.
const WINDOW: usize = 32;

/// How many vectors one thread has read from shared memory before it goes on: more cost all threads registers.
const AT_ONCE: usize = 4;

/// What is known of a tile: one sector, read by one thread at a time. All zero before a run.
#[repr(C, align(32))]
#[derive(Clone, Copy, Debug, Default)]
pub struct Tile {
    /// [`UNKNOWN`], [`SUM`] or [`PREFIX`].
    state: u32,
    /// The sum of its elements. Valid once the state is [`SUM`].
    sum: u32,
    /// The sum of its elements and of all before. Valid once the state is [`PREFIX`].
    prefix: u32,
}

/// Nothing is known of the tile yet.
pub const UNKNOWN: u32 = 0;
/// The sum of its elements is known.
pub const SUM: u32 = 1;
/// The sum of its elements and of all before is known.
pub const PREFIX: u32 = 2;

/// Each element is read once and whole: it need not enter L1, and L2 may fetch its neighbour.
const INPUT: LdGlobalNc<NoAllocate, Prefetch256> = ld_global_nc();

/// The last vector of the input may be a part of one.
const ELEMENT: LdGlobalNc<NoHint, NoPrefetch> = ld_global_nc();

/// What is read after it was written before the state was.
const STATE: Ld<Global, Acquire<Gpu>> = ld_global::<NoHint, NoPrefetch>().acquire();

/// What was written before it is read after it.
const PUBLISH: St<Global, Release<Gpu>> = st_global::<NoHint>().release();

shared! {
    /// Each thread's sums, a lane for each row; then the sums before it in its group.
    fn of_threads() -> [V4<u32>; THREADS];
    /// Each group's sums; then the sums before it.
    fn of_groups() -> [V4<u32>; GROUPS];
    /// The sums of the rows.
    fn of_rows() -> V4<u32>;
    /// The states and sums of the tiles looked at.
    fn window() -> [V2<u32>; WINDOW];
    /// The tile's number.
    fn this_tile() -> u32;
    /// The sum of all tiles looked at.
    fn looked_at() -> u32;
    /// The state of the last of them that counts.
    fn last_state() -> u32;
}

kernel! {
    /// Writes the sums of the first 1 to `n` elements, wrapping around. A block takes one tile after the other: a tile
    /// is taken only after all before it are, so whoever a block waits for is at work.
    ///
    /// # Safety
    /// `out` is valid for writes and `input` for reads of `n` elements, both aligned to 16 bytes. `tiles` is valid for
    /// [`Tile`]s of `n / TILE`, rounded up, and `next` for one number; all of it is zero. Nobody else touches any of
    /// them while the grid runs. A block has [`THREADS`] threads.
    pub unsafe fn scan(out: *mut u32, input: *const u32, n: usize, tiles: *mut Tile, next: *mut u32) {
        let me = thread_idx_x();
        // SAFETY: shared memory is the block's own, and a barrier is between a write and a read of another thread;
        // elements are touched below n, tiles below their number.
        unsafe {
            loop {
                if me == 0 {
                    this_tile().write(AtomicU32::from_ptr(next).fetch_add(1, Ordering::Relaxed));
                }
                sync_threads();
                let tile = this_tile().read() as usize;
                if tile * TILE >= n {
                    return;
                }
                let first = tile * TILE + me as usize * LANES;
                let rows = read_rows(input, first, n);
                scan_block(me, V4::new(rows.map(sum)));
                if me == 0 {
                    let all = before_each(of_groups().cast(), block_dim_x() / GROUPS as u32);
                    of_rows().write(all);
                    publish(tiles.add(tile), SUM, sum(all));
                }
                let mut before = look_back(me, tiles, tile);
                let (places, groups) = (of_threads().cast::<V4<u32>>(), of_groups().cast::<V4<u32>>());
                let in_row = add(places.add(me).read(), groups.add(me / GROUPS as u32).read());
                let row = of_rows().read();
                for k in 0..ROWS {
                    let start = before.wrapping_add(in_row.0[k]);
                    write_row(out, first + k * THREADS * LANES, n, rows[k], start);
                    before = before.wrapping_add(row.0[k]);
                }
            }
        }
    }
}

/// A thread's vectors; zero after the end.
///
/// # Safety
/// As for [`scan`].
#[inline(always)]
unsafe fn read_rows(input: *const u32, first: usize, n: usize) -> [V4<u32>; ROWS] {
    let at = |k: usize| first + k * THREADS * LANES;
    // SAFETY: a vector is touched where all of it lies below n, an element where it does.
    unsafe {
        let mut rows: [V4<u32>; ROWS] = core::array::from_fn(|k| {
            INPUT.read_if(at(k) + LANES <= n, input.wrapping_add(at(k)).cast(), V4::new([0; LANES]))
        });
        for k in 0..ROWS {
            if at(k) < n && at(k) + LANES > n {
                rows[k] = V4::new(core::array::from_fn(|lane| {
                    ELEMENT.read_if(at(k) + lane < n, input.wrapping_add(at(k) + lane), 0)
                }));
            }
        }
        rows
    }
}

/// Writes the sums of a vector that begins after `before`.
///
/// # Safety
/// As for [`scan`].
#[inline(always)]
unsafe fn write_row(out: *mut u32, at: usize, n: usize, row: V4<u32>, before: u32) {
    let [a, b, c, d] = row.0;
    let a = before.wrapping_add(a);
    let b = a.wrapping_add(b);
    let c = b.wrapping_add(c);
    let sums = V4::new([a, b, c, c.wrapping_add(d)]);
    // SAFETY: a vector is touched where all of it lies below n, an element where it does.
    unsafe {
        st_global::<Cs>().write_if(at + LANES <= n, out.wrapping_add(at).cast(), sums);
        if at < n && at + LANES > n {
            for lane in 0..LANES {
                st_global::<NoHint>().write_if(at + lane < n, out.wrapping_add(at + lane), sums.0[lane]);
            }
        }
    }
}

/// Puts the sums of the threads before it in the place of each thread's, as far as its group goes, and each group's
/// sums in the group's.
///
/// # Safety
/// All threads of the block come here, each with its own number.
#[inline(always)]
unsafe fn scan_block(me: u32, mine: V4<u32>) {
    const EACH: u32 = GROUPS as u32;
    // SAFETY: a thread writes its own number's places, its group's first those of the group, after a barrier.
    unsafe {
        let place = of_threads().cast::<V4<u32>>().add(me);
        place.write(mine);
        sync_threads();
        if me.is_multiple_of(EACH) {
            of_groups().cast::<V4<u32>>().add(me / EACH).write(before_each(place, block_dim_x() / EACH));
        }
        sync_threads();
    }
}

/// Puts the sum of those before it in the place of each of `count` vectors, and gives the sum of all. The count is not
/// known to the compiler, which would unroll the loop and keep every address in registers of all threads.
///
/// # Safety
/// There are so many, a multiple of [`AT_ONCE`], and nobody else touches them meanwhile.
#[inline(always)]
unsafe fn before_each(places: SharedPtr<V4<u32>>, count: u32) -> V4<u32> {
    let mut before = V4::new([0; LANES]);
    let mut first = 0;
    while first < count {
        // SAFETY: there are so many.
        unsafe {
            let places = places.add(first);
            let values: [V4<u32>; AT_ONCE] = core::array::from_fn(|at| places.add(at as u32).read());
            for at in 0..AT_ONCE {
                places.add(at as u32).write(before);
                before = add(before, values[at]);
            }
        }
        first += AT_ONCE as u32;
    }
    before
}

/// Says what the sum of a tile is, or of it and all before: first the value, then that it is there.
///
/// # Safety
/// `tile` is writable, and only this thread writes to it.
#[inline(always)]
unsafe fn publish(tile: *mut Tile, state: u32, value: u32) {
    // SAFETY: nobody reads a value before the state says that it is there.
    unsafe {
        let place = if state == SUM { &raw mut (*tile).sum } else { &raw mut (*tile).prefix };
        st_global::<NoHint>().write(place, value);
        // On the CPU others look now: they would see it if the state came first.
        pause();
        PUBLISH.write(&raw mut (*tile).state, state);
    }
}

/// The sum of all tiles before `tile`: of the nearest whose prefix is known, and of those between. Says what the prefix
/// of this one is as soon as that is known.
///
/// # Safety
/// All threads of the block come here, each with its own number; the tiles before are taken.
#[inline(always)]
unsafe fn look_back(me: u32, tiles: *mut Tile, tile: usize) -> u32 {
    let (mut end, mut before) = (tile, 0u32);
    loop {
        // SAFETY: as this function says; barriers part the writes to shared memory from the reads.
        unsafe {
            let (window, me) = (window().cast::<V2<u32>>(), me as usize);
            if me < WINDOW {
                let seen = if me < end { wait_for(tiles.add(end - 1 - me)) } else { [PREFIX, 0] };
                window.add(me as u32).write(V2::new(seen));
            }
            sync_threads();
            if me == 0 {
                let (state, sum_of_window) = fold(window);
                last_state().write(state);
                looked_at().write(before.wrapping_add(sum_of_window));
                if state == PREFIX {
                    let own = sum(of_rows().read());
                    publish(tiles.add(tile), PREFIX, before.wrapping_add(sum_of_window).wrapping_add(own));
                }
            }
            sync_threads();
            before = looked_at().read();
            if last_state().read() == PREFIX {
                return before;
            }
        }
        end -= WINDOW;
    }
}

/// The sum of the tiles in the window up to the nearest whose prefix is known, and whether there is one.
///
/// # Safety
/// The window is written, and nobody writes to it meanwhile.
#[inline(always)]
unsafe fn fold(window: SharedPtr<V2<u32>>) -> (u32, u32) {
    let (mut nearest, mut before, mut first) = (SUM, 0u32, 0);
    while first < WINDOW as u32 && nearest != PREFIX {
        // SAFETY: by this function's contract.
        let seen: [V2<u32>; AT_ONCE] = core::array::from_fn(|at| unsafe { window.add(first + at as u32).read() });
        for at in 0..AT_ONCE {
            let [state, value] = seen[at].0;
            before = before.wrapping_add(if nearest == PREFIX { 0 } else { value });
            nearest = if nearest == PREFIX { PREFIX } else { state };
        }
        first += AT_ONCE as u32;
    }
    (nearest, before)
}

/// What is known of a tile, as soon as anything is.
///
/// # Safety
/// The tile is readable, and taken.
#[inline(always)]
unsafe fn wait_for(tile: *const Tile) -> [u32; 2] {
    loop {
        // SAFETY: a value is read after the state that says that it is there, and not written again.
        unsafe {
            let state = STATE.read(&raw const (*tile).state);
            if state != UNKNOWN {
                let place = if state == SUM { &raw const (*tile).sum } else { &raw const (*tile).prefix };
                return [state, ld_global::<NoHint, NoPrefetch>().read(place)];
            }
        }
        pause();
    }
}

#[inline(always)]
fn sum(row: V4<u32>) -> u32 {
    let [a, b, c, d] = row.0;
    a.wrapping_add(b).wrapping_add(c.wrapping_add(d))
}

#[inline(always)]
fn add(a: V4<u32>, b: V4<u32>) -> V4<u32> {
    V4::new(core::array::from_fn(|lane| a.0[lane].wrapping_add(b.0[lane])))
}
