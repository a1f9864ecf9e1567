//! A stand-in of cuda-oxide's marker functions: each prints what it is called with, and gives numbers that tell which
//! output they are.

pub mod ptx {
    /// The results of a block: output number `k` has bytes of `0xe0 + k`.
    pub trait Outputs {
        fn numbered() -> Self;
    }

    macro_rules! single {
        ($($type:ident)*) => { $(
            impl Outputs for $type {
                fn numbered() -> Self {
                    <($type,)>::numbered().0
                }
            }
        )* };
    }
    single! { u16 u32 u64 }

    macro_rules! several {
        ($($type:ident $number:literal)*) => {
            impl<$($type: Number),*> Outputs for ($($type,)*) {
                fn numbered() -> Self {
                    ($($type::of(0xe0 + $number),)*)
                }
            }
        };
    }
    several! { A 0 }
    several! { A 0 B 1 }
    several! { A 0 B 1 C 2 }
    several! { A 0 B 1 C 2 D 3 }
    several! { A 0 B 1 C 2 D 3 E 4 }
    several! { A 0 B 1 C 2 D 3 E 4 F 5 }
    several! { A 0 B 1 C 2 D 3 E 4 F 5 G 6 }
    several! { A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 }

    /// A number all of whose bytes are the same.
    pub trait Number: Copy {
        fn of(byte: u8) -> Self;
    }

    macro_rules! numbers {
        ($($type:ident)*) => { $(
            impl Number for $type {
                fn of(byte: u8) -> Self {
                    $type::from_ne_bytes([byte; size_of::<$type>()])
                }
            }
        )* };
    }
    numbers! { u16 u32 u64 }

    /// What an argument is, and its bytes.
    fn shown<T: Copy>(value: T) -> String {
        // SAFETY: numbers have no padding.
        let bytes = unsafe { std::slice::from_raw_parts((&raw const value).cast::<u8>(), size_of::<T>()) };
        let bytes: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("{}:{bytes}", std::any::type_name::<T>())
    }

    fn print(outputs: &str, constants: [&[u8]; 3], arguments: &[String]) {
        let [template, constraints, options] = constants.map(|text| std::str::from_utf8(text).expect("PTX is ASCII"));
        println!("{outputs}\t{template:?}\t{constraints}\t{options}\t{}", arguments.join(" "));
    }

