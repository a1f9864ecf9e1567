//! What NVIDIA's disassembler prints: which machine instructions a function became, and of which line of PTX.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// A function's machine code, without the endless branch and the padding after its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SassFunction {
    /// Its symbol; a function called from an entry is named `$entry$function`.
    pub name: String,
    /// Its instructions, in order.
    pub instructions: Vec<SassInstruction>,
}

/// A machine instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SassInstruction {
    /// Its offset in its section, in bytes.
    pub address: u64,
    /// `P0`, `!P0`, `UP1`…, if it is predicated.
    pub predicate: Option<String>,
    /// The opcode with all its modifiers: `LDG.E.EL.LTC256B.CONSTANT`.
    pub opcode: String,
    /// The operands.
    pub operands: Vec<String>,
    /// All of it, single spaces between words.
    pub text: String,
    /// The address that it names: where a branch goes to, or where threads that parted meet again.
    pub target: Option<u64>,
    /// The line of PTX it came from, if the cubin was assembled with line information.
    pub ptx_line: Option<u32>,
    /// The line of the source it came from, if nvdisasm was asked for these: `nvdisasm -g`.
    pub source: Option<SourceLine>,
}

/// A line of a source file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceLine {
    /// The file.
    pub file: Arc<str>,
    /// The line, from 1.
    pub line: u32,
}

impl SassInstruction {
    /// The opcode without its modifiers: `LDG`.
    pub fn name(&self) -> &str {
        self.opcode.split('.').next().unwrap_or_default()
    }
}

/// How many registers are live at each address of each function, of what `nvdisasm -lrm count -c` prints.
pub fn live_registers(listing: &str) -> HashMap<String, BTreeMap<u64, u32>> {
    let mut live: HashMap<String, BTreeMap<u64, u32>> = HashMap::new();
    let (mut symbols, mut own) = (Vec::new(), None);
    for line in listing.lines() {
        let (text, counts) = line.split_once("// |").map_or((line, ""), |(text, counts)| (text.trim_end(), counts));
        if let Some(symbol) = symbol(text) {
            symbols.push(symbol);
        } else if let Some(name) = text.strip_suffix(':').filter(|name| symbols.contains(name)) {
            own = Some(live.entry(name.to_owned()).or_default());
        } else if let (Some((address, _)), Some(own)) = (code(text), own.as_mut()) {
            own.extend(counts.split('|').next().and_then(|count| Some((address, count.trim().parse().ok()?))));
        }
    }
    live
}

/// The GPU of a listing: `sm_90a`.
pub fn target(listing: &str) -> Option<&str> {
    listing.lines().find_map(|line| line.trim_start().strip_prefix(".target")).map(str::trim)
}

/// Reads what `nvdisasm -gp -c -ndf` prints, or `-g` in place of `-gp`.
pub fn parse(listing: &str) -> Vec<SassFunction> {
    let mut functions: Vec<SassFunction> = Vec::new();
    let (mut ptx_line, mut of) = (None, None);
    let mut files: HashMap<&str, Arc<str>> = HashMap::new();
    let mut symbols: Vec<&str> = Vec::new();
    // Labels stand before the instruction that they name.
    let (mut named, mut labels) = (Vec::new(), HashMap::new());
    for line in listing.lines() {
        if let Some(symbol) = symbol(line) {
            symbols.push(symbol);
        } else if let Some((file, number)) = source(line) {
            let is_ptx = file.starts_with(".nv_debug_ptx_txt");
            ptx_line = is_ptx.then_some(number);
            let named = || files.entry(file).or_insert_with(|| file.into()).clone();
            of = (!is_ptx).then(named).map(|file| SourceLine { file, line: number });
        } else if let Some(name) = line.strip_suffix(':').filter(|name| symbols.contains(name)) {
            functions.push(SassFunction { name: name.to_owned(), instructions: Vec::new() });
            (ptx_line, of) = (None, None);
        } else if let Some(label) = line.strip_suffix(':').filter(|label| label.starts_with(".L")) {
            named.push(label);
        } else if let (Some((address, code)), Some(function)) = (code(line), functions.last_mut()) {
            labels.extend(named.drain(..).map(|label| (label, address)));
            function.instructions.extend(instruction(address, code).map(|one| SassInstruction {
                ptx_line,
                source: of.clone(),
                ..one
            }));
        }
    }
    for function in &mut functions {
        drop_padding(&mut function.instructions);
        for one in &mut function.instructions {
            let label = one.operands.last().and_then(|last| last.strip_prefix("`(")?.strip_suffix(')'));
            one.target = label.and_then(|label| labels.get(label).copied());
        }
    }
    functions
}

/// The name in `.type NAME,@function`.
fn symbol(line: &str) -> Option<&str> {
    line.trim_start().strip_prefix(".type")?.trim().strip_suffix(",@function")
}

