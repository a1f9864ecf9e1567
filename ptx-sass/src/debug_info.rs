//! Which calls were inlined where, by the debug sections of PTX: LLVM 22 says it nowhere else.

use std::collections::HashMap;

use gimli::{AttributeValue, DebugAbbrev, DebugInfo, EndianSlice, LittleEndian};

/// A call that was inlined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inlined {
    /// The lines of PTX that it became, and others that were moved between these.
    pub lines: std::ops::Range<u64>,
    /// File number, line and column of the call.
    pub place: (u32, u32, u32),
}

type Slice<'a> = EndianSlice<'a, LittleEndian>;

/// All inlined calls.
pub fn inlined(text: &str) -> Vec<Inlined> {
    let labels = labels(text);
    let [abbreviations, entries] = [".debug_abbrev", ".debug_info"].map(|name| section(text, name, &labels));
    // Text that does not hold what it should only costs the places of the accesses.
    read(&abbreviations, &entries).unwrap_or_default()
}

/// The numbers of the lines that labels stand before: these serve as the addresses of the code.
fn labels(text: &str) -> HashMap<&str, u64> {
    (1..).zip(text.lines()).filter_map(|(number, line)| Some((line.trim().strip_suffix(':')?, number))).collect()
}

/// The bytes of a section.
fn section(text: &str, name: &str, labels: &HashMap<&str, u64>) -> Vec<u8> {
    let lines = text.lines().map(str::trim);
    let body = lines.skip_while(|line| line.strip_prefix(".section").is_none_or(|rest| rest.trim() != name)).skip(1);
    let mut bytes = Vec::new();
    for line in body.take_while(|line| *line != "}") {
        let Some((directive, value)) = line.split_once(' ') else { continue };
        let value = value.parse::<i64>().unwrap_or_else(|_| labels.get(value).map_or(0, |number| *number as i64));
        let size = match directive {
            ".b8" => 1,
            ".b16" => 2,
            ".b32" => 4,
            _ => 8,
        };
        bytes.extend_from_slice(&value.to_le_bytes()[..size]);
    }
    bytes
}

fn read(abbreviations: &[u8], entries: &[u8]) -> gimli::Result<Vec<Inlined>> {
    let (abbreviations, info) = (DebugAbbrev::new(abbreviations, LittleEndian), DebugInfo::new(entries, LittleEndian));
    let mut inlined = Vec::new();
    let mut units = info.units();
    while let Some(unit) = units.next()? {
        let abbreviations = unit.abbreviations(&abbreviations)?;
        let mut entries = unit.entries(&abbreviations);
        while let Some(entry) = entries.next_dfs()? {
            if entry.tag() == gimli::DW_TAG_inlined_subroutine {
                inlined.extend(call(entry));
            }
        }
    }
    Ok(inlined)
}

fn call(entry: &gimli::DebuggingInformationEntry<Slice<'_>>) -> Option<Inlined> {
    let value = |name| entry.attr_value(name);
    let number = |name| u32::try_from(value(name)?.udata_value()?).ok();
    let file = match value(gimli::DW_AT_call_file)? {
        AttributeValue::FileIndex(file) => file as u32,
        _ => return None,
    };
    let address = |name| match value(name)? {
        AttributeValue::Addr(address) => Some(address),
        _ => None,
    };
    let column = number(gimli::DW_AT_call_column).unwrap_or_default();
    Some(Inlined {
        lines: address(gimli::DW_AT_low_pc)?..address(gimli::DW_AT_high_pc)?,
        place: (file, number(gimli::DW_AT_call_line)?, column),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A unit with one inlined call, from line 2 to line 4.
    fn text() -> String {
        let bytes = |bytes: &[u8]| bytes.iter().map(|byte| format!(".b8 {byte}\n")).collect::<String>();
        let unit = [1, 17, 1, 0, 0];
        let call = [2, 29, 0, 17, 1, 18, 1, 88, 11, 89, 5, 87, 11, 0, 0, 0];
        let entries = format!(
            ".b32 30\n.b8 2\n.b8 0\n.b32 .debug_abbrev\n.b8 8\n{}.b64 $begin\n.b64 $end\n{}",
            bytes(&[1, 2]),
            bytes(&[3, 44, 1, 9, 0])
        );
        let abbreviations = bytes(&[&unit[..], &call].concat());
        format!(
            "\n$begin:\nret;\n$end:\n\t.section\t.debug_abbrev\n\t{{\n{abbreviations}\t}}\n\t.section\t.debug_info\n\t{{\n\
             {entries}\t}}\n"
        )
    }

    #[test]
    fn a_call_has_the_lines_between_its_labels() {
        assert_eq!(inlined(&text()), [Inlined { lines: 2..4, place: (3, 300, 9) }]);
        assert_eq!(inlined("ret;"), []);
        assert_eq!(inlined(&text().replace(".b8 2\n", ".b8 77\n")), []);
    }
}
