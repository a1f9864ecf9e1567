//! Which calls were inlined where, by the debug sections of PTX: LLVM 22 says it nowhere else.

use std::collections::HashMap;

use gimli::{Abbreviations, AttributeValue, DebugAbbrev, DebugInfo, EndianSlice, LittleEndian};

/// File number, line and column.
pub type Place = (u32, u32, u32);

/// What a function became: by itself, or where a call of it was inlined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scope {
    /// The lines of PTX that it became, and others that were moved between these.
    pub lines: std::ops::Range<u64>,
    /// The call that was inlined.
    pub call: Option<Place>,
    /// The scope that the call is in.
    pub parent: Option<usize>,
    /// The function, which is the same in each of its scopes.
    pub function: Function,
}

/// A function of the source.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Function {
    /// Its symbol, or its name if it has none.
    pub name: String,
    /// Number of the file, and the line in it.
    pub declared: Option<(u32, u32)>,
}

type Slice<'a> = EndianSlice<'a, LittleEndian>;
type Entry<'a> = gimli::DebuggingInformationEntry<Slice<'a>>;

/// All functions that have code, and all calls that were inlined: each behind the one that it is in.
pub fn scopes(text: &str) -> Vec<Scope> {
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

fn read(abbreviations: &[u8], entries: &[u8]) -> gimli::Result<Vec<Scope>> {
    let (abbreviations, info) = (DebugAbbrev::new(abbreviations, LittleEndian), DebugInfo::new(entries, LittleEndian));
    let mut scopes = Vec::new();
    let mut units = info.units();
    while let Some(unit) = units.next()? {
        let abbreviations = unit.abbreviations(&abbreviations)?;
        let mut entries = unit.entries(&abbreviations);
        // The scopes around the entry, and how deep each is.
        let mut around: Vec<(isize, usize)> = Vec::new();
        while let Some(entry) = entries.next_dfs()? {
            around.truncate(around.partition_point(|(depth, _)| *depth < entry.depth()));
            let parent = around.last().map(|(_, scope)| *scope);
            if let Some(scope) = scope(&unit, &abbreviations, entry, parent) {
                around.push((entry.depth(), scopes.len()));
                scopes.push(scope);
            }
        }
    }
    Ok(scopes)
}

type Unit<'a> = gimli::UnitHeader<Slice<'a>>;

fn scope(unit: &Unit<'_>, abbreviations: &Abbreviations, entry: &Entry<'_>, parent: Option<usize>) -> Option<Scope> {
    if !matches!(entry.tag(), gimli::DW_TAG_subprogram | gimli::DW_TAG_inlined_subroutine) {
        return None;
    }
    let address = |name| match entry.attr_value(name)? {
        AttributeValue::Addr(address) => Some(address),
        _ => None,
    };
    let lines = address(gimli::DW_AT_low_pc)?..address(gimli::DW_AT_high_pc)?;
    let call = place(entry, [gimli::DW_AT_call_file, gimli::DW_AT_call_line]);
    let column = number(entry, gimli::DW_AT_call_column).unwrap_or_default();
    let call = call.map(|(file, line)| (file, line, column));
    let function = function(unit, abbreviations, entry);
    Some(Scope { lines, call, parent, function })
}

/// What the debug sections say of a function, here or where it is declared.
fn function(unit: &Unit<'_>, abbreviations: &Abbreviations, entry: &Entry<'_>) -> Function {
    let text = |name| match entry.attr_value(name)? {
        AttributeValue::String(text) => text.to_string().ok().map(str::to_owned),
        _ => None,
    };
    let elsewhere = [gimli::DW_AT_abstract_origin, gimli::DW_AT_specification].into_iter().find_map(|name| {
        let AttributeValue::UnitRef(offset) = entry.attr_value(name)? else { return None };
        let entry = unit.entry(abbreviations, offset).ok()?;
        Some(function(unit, abbreviations, &entry))
    });
    let elsewhere = elsewhere.unwrap_or_default();
    // The name without its types says less than the symbol.
    let symbol = text(gimli::DW_AT_linkage_name).or_else(|| text(gimli::DW_AT_MIPS_linkage_name));
    let name =
        symbol.or_else(|| (!elsewhere.name.is_empty()).then_some(elsewhere.name)).or_else(|| text(gimli::DW_AT_name));
    let declared = place(entry, [gimli::DW_AT_decl_file, gimli::DW_AT_decl_line]).or(elsewhere.declared);
    Function { name: name.unwrap_or_default(), declared }
}

fn place(entry: &Entry<'_>, [file, line]: [gimli::DwAt; 2]) -> Option<(u32, u32)> {
    let file = match entry.attr_value(file)? {
        AttributeValue::FileIndex(file) => file as u32,
        _ => return None,
    };
    Some((file, number(entry, line)?))
}

fn number(entry: &Entry<'_>, name: gimli::DwAt) -> Option<u32> {
    u32::try_from(entry.attr_value(name)?.udata_value()?).ok()
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
        let function = Function::default();
        assert_eq!(scopes(&text()), [Scope { lines: 2..4, call: Some((3, 300, 9)), parent: None, function }]);
        assert_eq!(scopes("ret;"), []);
        assert_eq!(scopes(&text().replace(".b8 2\n", ".b8 77\n")), []);
    }
}
