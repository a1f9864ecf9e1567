//! Variables of `shared!`. `ptx-kernel` makes their names of numbers, for a macro knows no path.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::LazyLock;

use regex_lite::{Captures, Regex};

use crate::error::{Error, Result};
use crate::ptx::{with_lines_of, words};

/// How the name of a variable begins, up to its number.
const OF_A_VARIABLE: &str = "ptx_kernel_shared_";

/// The line of a variable: its number, and where it is written.
static LINE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\.b8 ptx_kernel_shared_(\d+)\[.*// (.*)").expect("the pattern is valid"));

static OF_FUNCTION: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"// fn [^,\n]*, line").expect("the pattern is valid"));

static NAME: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"ptx_kernel_shared_(\d+)").expect("the pattern is valid"));

/// The module in which each variable of `shared!` has the name of its function: `shared_tile`. Of several with one name the later ones have
/// a number behind it.
///
/// Fails if two have one number. It is made of the path of the variable's function, so this takes two functions of one name in one
/// function, or two crates of one name.
pub(crate) fn with_names(text: &str) -> Result<String> {
    if !text.contains(OF_A_VARIABLE) {
        return Ok(text.to_owned());
    }
    let (mut seen, mut names) = (BTreeMap::new(), HashMap::new());
    // What the module has already.
    let mut taken: HashSet<String> =
        words(text).filter(|word| word.starts_with("shared_")).map(str::to_owned).collect();
    let of_variables = text.lines().filter(|line| line.contains(OF_A_VARIABLE));
    for line in of_variables.filter_map(|line| LINE.captures(line)) {
        let [number, place] = [1, 2].map(|group| line.get(group).map_or("", |found| found.as_str()));
        if let Some(other) = seen.insert(number, place) {
            return Err(Error::new("two variables of shared! have one name in the module")
                .at(format_args!("{other}, and {place}"))
                .fix("give one of their functions another name"));
        }
        let Some(function) = function(place) else { continue };
        let plain = format!("shared_{function}");
        let mut numbered = (2..).map(|next| format!("{plain}_{next}"));
        let is_free = |name: &String| !taken.contains(name);
        let name = Some(plain.clone()).filter(is_free).or_else(|| numbered.find(is_free)).unwrap_or(plain);
        taken.insert(name.clone());
        names.insert(number, name);
    }
    let named = |found: &Captures<'_>| names.get(&found[1]).cloned().unwrap_or_else(|| found[0].to_owned());
    // No PTX has letters that are not ASCII.
    let renamed = |line: &str| OF_FUNCTION.replace(&NAME.replace_all(line, named), "// line").into_owned();
    Ok(with_lines_of(text, OF_A_VARIABLE, renamed))
}

/// The function that a place is of, if PTX takes its name: `fn tile, line 7, column 1`.
fn function(place: &str) -> Option<&str> {
    let (name, _) = place.strip_prefix("fn ")?.split_once(',')?;
    name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_').then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(number: u32, function: &str, line: u32) -> String {
        format!("\t.shared .align 16 .b8 ptx_kernel_shared_{number}[64]; // fn {function}, line {line}, column 5\n")
    }

    #[test]
    fn two_variables_of_one_name_are_told() {
        assert!(with_names(&(line(7, "a", 3) + &line(8, "a", 3))).is_ok());
        let all = line(7, "a", 3) + &line(8, "b", 3) + &line(7, "a", 9);
        let error = with_names(&all).expect_err("two are alike").to_string();
        let expected = "two variables of shared! have one name in the module
  at fn a, line 3, column 5, and fn a, line 9, column 5
  → give one of their functions another name";
        assert_eq!(error, expected);
    }

    #[test]
    fn each_variable_has_a_name_of_its_own() {
        let lines =
            line(7, "tile", 3) + &line(77, "tile", 4) + &line(8, "größe", 5) + &line(9, "r#in", 6) + &line(1, "x", 7);
        let uses = "mov.u32 %r1, ptx_kernel_shared_7;\nmov.u32 %r2, ptx_kernel_shared_77;\nmov.u32 %r3, shared_x;\n";
        let named = with_names(&(lines + uses)).expect("all differ");
        assert!(named.is_ascii() && named.contains("ptx_kernel_shared_8[64]; // line 5, column 5\n"), "{named}");
        let found: Vec<&str> = words(&named).filter(|word| word.contains("shared_")).collect();
        let eight = "ptx_kernel_shared_8";
        let expected = [
            "shared_tile",
            "shared_tile_2",
            eight,
            "ptx_kernel_shared_9",
            "shared_x_2",
            "shared_tile",
            "shared_tile_2",
            "shared_x",
        ];
        assert_eq!(found, expected);
    }
}