/// The file and the line in `//## File "FILE", line 12`, which may say more.
fn source(line: &str) -> Option<(&str, u32)> {
    let (file, rest) = line.trim_start().strip_prefix("//## File \"")?.rsplit_once("\", line ")?;
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    Some((file, rest[..end].parse().ok()?))
}

/// The address and the instruction in `/*0010*/ INSTRUCTION ;`, which may stand in braces with another.
fn code(line: &str) -> Option<(u64, &str)> {
    let (address, code) = line.trim().strip_prefix("/*")?.split_once("*/")?;
    let code = code.trim_end_matches('}').trim_end();
    Some((u64::from_str_radix(address, 16).ok()?, code.trim_end_matches(';').trim()))
}

fn instruction(address: u64, code: &str) -> Option<SassInstruction> {
    let words: Vec<&str> = code.trim_start_matches('{').split_whitespace().collect();
    let text = words.join(" ");
    let (predicate, rest) = match text.strip_prefix('@').and_then(|text| text.split_once(' ')) {
        Some((predicate, rest)) => (Some(predicate.to_owned()), rest),
        None => (None, text.as_str()),
    };
    let (opcode, operands) = rest.split_once(' ').unwrap_or((rest, ""));
    let operands = operands.split(',').map(str::trim).filter(|operand| !operand.is_empty()).map(str::to_owned);
    let (opcode, operands) = (opcode.to_owned(), operands.collect());
    (!opcode.is_empty()).then_some(SassInstruction {
        address,
        predicate,
        opcode,
        operands,
        text,
        target: None,
        ptx_line: None,
        source: None,
    })
}

/// Drops what the assembler puts after a function's last instruction: a branch to itself and NOPs. The branch
/// came from no PTX, so a function that ends in a loop of its own keeps that.
fn drop_padding(code: &mut Vec<SassInstruction>) {
    let padded = code.len();
    while code.last().is_some_and(|last| last.opcode == "NOP") {
        code.pop();
    }
    let ends = |last: &SassInstruction| last.predicate.is_none() && last.opcode == "BRA";
    let behind_the_end = code.len().checked_sub(2).map(|at| &code[at]).is_some_and(|before| {
        let last = ["EXIT", "BRA", "RET", "CALL"].contains(&before.opcode.split('.').next().unwrap_or_default());
        last && before.predicate.is_none()
    });
    if padded > 0 && behind_the_end && code.last().is_some_and(ends) {
        code.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LISTING: &str = r#"
        .type           k,@function
        .size           k,(.L_x_2 - k)
k:
.text.k:
	//## File ".nv_debug_ptx_txt", line 4
        /*0000*/                   LDC R1, c[0x0][0x28] ;
	//## File ".nv_debug_ptx_txt", line 7
        /*0010*/              @!P0 LDG.E.EL.CONSTANT R5, desc[UR4][R4.64+0xc] ;
.L_x_1:
        /*0018*/               @P1 BRA `(.L_x_1) ;
	//## File ".nv_debug_ptx_txt", line 9
        /*0020*/                   EXIT ;
.L_x_0:
        /*0030*/                   BRA `(.L_x_0);
        /*0040*/                   NOP;
        .type           $k$f,@function
$k$f:
	//## File ".nv_debug_ptx_txt", line 20
        /*0050*/                   BRA `($k$f) ;
.L_x_3:
        /*0060*/                   BRA `(.L_x_3);
"#;

    #[test]
    fn live_registers_stand_behind_the_instructions() {
        let listing = "        .type           k,@function       // |       |\nk:      // |   |\n\
                       /*0010*/  S2R R0, SR_TID.X ;   // |  2    |        |        |\n\
                       /*0020*/  EXIT ;               // |       |        |        |\n";
        assert_eq!(live_registers(listing), HashMap::from([("k".to_owned(), BTreeMap::from([(0x10, 2)]))]));
    }

    #[test]
    fn a_listing_reads_as_functions_and_instructions() {
        let functions = parse(LISTING);
        let texts = |at: usize| functions[at].instructions.iter().map(|one| one.text.as_str()).collect::<Vec<_>>();
        assert_eq!(functions.iter().map(|one| one.name.as_str()).collect::<Vec<_>>(), ["k", "$k$f"]);
        let load = "@!P0 LDG.E.EL.CONSTANT R5, desc[UR4][R4.64+0xc]";
        assert_eq!(texts(0), ["LDC R1, c[0x0][0x28]", load, "@P1 BRA `(.L_x_1)", "EXIT"]);
        assert_eq!(texts(1), ["BRA `($k$f)"]);
        let expected = SassInstruction {
            address: 0x10,
            predicate: Some("!P0".to_owned()),
            opcode: "LDG.E.EL.CONSTANT".to_owned(),
            operands: vec!["R5".to_owned(), "desc[UR4][R4.64+0xc]".to_owned()],
            text: load.to_owned(),
            target: None,
            ptx_line: Some(7),
            source: None,
        };
        assert_eq!(functions[0].instructions[1], expected);
        assert_eq!(functions[0].instructions[2].target, Some(0x18));
    }
}