    macro_rules! markers {
        ($($out:ident $void:ident($($argument:ident: $type:ident),*);)*) => { $(
            #[allow(clippy::too_many_arguments, clippy::missing_safety_doc)]
            pub unsafe fn $out<T: Outputs, const L: usize, const M: usize, const N: usize, $($type: Copy),*>(
                template: &'static [u8; L], constraints: &'static [u8; M], options: &'static [u8; N], $($argument: $type),*
            ) -> T {
                print(std::any::type_name::<T>(), [template, constraints, options], &[$(shown($argument)),*]);
                T::numbered()
            }
            #[allow(clippy::too_many_arguments, clippy::missing_safety_doc)]
            pub unsafe fn $void<const L: usize, const M: usize, const N: usize, $($type: Copy),*>(
                template: &'static [u8; L], constraints: &'static [u8; M], options: &'static [u8; N], $($argument: $type),*
            ) {
                print("()", [template, constraints, options], &[$(shown($argument)),*]);
            }
        )* };
    }
    markers! {
        __ptx_asm_out_0 __ptx_asm_void_0();
        __ptx_asm_out_1 __ptx_asm_void_1(a0: A0);
        __ptx_asm_out_2 __ptx_asm_void_2(a0: A0, a1: A1);
        __ptx_asm_out_3 __ptx_asm_void_3(a0: A0, a1: A1, a2: A2);
        __ptx_asm_out_4 __ptx_asm_void_4(a0: A0, a1: A1, a2: A2, a3: A3);
        __ptx_asm_out_5 __ptx_asm_void_5(a0: A0, a1: A1, a2: A2, a3: A3, a4: A4);
        __ptx_asm_out_6 __ptx_asm_void_6(a0: A0, a1: A1, a2: A2, a3: A3, a4: A4, a5: A5);
        __ptx_asm_out_7 __ptx_asm_void_7(a0: A0, a1: A1, a2: A2, a3: A3, a4: A4, a5: A5, a6: A6);
        __ptx_asm_out_8 __ptx_asm_void_8(a0: A0, a1: A1, a2: A2, a3: A3, a4: A4, a5: A5, a6: A6, a7: A7);
        __ptx_asm_out_9 __ptx_asm_void_9(a0: A0, a1: A1, a2: A2, a3: A3, a4: A4, a5: A5, a6: A6, a7: A7, a8: A8);
        __ptx_asm_out_10 __ptx_asm_void_10(a0: A0, a1: A1, a2: A2, a3: A3, a4: A4, a5: A5, a6: A6, a7: A7, a8: A8, a9: A9);
        __ptx_asm_out_11 __ptx_asm_void_11(a0: A0, a1: A1, a2: A2, a3: A3, a4: A4, a5: A5, a6: A6, a7: A7, a8: A8, a9: A9, a10: A10);
        __ptx_asm_out_12 __ptx_asm_void_12(a0: A0, a1: A1, a2: A2, a3: A3, a4: A4, a5: A5, a6: A6, a7: A7, a8: A8, a9: A9, a10: A10, a11: A11);
        __ptx_asm_out_13 __ptx_asm_void_13(a0: A0, a1: A1, a2: A2, a3: A3, a4: A4, a5: A5, a6: A6, a7: A7, a8: A8, a9: A9, a10: A10, a11: A11, a12: A12);
        __ptx_asm_out_14 __ptx_asm_void_14(a0: A0, a1: A1, a2: A2, a3: A3, a4: A4, a5: A5, a6: A6, a7: A7, a8: A8, a9: A9, a10: A10, a11: A11, a12: A12, a13: A13);
        __ptx_asm_out_15 __ptx_asm_void_15(a0: A0, a1: A1, a2: A2, a3: A3, a4: A4, a5: A5, a6: A6, a7: A7, a8: A8, a9: A9, a10: A10, a11: A11, a12: A12, a13: A13, a14: A14);
        __ptx_asm_out_16 __ptx_asm_void_16(a0: A0, a1: A1, a2: A2, a3: A3, a4: A4, a5: A5, a6: A6, a7: A7, a8: A8, a9: A9, a10: A10, a11: A11, a12: A12, a13: A13, a14: A14, a15: A15);
        __ptx_asm_out_17 __ptx_asm_void_17(a0: A0, a1: A1, a2: A2, a3: A3, a4: A4, a5: A5, a6: A6, a7: A7, a8: A8, a9: A9, a10: A10, a11: A11, a12: A12, a13: A13, a14: A14, a15: A15, a16: A16);
        __ptx_asm_out_18 __ptx_asm_void_18(a0: A0, a1: A1, a2: A2, a3: A3, a4: A4, a5: A5, a6: A6, a7: A7, a8: A8, a9: A9, a10: A10, a11: A11, a12: A12, a13: A13, a14: A14, a15: A15, a16: A16, a17: A17);
        __ptx_asm_out_19 __ptx_asm_void_19(a0: A0, a1: A1, a2: A2, a3: A3, a4: A4, a5: A5, a6: A6, a7: A7, a8: A8, a9: A9, a10: A10, a11: A11, a12: A12, a13: A13, a14: A14, a15: A15, a16: A16, a17: A17, a18: A18);
        __ptx_asm_out_20 __ptx_asm_void_20(a0: A0, a1: A1, a2: A2, a3: A3, a4: A4, a5: A5, a6: A6, a7: A7, a8: A8, a9: A9, a10: A10, a11: A11, a12: A12, a13: A13, a14: A14, a15: A15, a16: A16, a17: A17, a18: A18, a19: A19);
        __ptx_asm_out_21 __ptx_asm_void_21(a0: A0, a1: A1, a2: A2, a3: A3, a4: A4, a5: A5, a6: A6, a7: A7, a8: A8, a9: A9, a10: A10, a11: A11, a12: A12, a13: A13, a14: A14, a15: A15, a16: A16, a17: A17, a18: A18, a19: A19, a20: A20);
        __ptx_asm_out_22 __ptx_asm_void_22(a0: A0, a1: A1, a2: A2, a3: A3, a4: A4, a5: A5, a6: A6, a7: A7, a8: A8, a9: A9, a10: A10, a11: A11, a12: A12, a13: A13, a14: A14, a15: A15, a16: A16, a17: A17, a18: A18, a19: A19, a20: A20, a21: A21);
        __ptx_asm_out_23 __ptx_asm_void_23(a0: A0, a1: A1, a2: A2, a3: A3, a4: A4, a5: A5, a6: A6, a7: A7, a8: A8, a9: A9, a10: A10, a11: A11, a12: A12, a13: A13, a14: A14, a15: A15, a16: A16, a17: A17, a18: A18, a19: A19, a20: A20, a21: A21, a22: A22);
        __ptx_asm_out_24 __ptx_asm_void_24(a0: A0, a1: A1, a2: A2, a3: A3, a4: A4, a5: A5, a6: A6, a7: A7, a8: A8, a9: A9, a10: A10, a11: A11, a12: A12, a13: A13, a14: A14, a15: A15, a16: A16, a17: A17, a18: A18, a19: A19, a20: A20, a21: A21, a22: A22, a23: A23);
    }
}
