//! Orders are kept: by the compiler around the access, and by the assembler in the access.

mod assembler;
mod compiler;
