//! Tensor maps as CuTe DSL 4.8.1 has written them, for `make_tiled_tma_atom` with these tensors, tiles and swizzles.

use alloc::string::String;
use alloc::vec::Vec;

use super::given::Given;
use super::map::{BYTES, TensorMap};
use super::refused::Refused;
use super::replace::Field;

/// The elements, the first 64 bytes, and what was asked for: the address, the driver's number of the elements, sizes, strides in bytes, the
/// tile, the swizzle and what it moves. CuTe puts a dimension last of which the tile has one element.
type Row = (&'static str, &'static str, u64, u32, [u64; 5], [u64; 4], [u32; 5], u32, u32);

#[rustfmt::skip]
const WRITTEN: [Row; 20] = [
    ("f16", "0000e16acd7b0000120304002000000000000000000000000000000000000000ff0000003f0000000000000000000000000000000000003f0f00000000000000",
        0x7bcd6ae10000, 6, [256, 64, 0, 0, 0], [512, 0, 0, 0], [64, 16, 0, 0, 0], 0, 0),
    ("f16", "0000011ff87b0000122304002000000000000000000000000000000000000000ff0000003f0000000000000000000000000000000000000f0f00000000000000",
        0x7bf81f010000, 6, [256, 64, 0, 0, 0], [512, 0, 0, 0], [16, 16, 0, 0, 0], 1, 0),
    ("f16", "0000a159857b0000124304002000000000000000000000000000000000000000ff0000003f0000000000000000000000000000000000001f0f00000000000000",
        0x7b8559a10000, 6, [256, 64, 0, 0, 0], [512, 0, 0, 0], [32, 16, 0, 0, 0], 2, 0),
    ("f16", "0000a176f37b0000126304002000000000000000000000000000000000000000ff0000003f0000000000000000000000000000000000003f0f00000000000000",
        0x7bf376a10000, 6, [256, 64, 0, 0, 0], [512, 0, 0, 0], [64, 16, 0, 0, 0], 3, 0),
    ("bf16", "000041b2557b0000126504002000000000000000000000000000000000000000ff0000003f0000000000000000000000000000000000003f0700000000000000",
        0x7b55b2410000, 9, [256, 64, 0, 0, 0], [512, 0, 0, 0], [64, 8, 0, 0, 0], 3, 0),
    ("f32", "00006195527b0000926304004000000000000000000000000000000000000000ff0000003f0000000000000000000000000000000000001f0700000000000000",
        0x7b5295610000, 7, [256, 64, 0, 0, 0], [1024, 0, 0, 0], [32, 8, 0, 0, 0], 3, 0),
    ("f32 as tf32", "000001f8627b0000926305004000000000000000000000000000000000000000ff0000003f0000000000000000000000000000000000001f0700000000000000",
        0x7b62f8010000, 11, [256, 64, 0, 0, 0], [1024, 0, 0, 0], [32, 8, 0, 0, 0], 3, 0),
    ("f64", "00004142777b0000926424008000000000000000000000000000000000000000ff0000003f0000000000000000000000000000000000000f0700000000000000",
        0x7b7742410000, 8, [256, 64, 0, 0, 0], [2048, 0, 0, 0], [16, 8, 0, 0, 0], 3, 0),
    ("u8", "0000e136f17b0000126004001000000000000000000000000000000000000000ff0000003f0000000000000000000000000000000000007f0700000000000000",
        0x7bf136e10000, 0, [256, 64, 0, 0, 0], [256, 0, 0, 0], [128, 8, 0, 0, 0], 3, 0),
    ("s32", "0000a1afce7b0000120104004000000000000000000000000000000000000000ff0000003f0000000000000000000000000000000000001f0700000000000000",
        0x7bceafa10000, 2, [256, 64, 0, 0, 0], [1024, 0, 0, 0], [32, 8, 0, 0, 0], 0, 0),
    ("s64", "000061fe447b0000120224008000000000000000000000000000000000000000ff0000003f0000000000000000000000000000000000000f0700000000000000",
        0x7b44fe610000, 4, [256, 64, 0, 0, 0], [2048, 0, 0, 0], [16, 8, 0, 0, 0], 0, 0),
    ("s16", "0000a1c2427b0000920004002000000000000000000000000000000000000000ff0000003f0000000000000000000000000000000000000f0700000000000000",
        0x7b42c2a10000, 1, [256, 64, 0, 0, 0], [512, 0, 0, 0], [16, 8, 0, 0, 0], 0, 0),
    ("f16", "00004108537b0000120304002200000000000000000000000000000000000000070100006300000000000000000000000000000000000007c700000000000000",
        0x7b5308410000, 6, [264, 100, 0, 0, 0], [544, 0, 0, 0], [8, 200, 0, 0, 0], 0, 0),
    ("f16", "0000816b3d7b0000120304002100000000000000000000000000000000000000ff000000270000000000000000000000000000000000003f0700000000000000",
        0x7b3d6b810000, 6, [256, 40, 0, 0, 0], [528, 0, 0, 0], [64, 8, 0, 0, 0], 0, 0),
    ("f16", "0000214be57b00004203240010000000800300000015000080000000000000003f000000070000000500000004000000060000000000003f0302010000000000",
        0x7be54b210000, 6, [64, 8, 6, 5, 7], [256, 14336, 86016, 2048], [64, 4, 3, 2, 1], 0, 0),
    ("f16", "0000e1f27a7b00002263040010000000800000000000000000000000000000003f000000070000000600000000000000000000000000003f0302000000000000",
        0x7b7af2e10000, 6, [64, 8, 7, 0, 0], [256, 2048, 0, 0], [64, 4, 3, 0, 0], 3, 0),
    ("f16", "0000614b817b0000120324008000000000000000000000000000000000000000ff0300007f0000000000000000000000000000000000003f0700000000000000",
        0x7b814b610000, 6, [1024, 128, 0, 0, 0], [2048, 0, 0, 0], [64, 8, 0, 0, 0], 0, 0),
    ("u8", "0000214c437b00001200240017110000000000000000000000000000000000006f1101002b010000000000000000000000000000000000ff0000000000000000",
        0x7b434c210000, 0, [70000, 300, 0, 0, 0], [70000, 0, 0, 0], [256, 1, 0, 0, 0], 0, 0),
    ("f16", "00000193f47b000012630c0008000000000000000000000000000000000000003f0000003f0000000000000000000000000000000000003f0f00000000000000",
        0x7bf493010000, 6, [64, 64, 0, 0, 0], [128, 0, 0, 0], [64, 16, 0, 0, 0], 3, 1),
    ("f16", "00004138fe7a0000020304000000000000000000000000000000000000000000ff010000000000000000000000000000000000000000007f0000000000000000",
        0x7afe38410000, 6, [512, 0, 0, 0, 0], [0, 0, 0, 0], [128, 0, 0, 0, 0], 0, 0),
];

