//! The macros that `std` has and `core` has not: on a GPU each is an error that says what to do.

macro_rules! not_on_a_gpu {
    ($d:tt $($name:ident $instead:literal;)*) => { $(
        #[doc(hidden)]
        #[macro_export]
        macro_rules! $name {
            ($d($d rest:tt)*) => {
                ::core::compile_error!(concat!("a GPU has no `", stringify!($name), "!`: ", $instead))
            };
        }
    )* };
}
not_on_a_gpu! {
    $
    print "store the value to memory, and print it on the host";
    println "store the value to memory, and print it on the host";
    eprint "store the value to memory, and print it on the host";
    eprintln "store the value to memory, and print it on the host";
    dbg "store the value to memory, and print it on the host";
    format "store the value to memory, and format it on the host";
    vec "use an array, or memory that the host allocates";
}
