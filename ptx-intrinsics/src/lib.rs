#![no_std]
//! Typed PTX memory instructions.
