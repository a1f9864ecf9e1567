//! `mapa` and `getctarank`: where something lies in another block of the cluster, and in which block it lies.

use crate::instructions::shared_ptr::*;
use crate::isa::gate::*;

#[cfg(not(target_arch = "nvptx64"))]
use crate::isa::row::{Signature, Single};

gated! { mapa_u64 mapa_shared_cluster getctarank_u64 getctarank_shared_cluster }

/// The generic address, in the shared memory of the cluster's block `rank`, of what lies at `p` in this block's.
///
/// PTX: `mapa.u64 there, p, rank;`. Needs sm_90 and ptx78. Off the GPU there is one block, and this is `p`.
///
#[doc = isa_link!("mapa" "data-movement-and-conversion-instructions-mapa")]
#[doc(alias = "mapa.u64")]
#[inline(always)]
pub fn mapa<T>(p: *mut T, rank: u32) -> *mut T
where
    Clusters: OnTarget<mapa_u64, T>,
{
    #[cfg(target_arch = "nvptx64")]
    {
        let there: *mut T;
        compute! {
            ["mapa.u64 {there}, {p}, {rank};"] there = out(reg64) there, p = in(reg64) p, rank = in(reg32) rank,
        }
        there
    }
    #[cfg(not(target_arch = "nvptx64"))]
    {
        let _ = rank;
        p
    }
}

/// The place, in the shared memory of the cluster's block `rank`, of what lies at `p` in this block's.
///
/// PTX: `mapa.shared::cluster.u32 there, p, rank;`. Needs sm_90 and ptx78. Off the GPU there is one block, and this is `p`.
///
#[doc = isa_link!("mapa" "data-movement-and-conversion-instructions-mapa")]
#[doc(alias = "mapa.shared::cluster.u32")]
#[inline(always)]
pub fn mapa_shared_cluster<T>(p: SharedPtr<T>, rank: u32) -> SharedClusterPtr<T>
where
    Clusters: OnTarget<SharedClusterPtr<T>, T>,
{
    #[cfg(target_arch = "nvptx64")]
    {
        let there: u32;
        compute! {
            ["mapa.shared::cluster.u32 {there}, {p}, {rank};"]
            there = out(reg32) there, p = in(reg32) p.address(), rank = in(reg32) rank,
        }
        SharedClusterPtr::from_address(there)
    }
    #[cfg(not(target_arch = "nvptx64"))]
    {
        let _ = rank;
        SharedClusterPtr::new(p.address().cast())
    }
}

/// [`mapa_shared_cluster`] of addresses of 64 bits.
///
/// PTX: `mapa.shared::cluster.u64 there, address, rank;`. Needs sm_90 and ptx78. Off the GPU there is one block, and this is
/// `address`.
///
#[doc = isa_link!("mapa" "data-movement-and-conversion-instructions-mapa")]
#[doc(alias = "mapa.shared::cluster.u64")]
#[inline(always)]
pub fn mapa_shared_cluster_u64(address: u64, rank: u32) -> u64
where
    for<'a> Clusters: OnTarget<mapa_shared_cluster, &'a ()>,
{
    #[cfg(target_arch = "nvptx64")]
    {
        let there: u64;
        compute! {
            ["mapa.shared::cluster.u64 {there}, {address}, {rank};"]
            there = out(reg64) there, address = in(reg64) address, rank = in(reg32) rank,
        }
        there
    }
    #[cfg(not(target_arch = "nvptx64"))]
    {
        let _ = rank;
        address
    }
}

