//! `ldmatrix`, `mma.sync` and `stmatrix` on a CPU: a product of two matrices in shared memory.

use half::bf16;
use ptx_kernel::matrix::*;
use ptx_kernel::*;

const ROWS: u32 = 16;
const COLUMNS: u32 = 8;
const DEPTH: u32 = 16;

shared! {
    fn in_a() -> [u16; (ROWS * DEPTH) as usize];
    fn in_b() -> [u16; (DEPTH * COLUMNS) as usize];
    fn in_d() -> [u16; (ROWS * COLUMNS) as usize];
}

kernel! {
    /// `d = a * b + 1`, all of them row by row.
    ///
    /// # Safety
    /// One warp, and the matrices are of the sizes above.
    #[launch_bounds(32)]
    pub unsafe fn product(a: *const u16, b: *const u16, d: *mut u16) {
        let lane = lane_id();
        // SAFETY: the caller's promise. Each row has 16 bytes, or twice as many.
        unsafe {
            let (own_a, own_b, own_d) = (in_a().cast::<u16>(), in_b().cast::<u16>(), in_d().cast::<u16>());
            for i in (lane..ROWS * DEPTH).step_by(32) {
                own_a.add(i).write(a.add(i as usize).read());
            }
            for i in (lane..DEPTH * COLUMNS).step_by(32) {
                own_b.add(i).write(b.add(i as usize).read());
            }
            sync_warp();
            // The first two matrices are the left half of A, and the others the right one.
            let row = own_a.add(lane % 16 * DEPTH + lane / 16 * 8);
            let left: [Bf16x2; 4] = ldmatrix_m8n8_x4(row.cast());
            // B has its rows in memory, and a lane needs parts of its columns.
            let right: [Bf16x2; 2] = ldmatrix_m8n8_x2_trans(own_b.add(lane % 16 * COLUMNS).cast());
            let [c0, c1, c2, c3] = mma_m16n8k16_f32_bf16(left, right, [1.0; 4]);
            let packed = [[c0, c1], [c2, c3]].map(|pair| Bf16x2(pack_bf16x2(pair)));
            stmatrix_m8n8_x2(own_d.add(lane % 16 * COLUMNS).cast(), packed);
            sync_warp();
            for i in (lane..ROWS * COLUMNS).step_by(32) {
                d.add(i as usize).write(own_d.add(i).read());
            }
        }
    }
}

fn small(i: u32) -> f32 {
    (i * 5 % 11) as f32 - 5.0
}

#[test]
fn a_product_in_shared_memory_is_right() {
    let bits =
        |count: u32, of: fn(u32) -> f32| -> Vec<u16> { (0..count).map(|i| bf16::from_f32(of(i)).to_bits()).collect() };
    let (a, b) = (bits(ROWS * DEPTH, small), bits(DEPTH * COLUMNS, |i| small(i + i / 8)));
    let mut d = vec![0; (ROWS * COLUMNS) as usize];
    let (from_a, from_b, to) = (a.as_ptr(), b.as_ptr(), d.as_mut_ptr());
    // SAFETY: as the kernel says.
    unsafe { cpu::Launch::new(1, 32).run(|| product(from_a, from_b, to)) };
    for (i, found) in (0..).zip(d) {
        let (row, column) = (i / COLUMNS, i % COLUMNS);
        let number = |bits: u16| bf16::from_bits(bits).to_f32();
        let pairs =
            (0..DEPTH).map(|k| number(a[(row * DEPTH + k) as usize]) * number(b[(k * COLUMNS + column) as usize]));
        let expected = bf16::from_f32(1.0 + pairs.sum::<f32>());
        assert_eq!(bf16::from_bits(found), expected, "row {row}, column {column}");
    }
}

shared! {
    fn in_rows() -> [u32; 128];
}

/// Number `column` of row `row`, of so many bits.
fn number(row: usize, column: usize, bits: u32) -> u8 {
    ((row * 37 + column * 11) % (1 << bits)) as u8
}

