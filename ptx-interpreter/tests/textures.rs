//! Textures and surfaces in PTX: fetches whose values were worked out by hand, after the CUDA programming guide.

use std::collections::HashMap;

use ptx_interpreter::{Element, Launch, Number, Objects, Outer, Outside, Program, Resource, Shape, Texture, Why};

/// Each thread fetches at its coordinate.
const FETCH: &str = "
.version 8.0
.target sm_80
.address_size 64
.visible .entry fetch(.param .u64 texture, .param .u64 places, .param .u64 results)
{
    .reg .b64 %d<8>;
    .reg .f32 %f<8>;
    .reg .b32 %r<4>;
    ld.param.u64 %d1, [texture];
    ld.param.u64 %d2, [places];
    ld.param.u64 %d3, [results];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %d4, %r1, 4;
    add.u64 %d2, %d2, %d4;
    add.u64 %d3, %d3, %d4;
    ld.global.f32 %f1, [%d2];
    tex.1d.v4.f32.f32 {%f2, %f3, %f4, %f5}, [%d1, {%f1}];
    st.global.f32 [%d3], %f2;
    ret;
}
";

const FLOAT: Element = Element { number: Number::Float, bytes: 4, channels: 1 };

fn texture(elements: &[f32], outer: Outer) -> Texture {
    let bytes = size_of_val(elements) as u64;
    let resource = Resource {
        begin: elements.as_ptr() as u64,
        shape: Shape::One,
        size: [elements.len() as u32, 1, 1],
        row: bytes,
        plane: bytes,
        element: FLOAT,
    };
    let border = [-1.0; 4];
    let (is_linear, is_normalized, reads_floats, is_srgb) = (false, false, false, false);
    Texture { resource, outer: [outer; 3], is_linear, is_normalized, reads_floats, is_srgb, border }
}

/// What a texture gives at some places.
fn fetched(texture: Texture, places: &[f32]) -> Vec<f32> {
    let program = Program::parse(FETCH);
    let objects = Objects { textures: HashMap::from([(7, texture)]), ..Objects::default() };
    let mut results = vec![0f32; places.len()];
    let arguments = [7, places.as_ptr() as u64, results.as_mut_ptr() as u64];
    let pointers = arguments.each_ref().map(|argument| (&raw const *argument).cast());
    let holds = |_: u64, _: usize| true;
    let outside = Outside { holds: &holds, variable: &|_| None };
    let threads = [places.len() as u32, 1, 1];
    let launch = Launch { threads, objects: Some(&objects), ..Launch::new("fetch", &pointers) };
    // SAFETY: the arguments are three addresses, and what they lead to is there.
    unsafe { program.run(&outside, &launch) }.expect("it ends");
    results
}

const FOUR: [f32; 4] = [10.0, 20.0, 40.0, 80.0];

/// The nearest element is the one that the coordinate is in.
#[test]
fn the_nearest_element() {
    let places = [0.0, 0.99, 1.0, 3.5, -0.01, 4.0, f32::NAN, f32::INFINITY];
    let clamped = fetched(texture(&FOUR, Outer::Clamp), &places);
    assert_eq!(clamped, [10.0, 10.0, 20.0, 80.0, 10.0, 80.0, 10.0, 80.0]);
    let border = fetched(texture(&FOUR, Outer::Border), &places[..6]);
    assert_eq!(border, [10.0, 10.0, 20.0, 80.0, -1.0, -1.0]);
    // Only coordinates from 0 to 1 repeat.
    assert_eq!(fetched(texture(&FOUR, Outer::Wrap), &places), clamped);
    assert_eq!(fetched(texture(&FOUR, Outer::Mirror), &places), clamped);
}

#[test]
fn coordinates_from_0_to_1() {
    let places = [0.0, 0.3, 0.999, 1.1, 1.9, -0.1, -0.6, 2.3];
    let of = |outer| fetched(Texture { is_normalized: true, ..texture(&FOUR, outer) }, &places);
    assert_eq!(of(Outer::Wrap), [10.0, 20.0, 80.0, 10.0, 80.0, 80.0, 20.0, 20.0]);
    assert_eq!(of(Outer::Mirror), [10.0, 20.0, 80.0, 80.0, 10.0, 10.0, 40.0, 20.0]);
    assert_eq!(of(Outer::Clamp), [10.0, 20.0, 80.0, 80.0, 80.0, 10.0, 10.0, 80.0]);
    assert_eq!(of(Outer::Border), [10.0, 20.0, 80.0, -1.0, -1.0, -1.0, -1.0, -1.0]);
}

