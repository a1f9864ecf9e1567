//! Rows of matrices in shared memory, by an address in it.

use std::collections::HashMap;
use std::sync::LazyLock;

use regex_lite::{Captures, Regex};

use crate::ptx::with_lines_of;

/// What each line of an `ldmatrix` or `stmatrix` has.
const OF_ROWS: &str = "matrix.";

/// `ldmatrix` or `stmatrix` of a generic address.
static ROWS: LazyLock<Regex> = LazyLock::new(|| {
    let rows =
        r"((?:ld|st)matrix\.[\w.]+?)(\.b(?:16|8|8x16\.b6x16_p32|8x16\.b4x16_p64)\s[^;\[]*\[)(%\w+)((?:\+\d+)?\])";
    Regex::new(rows).expect("the pattern is valid")
});

/// A register.
static REGISTER: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"%\w+").expect("the pattern is valid"));

/// The module in which `ldmatrix` and `stmatrix` have the address in shared memory that their generic address is made of.
///
/// LLVM's intrinsics take a pointer, and Rust has no pointers to shared memory. So rustc writes `cvta.shared` and a generic address,
/// and ptxas makes all 64 bits of it, for each row, though it then reads 32.
pub fn with_shared_rows(text: &str) -> String {
    let functions = text.split_inclusive('\n').fold(vec![String::new()], |mut functions, line| {
        if is_head(line) {
            functions.push(String::new());
        }
        functions.last_mut().expect("there is the first").push_str(line);
        functions
    });
    functions
        .iter()
        .map(|function| if function.contains(OF_ROWS) { with_rows(function) } else { function.clone() })
        .collect()
}

/// Whether a function begins with this line.
fn is_head(line: &str) -> bool {
    !line.trim_start().starts_with("//") && [".entry ", ".func "].iter().any(|word| line.contains(word))
}

/// The same of a function.
fn with_rows(function: &str) -> String {
    // A register that one instruction alone writes has that value wherever it is read, so the address that a generic one was made of
    // is still in its register.
    let once = written_once(function);
    let made_of = |generic: &str| {
        let (opcode, operands) = once.get(generic)?.split_once(' ')?;
        let source = operands.split_once(',')?.1.trim();
        (opcode == "cvta.shared.u64" && once.contains_key(source)).then_some(source)
    };
    let by_shared = |row: &Captures<'_>| match made_of(&row[3]) {
        Some(shared) if !row[1].contains(".shared") => format!("{}.shared{}{shared}{}", &row[1], &row[2], &row[4]),
        _ => row[0].to_owned(),
    };
    with_lines_of(function, OF_ROWS, |line| ROWS.replace_all(line, by_shared).into_owned())
}

/// The registers that one instruction alone writes, each with the instruction.
fn written_once(function: &str) -> HashMap<String, String> {
    let lines = function.lines().map(|line| line.split("//").next().unwrap_or_default().trim());
    // These have no semicolon.
    let code: Vec<&str> = lines.filter(|line| !line.starts_with(".loc") && !line.starts_with(".file")).collect();
    let code = code.join(" ");
    let mut writers: HashMap<String, Option<String>> = HashMap::new();
    for instruction in code.split(';').map(without_prefix) {
        for register in REGISTER.find_iter(written(instruction)) {
            let writer = writers.entry(register.as_str().to_owned());
            writer.and_modify(|first| *first = None).or_insert_with(|| Some(instruction.replace('\t', " ")));
        }
    }
    writers.into_iter().filter_map(|(register, writer)| Some((register, writer?))).collect()
}

/// The instruction without braces of blocks, labels and a predicate before it.
fn without_prefix(statement: &str) -> &str {
    let statement = statement.trim_start_matches(|c: char| c.is_whitespace() || "{}".contains(c));
    let label = |label: &str| label.chars().all(|c| c.is_alphanumeric() || "_$".contains(c));
    match statement.split_once(':').filter(|(before, _)| label(before)) {
        Some((_, rest)) => without_prefix(rest),
        None if statement.starts_with('@') => statement.split_once(' ').map_or("", |(_, rest)| without_prefix(rest)),
        None => statement,
    }
}

