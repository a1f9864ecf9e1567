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
