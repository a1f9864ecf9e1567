//! What others call a word of PTX: a mistake that has such a name is answered by the word.

/// A spelling with one word that PTX does not have, the word, and the one that is meant.
pub const MISTAKES: [(&str, &str, &str); 62] = [
    ("ld.global.i8", ".i8", ".s8"),
    ("ld.global.int8", ".int8", ".s8"),
    ("ld.global.i16", ".i16", ".s16"),
    ("ld.global.int16", ".int16", ".s16"),
    ("ld.global.short", ".short", ".s16"),
    ("ld.global.i32", ".i32", ".s32"),
    ("ld.global.int32", ".int32", ".s32"),
    ("ld.global.int", ".int", ".s32"),
    ("ld.global.i64", ".i64", ".s64"),
    ("ld.global.int64", ".int64", ".s64"),
    ("ld.global.long", ".long", ".s64"),
    ("ld.global.isize", ".isize", ".s64"),
    ("ld.global.uint8", ".uint8", ".u8"),
    ("ld.global.bool", ".bool", ".u8"),
    ("ld.global.uint16", ".uint16", ".u16"),
    ("ld.global.ushort", ".ushort", ".u16"),
    ("ld.global.uint32", ".uint32", ".u32"),
    ("ld.global.uint", ".uint", ".u32"),
    ("ld.global.uint64", ".uint64", ".u64"),
    ("ld.global.ulong", ".ulong", ".u64"),
    ("ld.global.usize", ".usize", ".u64"),
    ("ld.global.float", ".float", ".f32"),
    ("ld.global.float32", ".float32", ".f32"),
    ("ld.global.double", ".double", ".f64"),
    ("ld.global.float64", ".float64", ".f64"),
    ("ld.global.u128", ".u128", ".b128"),
    ("ld.global.i128", ".i128", ".b128"),
    ("ld.global.s128", ".s128", ".b128"),
    ("ld.global.f128", ".f128", ".b128"),
    ("ld.global.float2", ".float2", ".v2.f32"),
    ("ld.global.double2", ".double2", ".v2.f64"),
    ("ld.global.int2", ".int2", ".v2.s32"),
    ("ld.global.uint2", ".uint2", ".v2.u32"),
    ("ld.global.float4", ".float4", ".v4.f32"),
    ("ld.global.int4", ".int4", ".v4.s32"),
    ("ld.global.uint4", ".uint4", ".v4.u32"),
    ("ld.global.vec2.f32", ".vec2", ".v2"),
    ("ld.global.x2.f32", ".x2", ".v2"),
    ("ld.global.vec4.f32", ".vec4", ".v4"),
    ("ld.global.x4.f32", ".x4", ".v4"),
    ("ld.global.vec8.f32", ".vec8", ".v8"),
    ("ld.global.x8.f32", ".x8", ".v8"),
    // No form is listed with these three words.
    ("ld.week.global.u32", ".week", ".weak"),
    ("ld.shared::cat.u32", ".shared::cat", ".shared::cta"),
    ("ld.params.u32", ".params", ".param"),
    ("ld.relaxed.block.f32", ".block", ".cta"),
    ("ld.relaxed.workgroup.f32", ".workgroup", ".cta"),
    ("ld.relaxed.device.f32", ".device", ".gpu"),
    ("ld.relaxed.system.f32", ".system", ".sys"),
    ("ld.global.readonly.f32", ".readonly", ".nc"),
    ("ld.global.noncoherent.f32", ".noncoherent", ".nc"),
    ("ld.global.non_coherent.f32", ".non_coherent", ".nc"),
    ("ld.global.ldg.f32", ".ldg", ".nc"),
    ("ld.global.stream.f32", ".stream", ".cs"),
    ("ld.global.streaming.f32", ".streaming", ".cs"),
    ("ld.global.no_alloc.f32", ".no_alloc", ".L1::no_allocate"),
    ("ld.global.L1::bypass.f32", ".L1::bypass", ".L1::no_allocate"),
    ("ld.global.L1::no_cache.f32", ".L1::no_cache", ".L1::no_allocate"),
    ("atom.global.swap.b32", ".swap", ".exch"),
    ("atom.global.exchange.b32", ".exchange", ".exch"),
    ("atom.global.compare_exchange.b32", ".compare_exchange", ".cas"),
    ("atom.global.cmpxchg.b32", ".cmpxchg", ".cas"),
];

#[cfg(test)]
mod tests {
    use ptx_intrinsics::grammar::{access::Spelling, atomic::judge_atomic, multimem::judge_multimem};

    use super::*;

    /// The word that the crate suggests for a spelling with a word that PTX does not have.
    fn suggested(spelling: &'static str) -> Option<&'static str> {
        match spelling.split('.').next() {
            Some("atom") => judge_atomic(spelling, false).err()?.suggestion(),
            Some("multimem") => judge_multimem(spelling).err()?.suggestion(),
            _ => Spelling::read(spelling).err()?.suggestion(),
        }
    }

    #[test]
    fn each_other_name_leads_to_the_word() {
        let wrong: Vec<String> = MISTAKES
            .iter()
            .filter(|(spelling, _, word)| suggested(spelling) != Some(word))
            .map(|(spelling, name, word)| format!("{spelling}: {name} leads to {:?}, not {word}", suggested(spelling)))
            .collect();
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}
