//! The driver's own functions, by their names.

/// A struct `Calls` of functions of the driver, each with its name and types.
#[macro_export]
macro_rules! calls {
    ($($name:ident: $symbol:literal ($($type:ty),*);)*) => {
        #[derive(Clone, Copy, Debug)]
        struct Calls {
            $($name: unsafe extern "C" fn($($type),*) -> u32,)*
        }

        impl Calls {
            /// Those of a driver. An error is the name of the one that it lacks.
            fn of(driver: &ptx_driver::Driver) -> Result<Calls, &'static str> {
                Ok(Calls { $($name: {
                    // SAFETY: these are the functions' types.
                    let found = unsafe { driver.symbol::<unsafe extern "C" fn($($type),*) -> u32>($symbol) };
                    found.ok_or($symbol.to_str().unwrap_or_default())?
                },)* })
            }
        }
    };
}