/// Two elements are weighed by where the coordinate is between their middles, in parts of 1/256.
#[test]
fn two_elements_are_weighed() {
    let linear = |outer| Texture { is_linear: true, ..texture(&FOUR, outer) };
    let places = [0.5, 1.0, 1.25, 2.75, 0.0, 4.0, 1.001, 1.003];
    let clamped = fetched(linear(Outer::Clamp), &places);
    // 0.501 is 128.256 parts, and 0.503 is 128.768.
    assert_eq!(clamped, [10.0, 15.0, 17.5, 50.0, 10.0, 80.0, 15.0, 10.0 + 10.0 * 129.0 / 256.0]);
    let border = fetched(linear(Outer::Border), &[0.0, 4.25]);
    assert_eq!(border, [0.5 * 10.0 - 0.5, 0.25 * 80.0 - 0.75]);
    let normalized = |outer| Texture { is_normalized: true, ..linear(outer) };
    // In the middle between the last and the first, and a quarter before the first.
    assert_eq!(fetched(normalized(Outer::Wrap), &[0.0, 1.0, 0.0625]), [45.0, 45.0, 0.25 * 80.0 + 0.75 * 10.0]);
    assert_eq!(fetched(normalized(Outer::Mirror), &[0.0, 1.0, 1.25]), [10.0, 80.0, 60.0]);
}

/// Whole numbers become numbers from 0 to 1 or from -1 to 1, and colours in sRGB linear ones.
#[test]
fn whole_numbers_become_floats() {
    let bytes = [0u8, 255, 128, 10];
    let with = |number, bytes_of_one| {
        let mut one = texture(&FOUR, Outer::Clamp);
        one.resource.begin = bytes.as_ptr() as u64;
        one.resource.element = Element { number, bytes: bytes_of_one, channels: 1 };
        one.resource.size[0] = (4 / bytes_of_one) as u32;
        Texture { reads_floats: true, ..one }
    };
    let places = [0.5, 1.5, 2.5, 3.5];
    assert_eq!(fetched(with(Number::Unsigned, 1), &places), [0.0, 1.0, 128.0 / 255.0, 10.0 / 255.0]);
    assert_eq!(fetched(with(Number::Signed, 1), &places), [0.0, -1.0 / 127.0, -1.0, 10.0 / 127.0]);
    assert_eq!(fetched(with(Number::Unsigned, 2), &places[..2]), [0xff00 as f32 / 65535.0, 0x0a80 as f32 / 65535.0]);
    assert_eq!(fetched(with(Number::Signed, 2), &places[..2]), [-256.0 / 32767.0, 0x0a80 as f32 / 32767.0]);
    let srgb = fetched(Texture { is_srgb: true, ..with(Number::Unsigned, 1) }, &places);
    assert_eq!(srgb[..2], [0.0, 1.0]);
    assert!((srgb[2] - 0.215_861).abs() < 1e-5 && (srgb[3] - 10.0 / 255.0 / 12.92).abs() < 1e-7, "{srgb:?}");
}

/// Numbers of 16 bits: a normal one, one, the smallest, and infinity.
#[test]
fn halves_become_floats() {
    let halves = [0x4248u16, 0xbc00, 0x0001, 0x7c00];
    let mut one = texture(&FOUR, Outer::Clamp);
    one.resource.begin = halves.as_ptr() as u64;
    one.resource.element = Element { bytes: 2, ..FLOAT };
    assert_eq!(fetched(one, &[0.5, 1.5, 2.5, 3.5]), [3.140625, -1.0, 2f32.powi(-24), f32::INFINITY]);
}

/// A texture that a module declares, a level of detail with an offset, and elements by pairs are not known, and have a name.
#[test]
fn what_is_not_known_has_a_name() {
    for (instruction, gap) in [
        ("tex.1d.v4.f32.f32 {%f2, %f3, %f4, %f5}, [declared, {%f1}];", "tex.1d.v4.f32.f32"),
        ("tex.cube.v4.f32.f32 {%f2, %f3, %f4, %f5}, [%d1, {%f1, %f1, %f1, %f1}];", "tex.cube.v4.f32.f32"),
        ("tex.2dms.v4.f32.s32 {%f2, %f3, %f4, %f5}, [%d1, {%r1, %r1, %r1, %r1}];", "tex.2dms.v4.f32.s32"),
        ("txq.channel_order.b32 %r1, [%d1];", "txq.channel_order.b32"),
        ("sust.p.1d.b32.trap [%d1, {%r1}], {%r1};", "sust.p.1d.b32.trap"),
        ("sured.b.add.1d.u32.trap [%d1, {%r1}], %r1;", "sured.b.add.1d.u32.trap"),
    ] {
        let text = FETCH.replace("tex.1d.v4.f32.f32 {%f2, %f3, %f4, %f5}, [%d1, {%f1}];", instruction);
        let program = Program::parse(&text.replace(".visible", ".global .texref declared;\n.visible"));
        assert_eq!(program.gaps().into_iter().collect::<Vec<_>>(), [gap]);
        let arguments = [0u64, 0, 0];
        let pointers = arguments.each_ref().map(|argument| (&raw const *argument).cast());
        let outside = Outside { holds: &|_, _| false, variable: &|_| None };
        let text = text.replace("ld.global.f32 %f1, [%d2];", "");
        let program = Program::parse(&text.replace(".visible", ".global .texref declared;\n.visible"));
        // SAFETY: nothing is accessed before the instruction that is not known.
        let ended = unsafe { program.run(&outside, &Launch::new("fetch", &pointers)) };
        assert_eq!(ended.expect_err("it is not known").why, Why::Gap, "{instruction}");
    }
}
