//! What rustdoc shows of a marker after its meaning: an example, its PTX and machine code, and the functions that take it.
//!
//! `host-tests/tests/text/search` compares the machine code with `docs/sass`, and the functions with the catalogue.

/// The page of a marker: how it is used, the call, and its PTX without the type. The rest is the row's own: the machine code,
/// the GPU that has it, and the functions that take the marker.
macro_rules! page {
    (load $call:expr, $ptx:expr, $shown:tt) => {
        page! { @example concat!("let x = 1.5f32;\nlet v = unsafe { ", $call, ".read(&x) };\nassert_eq!(v, 1.5);"), concat!($ptx, ".f32"), $shown }
    };
    (wide load $call:expr, $ptx:expr, $shown:tt) => {
        page! { @example concat!("let x = V8::new([1.5f32; 8]);\nlet v = unsafe { ", $call, ".read(&x) };\nassert_eq!(v, x);"), concat!($ptx, ".v8.f32"), $shown }
    };
    // Of what others write meanwhile.
    (atomic load $call:expr, $ptx:expr, $shown:tt) => {
        page! { @example concat!("let mut x = 1.5f32;\nlet v = unsafe { ", $call, ".read(&raw mut x) };\nassert_eq!(v, 1.5);"), concat!($ptx, ".f32"), $shown }
    };
    (store $call:expr, $ptx:expr, $shown:tt) => {
        page! { @example concat!("let mut x = 0.0f32;\nunsafe { ", $call, ".write(&mut x, 1.5) };\nassert_eq!(x, 1.5);"), concat!($ptx, ".f32"), $shown }
    };
    (@example $example:expr, $ptx:expr, {$sass:literal $sm:ident, $first:ident $($taker:ident)*}) => {
        concat!(
            "\n```\nuse ptx_intrinsics::prelude::*;\n\n", $example, "\n```\n\n| PTX | Machine code of ", stringify!($sm),
            " |\n| --- | --- |\n| `", $ptx, "` | `", $sass, "` |\n\nTaken by [`", stringify!($first), "`](crate::",
            stringify!($first), "())", $(", [`", stringify!($taker), "`](crate::", stringify!($taker), "())",)* ".\n"
        )
    };
}

/// The line of a hint's page that leads to its section of the page of hints.
macro_rules! when_it_pays {
    ($name:ident) => {
        concat!("\n[When it pays](crate::hints#", stringify!($name), ").")
    };
}
