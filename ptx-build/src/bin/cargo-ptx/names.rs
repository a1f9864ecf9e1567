//! Names of functions as a person wrote them.

use cpp_demangle::{DemangleOptions, Symbol};

/// `cub::DeviceScanKernel<…>` of the name that a compiler of C++ or Rust or Numba makes of it; any other name as it is.
pub(crate) fn readable(name: &str) -> String {
    if let Ok(rust) = rustc_demangle::try_demangle(name) {
        return without_arguments(&format!("{rust:#}"));
    }
    // A short name alone would be read as that of a type: `a` as `signed char`.
    if !name.starts_with("_Z") {
        return name.to_owned();
    }
    let options = DemangleOptions::new().no_params().no_return_type();
    let whole = Symbol::new(name).ok().and_then(|symbol| symbol.demangle_with_options(&options).ok());
    whole.map_or_else(|| name.to_owned(), |whole| without_arguments(&whole))
}

/// The same of each name between backticks of a text.
pub(crate) fn readable_in(text: &str) -> String {
    let parts = text.split('`').enumerate();
    let parts = parts.map(|(at, part)| if at % 2 == 1 { readable(part) } else { part.to_owned() });
    parts.collect::<Vec<_>>().join("`")
}

/// Without what is in angles, and without the tags that tell versions of a function apart.
fn without_arguments(name: &str) -> String {
    let mut short = String::new();
    let (mut angles, mut brackets) = (0u32, 0u32);
    for (at, letter) in name.char_indices() {
        let is_operator = short.ends_with("operator");
        match letter {
            '<' if is_operator => short.push(letter),
            '<' => {
                if angles + brackets == 0 {
                    short.push_str("<…>");
                }
                angles += 1;
            }
            '>' if angles > 0 => angles -= 1,
            '[' if brackets > 0 || name[at..].starts_with("[abi:") => brackets += 1,
            ']' if brackets > 0 => brackets -= 1,
            _ if angles + brackets == 0 => short.push(letter),
            _ => {}
        }
    }
    short
}

#[cfg(test)]
mod tests {
    use super::{readable, readable_in};

    #[test]
    fn a_name_is_as_it_was_written() {
        for (name, expected) in [
            ("saxpy", "saxpy"),
            ("a", "a"),
            ("f", "f"),
            ("_Z6kernelPf", "kernel"),
            ("_Z5scaleIfEvPT_i", "scale<…>"),
            (
                "_ZN8__main__5totalB2v2B92cw51cXTLSUwv1sDUaKthqaNgoKmjgOR3W3CwAkMXLaJtQYkOIgxJU0gCqOkEJoHkbttqdVhoqlspQGNFHSgJ5BnXagIAE5ArrayIfLi1E1C7mutable7alignedE",
                "__main__::total",
            ),
            ("_ZN7cutlass4gemm6kernelINS_9GemmShapeILi64ELi64EEEE3runEv", "cutlass::gemm::kernel<…>::run"),
            ("_Znot_a_name", "_Znot_a_name"),
            ("_RNvNtCs3VJOvSPo0fQ_10ptx_kernel5index11block_idx_x", "ptx_kernel::index::block_idx_x"),
            ("_ZN5trial4wait17h0123456789abcdefE", "trial::wait"),
        ] {
            assert_eq!(readable(name), expected);
        }
        assert_eq!(readable_in("kernel `_Z6kernelPf` and `bar.sync 0`"), "kernel `kernel` and `bar.sync 0`");
    }
}
