//! Where in a tensor, as arrays, and the arrays as words of `instructions!`.

mod sealed {
    pub trait Sealed {
        /// All of them.
        #[cfg(not(ptx_device))]
        fn all(&self) -> &[i32];
    }
}

/// Where in a tensor of one to five dimensions: `[x, y]`, the fastest dimension first. A box may begin before the tensor, or end
/// after it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a position in a tensor",
    label = "a tensor has one to five dimensions",
    note = "write an array of one to five `i32`"
)]
pub trait TensorCoordinates: Copy + sealed::Sealed {
    /// How many there are.
    #[doc(hidden)]
    #[cfg(ptx_device)]
    const DIMENSIONS: u32;
}

/// Where in a tensor that is read as columns of an image: three to five dimensions, with an offset
/// for each dimension but two.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a position in a tensor of columns",
    label = "such a tensor has three to five dimensions",
    note = "write an array of three to five `i32`, and one of two fewer `u16`"
)]
pub trait Im2colCoordinates: TensorCoordinates {
    /// The offsets within the image: `[u16; 1]` to `[u16; 3]`.
    type Offsets: Copy + AsRef<[u16]>;
}

/// Where in a tensor that is read as columns along the width of an image: three to five dimensions, with a halo and an offset.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a position in a tensor of columns along the width",
    label = "such a tensor has three to five dimensions",
    note = "write an array of three to five `i32`, and `[halo, offset]`"
)]
pub trait Im2colWidthCoordinates: TensorCoordinates {
    /// The halo and the offset: `[u16; 2]`.
    type Offsets: Copy + AsRef<[u16]>;
}

macro_rules! coordinates {
    ($($dimensions:literal $($offsets:literal)?;)*) => { $(
        impl sealed::Sealed for [i32; $dimensions] {
            #[cfg(not(ptx_device))]
            fn all(&self) -> &[i32] {
                self
            }
        }
        #[diagnostic::do_not_recommend]
        impl TensorCoordinates for [i32; $dimensions] {
            #[cfg(ptx_device)]
            const DIMENSIONS: u32 = $dimensions;
        }
        $(
            #[diagnostic::do_not_recommend]
            impl Im2colCoordinates for [i32; $dimensions] {
                type Offsets = [u16; $offsets];
            }
            #[diagnostic::do_not_recommend]
            impl Im2colWidthCoordinates for [i32; $dimensions] {
                type Offsets = [u16; 2];
            }
        )?
    )* };
}
coordinates! { 1; 2; 3 1; 4 2; 5 3; }

/// The numbers of dimensions as words: `<D in dimensions>`.
macro_rules! dimensions {
    ($callback:ident $parameter:ident $row:tt) => {
        $callback! {
            @words $parameter [$crate::instructions::coordinates::TensorCoordinates]
            [$parameter::DIMENSIONS;
                (1 => ".1d" "[i32; 1]", BulkCopies ([i32; 1] as "{{{a}}}" [a] in reg32))
                (2 => ".2d" "[i32; 2]", BulkCopies ([i32; 2] as "{{{a}, {b}}}" [a b] in reg32))
                (3 => ".3d" "[i32; 3]", BulkCopies ([i32; 3] as "{{{a}, {b}, {c}}}" [a b c] in reg32))
                (4 => ".4d" "[i32; 4]", BulkCopies ([i32; 4] as "{{{a}, {b}, {c}, {d}}}" [a b c d] in reg32))
                (_ => ".5d" "[i32; 5]", BulkCopies ([i32; 5] as "{{{a}, {b}, {c}, {d}, {e}}}" [a b c d e] in reg32))
            ]
            ".dim" "", $row
        }
    };
}

