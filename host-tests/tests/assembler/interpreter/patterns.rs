//! The spellings that the assembler is asked about: every combination of words of a pattern.

/// Registers of every kind: sources `s` and destinations `d`.
pub(crate) const REGISTERS: &str = ".reg .pred %ps<6>, %pd<3>; .reg .b8 %bs<6>, %bd<3>; .reg .b16 %hs<6>, %hd<3>; .reg .b32 %rs<6>, %rd<3>, %t; \
     .reg .b64 %ls<6>, %ld<3>, %from, %to, %at;";

/// How many spellings were asked, and how many PTX ISA 9.0 has of them: they do not become fewer.
pub(crate) const ASKED: usize = 31_487;
pub(crate) const ACCEPTED: usize = 4_446;

/// What an operand is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Register {
    Predicate,
    Bits(u32),
    /// A number that is part of the text.
    Immediate,
}

impl Register {
    pub(crate) fn bits(self) -> u32 {
        match self {
            Register::Predicate => 1,
            Register::Bits(bits) => bits,
            Register::Immediate => 8,
        }
    }

    pub(crate) fn name(self, which: char, number: usize) -> String {
        let class = match self {
            Register::Predicate => 'p',
            Register::Bits(8) => 'b',
            Register::Bits(16) => 'h',
            Register::Bits(64) => 'l',
            Register::Bits(_) => 'r',
            Register::Immediate => return "150".to_owned(),
        };
        format!("%{class}{which}{number}")
    }

    /// The register that a type lies in.
    fn of(word: &str) -> Register {
        if word == "pred" {
            return Register::Predicate;
        }
        let (word, lanes) = word.strip_suffix("x2").map_or((word, 1), |word| (word, 2));
        let bits: u32 = word.trim_start_matches(|c: char| !c.is_ascii_digit()).parse().unwrap();
        Register::Bits(bits * lanes)
    }
}

/// A spelling and its operands.
#[derive(Clone, Debug)]
pub(crate) struct Instruction {
    pub(crate) opcode: String,
    pub(crate) to: Vec<Register>,
    pub(crate) from: Vec<Register>,
}

impl Instruction {
    pub(crate) fn line(&self) -> String {
        let to: Vec<String> = self.to.iter().enumerate().map(|(at, one)| one.name('d', at)).collect();
        let from: Vec<String> = self.from.iter().enumerate().map(|(at, one)| one.name('s', at)).collect();
        format!("{} {}, {};", self.opcode, to.join("|"), from.join(", "))
    }
}

const INTEGER: &str = "u16,u32,u64,s16,s32,s64";
const BITS: &str = "pred,b16,b32,b64";
const FLOAT: &str = "f16,f16x2,bf16,bf16x2,f32,f32x2,f64";
const EVERY: &str = "pred,b16,b32,b64,u16,u32,u64,s16,s32,s64,u16x2,s16x2,f16,f16x2,bf16,bf16x2,f32,f32x2,f64";
/// What gives two predicates.
const PAIRED: &str = "b16,b32,b64,u16,u32,u64,s16,s32,s64,u16x2,s16x2,f16x2,bf16x2,f32,f32x2,f64";
const ROUND: &str = ",.rn,.rz,.rm,.rp";
const NARROW: &str = "u8,s8,u16,s16,u32,s32,u64,s64,f16,bf16,f32,f64";

