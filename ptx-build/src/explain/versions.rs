//! Forms that an assembler of CUDA 13 makes something else of than today's: the table that `cargo xtask sass --matrix --write`
//! writes.

const TABLE: &str = include_str!("versions.txt");

/// A spelling that becomes something else by some assemblers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row<'a> {
    /// The releases of the assemblers: `13.0-13.3`.
    pub releases: &'a str,
    /// The GPUs: `80-121`.
    pub sms: &'a str,
    /// The part of the machine code that differs, by these assemblers; where there is none, `refused`, `internal error` or
    /// `nothing`.
    pub then: &'a str,
    /// The same part by today's assembler.
    pub now: &'a str,
    /// The spelling without its type.
    pub spelling: &'a str,
    /// Its types, or their bits: `f32,64-128`. `-` if it has none.
    pub types: &'a str,
}

/// The rows of a table. A line that begins with `@` says what was read, and one that begins with `=` what the spellings after it
/// become.
pub fn read(table: &str) -> Vec<Row<'_>> {
    let (mut head, mut rows) = ([""; 4], Vec::new());
    for line in table.lines().filter(|line| !line.starts_with(['#', '@'])) {
        let mut parts = line.trim_start_matches("= ").split(" | ");
        let mut next = || parts.next().unwrap_or_default();
        if line.starts_with("= ") {
            head = [next(), next(), next(), next()];
            continue;
        }
        let [releases, sms, then, now] = head;
        rows.push(Row { releases, sms, then, now, spelling: next(), types: next() });
    }
    rows
}

/// All rows of the table.
pub fn all() -> Vec<Row<'static>> {
    read(TABLE)
}

/// The rows of the table that tell of a form.
///
/// ```
/// let rows = ptx_build::explain::versions::of("membar.proxy.async");
/// assert_eq!(rows[0].then, "refused");
/// ```
pub fn of(ptx: &str) -> Vec<Row<'static>> {
    all().into_iter().filter(|row| row.tells_of(ptx)).collect()
}

/// A line for each row that tells of a form, as a warning.
pub fn warnings(ptx: &str) -> Vec<String> {
    of(ptx).iter().map(Row::warning).collect()
}

impl Row<'_> {
    fn warning(&self) -> String {
        let Row { releases, sms, then, now, .. } = self;
        match *then {
            "refused" => format!("CUDA {releases} refuses it for sm_{sms}"),
            "nothing" => format!("CUDA {releases} leaves it out on sm_{sms}: nothing is in its place"),
            "internal error" => format!("CUDA {releases} breaks off at it for sm_{sms}, with an internal error"),
            "" => format!("CUDA {releases} leaves {now} out on sm_{sms}"),
            _ if now.is_empty() => format!("CUDA {releases} adds {then} on sm_{sms}"),
            _ => format!("CUDA {releases} makes {then} on sm_{sms}, where later ones make {now}"),
        }
    }

    /// Whether the row tells of a form.
    pub fn tells_of(&self, ptx: &str) -> bool {
        let Some(rest) = ptx.strip_prefix(self.spelling) else { return false };
        if self.types == "-" {
            return rest.is_empty();
        }
        let Some((ty, bits)) = rest.strip_prefix('.').and_then(|ty| Some((ty, bits(ty)?))) else { return false };
        self.types.split(',').any(|own| own == ty || within(own, bits))
    }
}

/// The bits of `f32`, `v4.f32`, `f16x2`; nothing if it is no type.
fn bits(ty: &str) -> Option<u32> {
    let (lanes, scalar) = match ty.split_once('.') {
        Some((vector, scalar)) => (vector.strip_prefix('v')?.parse().ok()?, scalar),
        None => (1, ty),
    };
    let (scalar, twice) = scalar.strip_suffix("x2").map_or((scalar, 1), |scalar| (scalar, 2));
    let digits = scalar.trim_start_matches(['b', 's', 'u', 'f']);
    (digits.len() < scalar.len()).then_some(lanes * twice * digits.parse::<u32>().ok()?)
}

fn within(run: &str, bits: u32) -> bool {
    let (first, last) = run.split_once('-').unwrap_or((run, run));
    first.parse().ok().zip(last.parse().ok()).is_some_and(|(first, last): (u32, u32)| (first..=last).contains(&bits))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_tells_of_its_types_and_of_no_other_spelling() {
        let rows = read(
            "# of\n= 13.0-13.2 | 90 | A | B\natom.add | f32,128\nmembar.x | -\n= 13.1 | 80 | refused | C\nld | 8-32\n",
        );
        let told = |ptx: &str| rows.iter().filter(|row| row.tells_of(ptx)).map(Row::warning).collect::<Vec<_>>();
        let other = "CUDA 13.0-13.2 makes A on sm_90, where later ones make B";
        for ptx in ["atom.add.f32", "atom.add.v4.f32", "atom.add.v2.u64", "membar.x"] {
            assert_eq!(told(ptx), [other], "{ptx}");
        }
        for ptx in ["ld.u8", "ld.v2.b16", "ld.f16x2"] {
            assert_eq!(told(ptx), ["CUDA 13.1 refuses it for sm_80"], "{ptx}");
        }
        for ptx in ["atom.add.u32", "atom.add.noftz.f32", "membar.x.y", "ld.b64", "ld.global.u8", "ld"] {
            assert_eq!(told(ptx), [""; 0], "{ptx}");
        }
    }
}
