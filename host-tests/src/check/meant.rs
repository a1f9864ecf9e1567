//! Which word the crate takes to be meant. The judge of mutants compiles this text against other copies of the crate too.

/// The word that the crate takes to be meant by a spelling with a word that PTX does not have.
pub fn meant(spelling: &'static str) -> Option<&'static str> {
    use ptx_intrinsics::grammar::{access::Spelling, atomic::judge_atomic, multimem::judge_multimem};
    match spelling.split('.').next() {
        Some("atom") => judge_atomic(spelling, false).err()?.meant(),
        Some("multimem") => judge_multimem(spelling).err()?.meant(),
        _ => Spelling::read(spelling).err()?.meant(),
    }
}