/// The bytes behind the first 64 are whatever was on the stack.
fn bytes(text: &str) -> [u8; BYTES] {
    let digit = |at: usize| u8::from_str_radix(&text[2 * at..2 * at + 2], 16).expect("digits");
    core::array::from_fn(|at| if at < BYTES / 2 { digit(at) } else { 0xa5 ^ at as u8 })
}

fn given(row: &Row) -> Given {
    Given::new(&bytes(row.1)).expect("128 bytes")
}

fn asked(row: &Row) -> TensorMap {
    let &(_, _, address, element, sizes, strides, tile, swizzle, atom) = row;
    let rank = sizes.iter().filter(|size| **size > 0).count();
    let steps = core::array::from_fn(|at| u32::from(at < rank));
    TensorMap {
        rank: rank as u32,
        element,
        address,
        sizes,
        strides,
        tile,
        steps,
        swizzle,
        atom,
        ..TensorMap::default()
    }
}

#[test]
fn what_was_asked_for_is_read() {
    for row in &WRITTEN {
        assert_eq!(given(row).described().ok(), Some(asked(row)), "{row:?}");
    }
}

#[test]
fn a_field_is_replaced_in_its_place() {
    for row in &WRITTEN {
        let map = asked(row);
        let after = |field, place, value| {
            let new = given(row).replaced(field, place, value).expect("it is known").expect("there is such a place");
            Given::new(&new).expect("128 bytes").described().expect("it is a map")
        };
        let address = 0x7f12_3456_7890 & !15;
        assert_eq!(after(Field::GlobalAddress, 0, address), TensorMap { address, ..map }, "{row:?}");
        let mut sizes = map.sizes;
        sizes[0] = 1000;
        assert_eq!(after(Field::GlobalDim, 0, 1000), TensorMap { sizes, ..map }, "{row:?}");
        if map.rank > 1 {
            let mut strides = map.strides;
            strides[0] = (1 << 39) + 48;
            assert_eq!(after(Field::GlobalStride, 0, strides[0]), TensorMap { strides, ..map }, "{row:?}");
        }
    }
}

#[test]
fn what_is_not_known_is_refused() {
    let with = |at: usize, bits: u8| {
        let mut changed = bytes(WRITTEN[0].1);
        changed[at] |= bits;
        match Given::new(&changed).expect("128 bytes").described() {
            Err(Refused::Unknown(why)) => why,
            other => panic!("byte {at}: {other:?}"),
        }
    };
    let all: Vec<String> =
        [(8, 1), (10, 2), (30, 1), (52, 4), (60, 8)].into_iter().map(|(at, bits)| with(at, bits)).collect();
    let begin = "a tensor map of the hardware's format, with";
    for (why, part) in
        all.iter().zip(["columns of an image", "flags", "bytes from 30", "bytes from 30", "bytes from 30"])
    {
        assert!(why.starts_with(begin) && why.contains(part), "{why}");
    }
    let none = Given::new(&[0; BYTES]).expect("128 bytes").described();
    assert!(matches!(none, Err(Refused::Wrong(_))), "{none:?}");
}