/// What the lanes of a warp have of 32 rows of 16 numbers.
fn loaded(bits: u32, load: impl Fn(ptx_intrinsics::SharedPtr<[u32; 4]>) -> [u32; 4]) -> Vec<[u32; 4]> {
    let mut all = vec![[0; 4]; 32];
    let to = all.as_mut_ptr();
    // SAFETY: a warp, each of whose lanes has a row and a place of its own.
    unsafe {
        cpu::Launch::new(1, 32).run(|| {
            let lane = lane_id();
            let row = in_rows().cast::<u32>().add(4 * lane);
            let whole = (0..16).fold(0u128, |whole, column| {
                whole | u128::from(number(lane as usize, column, bits)) << (bits as usize * column)
            });
            for word in 0..4 {
                row.add(word).write((whole >> (32 * word)) as u32);
            }
            sync_warp();
            to.add(lane as usize).write(load(row.cast()));
        });
    }
    all
}

#[test]
fn a_lane_has_bytes_of_columns() {
    // SAFETY: whole warps, and all rows are there.
    let sixteen: [(u32, fn(_) -> _); 3] = unsafe {
        [
            (8, |row| ldmatrix_m16n16_x2_trans_b8(row)),
            (6, |row| ldmatrix_m16n16_x2_trans_b8x16_b6x16_p32(row)),
            (4, |row| ldmatrix_m16n16_x2_trans_b8x16_b4x16_p64(row)),
        ]
    };
    for (bits, load) in sixteen {
        for (lane, registers) in loaded(bits, load).into_iter().enumerate() {
            for (register, word) in registers.into_iter().enumerate() {
                let wanted = [0, 1, 2, 3]
                    .map(|at| number(16 * (register / 2) + 4 * (lane % 4) + at, lane / 4 + 8 * (register % 2), bits));
                assert_eq!(word.to_le_bytes(), wanted, "{bits} bits, lane {lane}, register {register}");
            }
        }
    }
    // SAFETY: the same.
    for (lane, registers) in loaded(4, |row| unsafe { ldmatrix_m8n16_x4_b8x16_b4x16_p64(row) }).into_iter().enumerate()
    {
        for (register, word) in registers.into_iter().enumerate() {
            let wanted = [0, 1, 2, 3].map(|at| number(8 * register + lane / 4, 4 * (lane % 4) + at, 4));
            assert_eq!(word.to_le_bytes(), wanted, "lane {lane}, register {register}");
        }
    }
}

#[test]
fn bytes_of_columns_are_stored() {
    let mut all = vec![[0u32; 4]; 32];
    let to = all.as_mut_ptr();
    // SAFETY: a warp, each of whose lanes has a row and a place of its own.
    unsafe {
        cpu::Launch::new(1, 32).run(|| {
            let lane = lane_id();
            let (group, own) = ((lane / 4) as usize, (lane % 4) as usize);
            let row = in_rows().cast::<u32>().add(4 * lane);
            let held = [0, 1, 2, 3].map(|register| {
                let at = |place: usize| number(8 * register + 2 * own + place % 2, group + 8 * (place / 2), 8);
                u32::from_le_bytes([0, 1, 2, 3].map(at))
            });
            stmatrix_m16n8_x4_trans_b8(row.cast(), held);
            sync_warp();
            to.add(lane as usize).write([0, 1, 2, 3].map(|word| row.add(word).read()));
        });
    }
    for (row, words) in all.into_iter().enumerate() {
        let bytes: Vec<u8> = words.into_iter().flat_map(u32::to_le_bytes).collect();
        assert_eq!(bytes, (0..16).map(|column| number(row, column, 8)).collect::<Vec<u8>>(), "row {row}");
    }
}

#[test]
#[should_panic(expected = "`mma_m16n8k8_f32_f16` needs all 32 lanes of the warp, and some have ended")]
fn half_a_warp_cannot_multiply() {
    // SAFETY: it is refused.
    unsafe {
        cpu::Launch::new(1, 16).run(|| {
            mma_m16n8k8_f32_f16([F16x2(0); 2], [F16x2(0)], [0.0; 4]);
        });
    }
}