/// Those of columns, with an offset for each dimension but two: `<D in im2col_dimensions>`.
macro_rules! im2col_dimensions {
    ($callback:ident $parameter:ident $row:tt) => {
        $callback! {
            @words $parameter [$crate::instructions::coordinates::Im2colCoordinates]
            [$parameter::DIMENSIONS;
                (3 => ".3d" "[i32; 3]", BulkCopies ([i32; 3] as "{{{a}, {b}, {c}}}" [a b c] in reg32, [u16; 1] as "{{{x}}}" [x] in reg16))
                (4 => ".4d" "[i32; 4]", BulkCopies ([i32; 4] as "{{{a}, {b}, {c}, {d}}}" [a b c d] in reg32, [u16; 2] as "{{{x}, {y}}}" [x y] in reg16))
                (_ => ".5d" "[i32; 5]", BulkCopies ([i32; 5] as "{{{a}, {b}, {c}, {d}, {e}}}" [a b c d e] in reg32, [u16; 3] as "{{{x}, {y}, {z}}}" [x y z] in reg16))
            ]
            ".dim" "", $row
        }
    };
}

/// Those of columns along the width, with a halo and an offset: `<D in width_dimensions>`.
macro_rules! width_dimensions {
    ($callback:ident $parameter:ident $row:tt) => {
        $callback! {
            @words $parameter [$crate::instructions::coordinates::Im2colWidthCoordinates]
            [$parameter::DIMENSIONS;
                (3 => ".3d" "[i32; 3]", BulkCopies ([i32; 3] as "{{{a}, {b}, {c}}}" [a b c] in reg32, [u16; 2] as "{{{x}, {y}}}" [x y] in reg16))
                (4 => ".4d" "[i32; 4]", BulkCopies ([i32; 4] as "{{{a}, {b}, {c}, {d}}}" [a b c d] in reg32, [u16; 2] as "{{{x}, {y}}}" [x y] in reg16))
                (_ => ".5d" "[i32; 5]", BulkCopies ([i32; 5] as "{{{a}, {b}, {c}, {d}, {e}}}" [a b c d e] in reg32, [u16; 2] as "{{{x}, {y}}}" [x y] in reg16))
            ]
            ".dim" "", $row
        }
    };
}

/// The same of 128 pixels: `<D in halo_dimensions>`.
macro_rules! halo_dimensions {
    ($callback:ident $parameter:ident $row:tt) => {
        width_dimensions! { $callback $parameter $row }
    };
}

/// The same without offsets: `<D in image_dimensions>`.
macro_rules! image_dimensions {
    ($callback:ident $parameter:ident $row:tt) => {
        $callback! {
            @words $parameter [$crate::instructions::coordinates::Im2colCoordinates]
            [$parameter::DIMENSIONS;
                (3 => ".3d" "[i32; 3]", BulkCopies ([i32; 3] as "{{{a}, {b}, {c}}}" [a b c] in reg32))
                (4 => ".4d" "[i32; 4]", BulkCopies ([i32; 4] as "{{{a}, {b}, {c}, {d}}}" [a b c d] in reg32))
                (_ => ".5d" "[i32; 5]", BulkCopies ([i32; 5] as "{{{a}, {b}, {c}, {d}, {e}}}" [a b c d e] in reg32))
            ]
            ".dim" "", $row
        }
    };
}

/// Where in a matrix of which four rows are copied: the column, then the four rows.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not name a column and four rows of a matrix",
    label = "four rows are copied, each from the same column on",
    note = "write an array of five `i32`: `[column, row, row, row, row]`"
)]
pub trait GatherCoordinates: TensorCoordinates {}
#[diagnostic::do_not_recommend]
impl GatherCoordinates for [i32; 5] {}

/// They are two dimensions: `<D in four_rows>`.
macro_rules! four_rows {
    ($callback:ident $parameter:ident $row:tt) => {
        $callback! {
            @words $parameter [$crate::instructions::coordinates::GatherCoordinates]
            [$parameter::DIMENSIONS;
                (_ => ".2d" "[i32; 5]", Always ([i32; 5] as "{{{a}, {b}, {c}, {d}, {e}}}" [a b c d e] in reg32))
            ]
            ".2d" "", $row
        }
    };
}
