//! What a newcomer's machine can get wrong, and what the harness says then. Each test has a machine of its own:
//! a folder with fake programs, of which `PATH` names nothing else.

mod machine;
mod ptx;
mod toolchains;
mod tools;