/// The operand that an instruction writes, if it writes one: its first, which is several registers in braces, a pair, or not an
/// address.
fn written(instruction: &str) -> &str {
    let operands = instruction.split_once(char::is_whitespace).map_or("", |(_, operands)| operands.trim_start());
    let end = if operands.starts_with('{') { '}' } else { ',' };
    let first = operands.split(end).next().unwrap_or_default();
    if first.starts_with('[') { "" } else { first }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = ".visible .entry k(\n\t.param .u64 p\n)\n{\n\t.reg .b64 \t%rd<9>;\n";
    const MADE: &str =
        "\tcvt.u64.u32 \t%rd2, %r1;\n\t// begin inline asm\n\tcvta.shared.u64 %rd1, %rd2;\n\t// end inline asm\n";
    const LOAD: &str = "$L__BB0_1: // a loop\n\tldmatrix.sync.aligned.m8n8.x1.b16 {%r5}, [%rd1];\n\tret;\n}\n";

    fn module(body: &str) -> String {
        format!("{HEAD}{body}")
    }

    #[test]
    fn rows_have_their_address_in_shared_memory() {
        let found = with_shared_rows(&module(&format!("{MADE}{LOAD}")));
        assert_eq!(
            found,
            module(&format!("{MADE}{}", LOAD.replace(".b16", ".shared.b16").replace("[%rd1]", "[%rd2]")))
        );
        let store = "\tstmatrix.sync.aligned.m8n8.x2.trans.b16 [%rd1+2048], {%r5, %r6};\n";
        let found = with_shared_rows(&module(&format!("{MADE}{store}")));
        let wanted = "\tstmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%rd2+2048], {%r5, %r6};\n";
        assert_eq!(found, module(&format!("{MADE}{wanted}")));
        for [shape, types] in
            [["m16n16.x1.trans", "b8"], ["m8n16.x1", "b8x16.b6x16_p32"], ["m16n16.x1.trans", "b8x16.b4x16_p64"]]
        {
            let load = LOAD.replace("m8n8.x1.b16", &format!("{shape}.{types}"));
            let wanted = LOAD.replace("m8n8.x1.b16", &format!("{shape}.shared.{types}")).replace("[%rd1]", "[%rd2]");
            assert_eq!(with_shared_rows(&module(&format!("{MADE}{load}"))), module(&format!("{MADE}{wanted}")));
        }
    }

    #[test]
    fn an_address_that_may_be_another_one_stays() {
        let again = [
            "\tadd.s64 \t%rd2, %rd2, 8;\n",
            "\t@%p1 bra \t$L__BB0_1;\n$L__BB0_3:\n\tld.param.b64 \t%rd1, [p];\n",
            "\t@!%p1 mov.b64 \t%rd2, %rd7;\n",
            "\t{ .reg .b32 x; mov.b64 {x, %r1}, %rd7; mov.b64 %rd2, %rd7; }\n",
            "\tld.global.v2.b64 \t{%rd8, %rd1}, [%rd7];\n",
            "\tmma.sync\n\t\t{%rd7, %rd1},\n\t\t{%rd8};\n",
            "\t.loc\t1 2 3\n\tmov.b64 \t%rd1, %rd7;\n",
        ];
        for again in again {
            let module = module(&format!("{MADE}{again}{LOAD}"));
            assert_eq!(with_shared_rows(&module), module, "{again}");
        }
        let others =
            ["\tld.param.b64 \t%rd1, [p];\n", "\tcvta.shared.u64 %rd1, %rd2;\n", "\tcvta.global.u64 %rd1, %rd2;\n"];
        for other in others {
            let module = module(&format!("{other}{LOAD}"));
            assert_eq!(with_shared_rows(&module), module, "{other}");
        }
        let by_shared = module(&format!("{MADE}{}", LOAD.replace(".b16", ".shared.b16")));
        assert_eq!(with_shared_rows(&by_shared), by_shared);
        // Another function has registers of its own.
        let two = module(&format!("{MADE}\tret;\n}}\n{}", module(LOAD)));
        assert_eq!(with_shared_rows(&two), two);
    }
}
