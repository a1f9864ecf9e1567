//! Which word the crate takes to be meant. The judge of mutants compiles this text against other copies of the crate too.

/// The word that the crate takes to be meant by a spelling with a word that PTX does not have.
pub fn meant(spelling: &'static str) -> Option<&'static str> {
    match spelling.starts_with("atom") {
        true => ptx_intrinsics::grammar::atomic::judge_atomic(spelling, false).err()?.meant(),
        false => ptx_intrinsics::grammar::access::Spelling::read(spelling).err()?.meant(),
    }
}