/// The rank in the cluster of the block in whose shared memory `p` points, a generic address.
///
/// PTX: `getctarank.u64 rank, p;`. Needs sm_90 and ptx78. Off the GPU there is one block, 0.
///
#[doc = isa_link!("getctarank" "data-movement-and-conversion-instructions-getctarank")]
#[doc(alias = "getctarank.u64")]
#[inline(always)]
pub fn getctarank<T>(p: *const T) -> u32
where
    Clusters: OnTarget<getctarank_u64, T>,
{
    #[cfg(target_arch = "nvptx64")]
    {
        let rank: u32;
        compute! { ["getctarank.u64 {rank}, {p};"] rank = out(reg32) rank, p = in(reg64) p, }
        rank
    }
    #[cfg(not(target_arch = "nvptx64"))]
    {
        let _ = p;
        0
    }
}

/// The rank in the cluster of the block in whose shared memory `p` points.
///
/// PTX: `getctarank.shared::cluster.u32 rank, p;`. Needs sm_90 and ptx78. Off the GPU there is one block, 0.
///
#[doc = isa_link!("getctarank" "data-movement-and-conversion-instructions-getctarank")]
#[doc(alias = "getctarank.shared::cluster.u32")]
#[inline(always)]
pub fn getctarank_shared_cluster<T>(p: SharedClusterPtr<T>) -> u32
where
    Clusters: OnTarget<getctarank_shared_cluster, T>,
{
    #[cfg(target_arch = "nvptx64")]
    {
        let rank: u32;
        compute! {
            ["getctarank.shared::cluster.u32 {rank}, {p};"] rank = out(reg32) rank, p = in(reg32) p.cluster_address(),
        }
        rank
    }
    #[cfg(not(target_arch = "nvptx64"))]
    {
        let _ = p;
        0
    }
}

/// [`getctarank_shared_cluster`] of an address of 64 bits.
///
/// PTX: `getctarank.shared::cluster.u64 rank, address;`. Needs sm_90 and ptx78. Off the GPU there is one block, 0.
///
#[doc = isa_link!("getctarank" "data-movement-and-conversion-instructions-getctarank")]
#[doc(alias = "getctarank.shared::cluster.u64")]
#[inline(always)]
pub fn getctarank_shared_cluster_u64(address: u64) -> u32
where
    for<'a> Clusters: OnTarget<getctarank_shared_cluster, &'a ()>,
{
    #[cfg(target_arch = "nvptx64")]
    {
        let rank: u32;
        compute! {
            ["getctarank.shared::cluster.u64 {rank}, {address};"] rank = out(reg32) rank, address = in(reg64) address,
        }
        rank
    }
    #[cfg(not(target_arch = "nvptx64"))]
    {
        let _ = address;
        0
    }
}

#[cfg(not(target_arch = "nvptx64"))]
macro_rules! cluster {
    ($($instruction:literal $rust:literal $ptx:literal $parameters:literal $result:literal $operands:literal;)*) => {
        &[$(Single::gated::<Clusters>(
            $instruction,
            $rust,
            $ptx,
            Signature { parameters: $parameters, result: Some($result), operands: $operands },
        ),)*]
    };
}
/// Every `mapa` and `getctarank`.
#[cfg(not(target_arch = "nvptx64"))]
pub(crate) const SINGLES: &[Single] = cluster! {
    "mapa" "mapa(p, rank)" "mapa.u64" "p: *mut u8, rank: u32" "*mut u8" "%, %, %";
    "mapa" "mapa_shared_cluster(p, rank)" "mapa.shared::cluster.u32"
        "p: SharedPtr<u8>, rank: u32" "SharedClusterPtr<u8>" "%, %, %";
    "mapa" "mapa_shared_cluster_u64(address, rank)" "mapa.shared::cluster.u64" "address: u64, rank: u32" "u64" "%, %, %";
    "getctarank" "getctarank(p)" "getctarank.u64" "p: *const u8" "u32" "%, %";
    "getctarank" "getctarank_shared_cluster(p)" "getctarank.shared::cluster.u32" "p: SharedClusterPtr<u8>" "u32" "%, %";
    "getctarank" "getctarank_shared_cluster_u64(address)" "getctarank.shared::cluster.u64" "address: u64" "u32" "%, %";
};
