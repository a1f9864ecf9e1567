//! The methods of floats that `std` has and `core` has not: on a GPU each is an error that says what to write.

/// Each is a method, and a bound of the same name that no type meets.
macro_rules! not_on_a_gpu {
    ($($method:ident($($argument:ident: $type:ty),*) $message:literal;)*) => {
        $(
            #[doc(hidden)]
            #[allow(non_camel_case_types, reason = "it is the method's")]
            #[diagnostic::on_unimplemented(
                message = $message,
                label = "not on a GPU",
                note = "for an `f64`, and for what no instruction does, there is the crate `libm`"
            )]
            pub trait $method {}
        )*

        /// It takes `&self`, so that a trait of the user's with methods of these names goes first.
        #[doc(hidden)]
        pub trait NotOnAGpu: Copy {
            $(
                #[doc(hidden)]
                fn $method(&self, $(_: $type),*) -> Self
                where
                    Self: $method,
                {
                    *self
                }
            )*
        }
        impl NotOnAGpu for f32 {}
        impl NotOnAGpu for f64 {}
    };
}
not_on_a_gpu! {
    exp() "a GPU has no `{Self}::exp`: write `exp2_approx(x * core::f32::consts::LOG2_E)`";
    exp2() "a GPU has no `{Self}::exp2`: write `exp2_approx(x)`";
    ln() "a GPU has no `{Self}::ln`: write `log2_approx(x) * core::f32::consts::LN_2`";
    log2() "a GPU has no `{Self}::log2`: write `log2_approx(x)`";
    log10() "a GPU has no `{Self}::log10`: write `log2_approx(x) * core::f32::consts::LOG10_2`";
    powf(y: Self) "a GPU has no `{Self}::powf`: for a positive `x` write `exp2_approx(y * log2_approx(x))`";
    powi(n: i32) "a GPU has no `{Self}::powi`: write the products";
    sqrt() "a GPU has no `{Self}::sqrt`: write `sqrt_approx(x)`, or for one over it `rsqrt_approx(x)`";
    sin() "a GPU has no `{Self}::sin`: write `sin_approx(x)`, for an angle between −π and π";
    cos() "a GPU has no `{Self}::cos`: write `cos_approx(x)`, for an angle between −π and π";
    tan() "a GPU has no `{Self}::tan`: write `sin_approx(x) * rcp_approx(cos_approx(x))`, for an angle between −π and π";
    tanh() "a GPU has no `{Self}::tanh`: write `tanh_approx(x)`";
    mul_add(a: Self, b: Self) "a GPU has no method `{Self}::mul_add`: write `mul_add(x, a, b)`";
    floor() "a GPU has no `{Self}::floor`: convert to an integer, `x as i32`";
    ceil() "a GPU has no `{Self}::ceil`: convert to an integer, `x as i32`";
    round() "a GPU has no `{Self}::round`: convert to an integer, `x as i32`";
    trunc() "a GPU has no `{Self}::trunc`: convert to an integer, `x as i32`";
}