/// Patterns, where one of the words in braces is taken; and the operands: of the type named last (`t`), or before it (`b`),
/// twice as wide (`w`), of 32 bits (`r`), predicates (`p`), a number (`i`).
fn patterns() -> Vec<(String, &'static str)> {
    let order = "eq,ne,lt,le,gt,ge,lo,ls,hi,hs,equ,neu,ltu,leu,gtu,geu,num,nan";
    vec![
        (format!("{{add,sub,mul}}{{{ROUND}}}{{,.ftz}}{{,.sat}}.{{{EVERY}}}"), "t:tt"),
        (format!("{{add,sub,addc,subc}}.cc.{{{EVERY}}}"), "t:tt"),
        (format!("{{addc,subc}}.{{{EVERY}}}"), "t:tt"),
        (format!("mul.{{hi,lo}}.{{{EVERY}}}"), "t:tt"),
        (format!("mul.wide.{{{INTEGER}}}"), "w:tt"),
        (format!("mad.{{hi,lo}}{{,.sat,.cc}}.{{{EVERY}}}"), "t:ttt"),
        (format!("madc.{{hi,lo}}{{,.cc}}.{{{INTEGER}}}"), "t:ttt"),
        (format!("mad.wide.{{{INTEGER}}}"), "w:ttw"),
        ("mul24.{hi,lo}.{u32,s32,u64,s64}".into(), "t:tt"),
        ("mad24.{hi,lo}{,.sat}.{u32,s32,u64,s64}".into(), "t:ttt"),
        (format!("sad.{{{INTEGER}}}"), "t:ttt"),
        (format!("{{div,rem}}.{{{INTEGER}}}"), "t:tt"),
        (format!("{{abs,neg}}{{,.ftz}}.{{{EVERY}}}"), "t:t"),
        (format!("{{min,max}}{{,.relu}}{{,.ftz}}{{,.NaN}}{{,.xorsign.abs}}.{{{EVERY}}}"), "t:tt"),
        ("dp4a.{u32,s32}.{u32,s32}".into(), "r:rrr"),
        ("dp2a.{lo,hi}.{u32,s32}.{u32,s32}".into(), "r:rrr"),
        (format!("{{and,or,xor}}.{{{EVERY}}}"), "t:tt"),
        (format!("{{not,cnot}}.{{{EVERY}}}"), "t:t"),
        ("lop3.b32".into(), "r:rrri"),
        ("lop3.{and,or,xor}.b32".into(), "rp:rrrip"),
        (format!("{{shl,shr}}.{{{EVERY}}}"), "t:tr"),
        ("shf.{l,r}{,.clamp,.wrap}.{b32,u32,b64}".into(), "t:ttr"),
        ("prmt.b32{,.f4e,.b4e,.rc8,.ecl,.ecr,.rc16}".into(), "r:rrr"),
        (format!("{{popc,clz,bfind,bfind.shiftamt}}.{{{BITS},{INTEGER}}}"), "r:t"),
        (format!("brev.{{{BITS},{INTEGER}}}"), "t:t"),
        (format!("bfe.{{{BITS},{INTEGER}}}"), "t:trr"),
        (format!("bfi.{{{BITS},{INTEGER}}}"), "t:ttrr"),
        (format!("bmsk{{,.clamp,.wrap}}.{{{BITS},{INTEGER}}}"), "t:tt"),
        (format!("szext{{,.clamp,.wrap}}.{{{BITS},{INTEGER}}}"), "t:tr"),
        (format!("fns.{{{BITS}}}"), "t:trr"),
        (format!("mov.{{{EVERY}}}"), "t:t"),
        (format!("selp.{{{EVERY}}}"), "t:ttp"),
        (format!("slct{{,.ftz}}.{{{EVERY}}}.{{s32,f32}}"), "b:bbr"),
        (format!("setp.{{{order}}}{{,.ftz}}.{{f16,bf16}}"), "p:tt"),
        (format!("setp.{{{order}}}.{{and,or,xor}}{{,.ftz}}.{{f16,bf16}}"), "p:ttp"),
        (format!("setp.{{{order}}}{{,.ftz}}.{{{PAIRED}}}"), "pp:tt"),
        (format!("setp.{{{order}}}.{{and,or,xor}}{{,.ftz}}.{{{PAIRED}}}"), "pp:ttp"),
        (format!("set.{{{order}}}{{,.ftz}}.{{u16,s16,u32,s32,f16,f16x2,bf16,bf16x2,f32,u64,f64}}.{{{EVERY}}}"), "b:tt"),
        (format!("set.{{{order}}}.{{and,or,xor}}{{,.ftz}}.{{u32,s32,f32}}.{{{EVERY}}}"), "b:ttp"),
        (format!("{{fma,mad}}{{{ROUND}}}{{,.ftz}}{{,.sat}}{{,.relu}}.{{{FLOAT}}}"), "t:ttt"),
        (format!("div{{{ROUND},.approx,.full}}{{,.ftz}}.{{{FLOAT}}}"), "t:tt"),
        (format!("{{rcp,sqrt}}{{{ROUND},.approx}}{{,.ftz}}.{{{FLOAT}}}"), "t:t"),
        (format!("{{rsqrt,sin,cos,lg2,ex2,tanh}}{{,.approx}}{{,.ftz}}.{{{FLOAT}}}"), "t:t"),
        (format!("testp.{{finite,infinite,number,notanumber,normal,subnormal}}.{{{FLOAT}}}"), "p:t"),
        (format!("copysign.{{{FLOAT}}}"), "t:tt"),
        (
            format!("cvt{{{ROUND},.rna,.rni,.rzi,.rmi,.rpi}}{{,.relu}}{{,.ftz}}{{,.sat}}.{{{NARROW}}}.{{{NARROW}}}"),
            "b:t",
        ),
        ("cvt{,.rn,.rz,.rna}{,.relu}{,.sat}.{f16x2,bf16x2}.f32".into(), "b:tt"),
        ("cvt.{rn,rz,rna}{,.relu}.tf32.f32".into(), "r:t"),
        ("cvt.pack{,.sat}.{u16,s16,u8,s8}.s32".into(), "r:rr"),
        ("cvt.pack{,.sat}.{u16,s16,u8,s8,u4,s4,u2,s2}.s32.b32".into(), "r:rrr"),
    ]
}

/// Every choice of the words in braces.
fn expanded(pattern: &str) -> Vec<String> {
    let Some((before, rest)) = pattern.split_once('{') else { return vec![pattern.to_owned()] };
    let (choices, after) = rest.split_once('}').unwrap();
    let after = expanded(after);
    choices.split(',').flat_map(|choice| after.iter().map(move |after| format!("{before}{choice}{after}"))).collect()
}

/// Every spelling, once.
pub(crate) fn instructions() -> Vec<Instruction> {
    let mut seen = std::collections::HashSet::new();
    let mut all = Vec::new();
    for (pattern, operands) in patterns() {
        let (to, from) = operands.split_once(':').unwrap();
        for opcode in expanded(&pattern) {
            if !seen.insert((opcode.clone(), operands)) {
                continue;
            }
            let words: Vec<&str> = opcode.split('.').collect();
            let register = |letter: char| match letter {
                't' => Register::of(words[words.len() - 1]),
                'b' => Register::of(words[words.len() - 2]),
                'w' => Register::Bits(2 * Register::of(words[words.len() - 1]).bits()),
                'p' => Register::Predicate,
                'i' => Register::Immediate,
                _ => Register::Bits(32),
            };
            let [to, from] = [to, from].map(|letters| letters.chars().map(register).collect());
            all.push(Instruction { opcode, to, from });
        }
    }
    all
}
