//! `mapa` and `getctarank`: where something lies in another block of the cluster, and in which block it lies.

use crate::instructions::shared_ptr::*;

instructions! { SINGLES:
    instruction "mapa", isa "data-movement-and-conversion-instructions-mapa", effect compute, T = u8 {
        /// The generic address, in the shared memory of the cluster's block `rank`, of what lies at `p` in this block's.
        /// On a CPU there is one block, and this is `p`.
        safe fn mapa<T>(p: *mut T as reg64, rank: u32 as reg32) -> (*mut T as there: reg64) {
            ptx: "mapa.u64" -> there, p, rank;
            needs: Clusters;
            cpu: p;
        }

        /// The place, in the shared memory of the cluster's block `rank`, of what lies at `p` in this block's. On a CPU
        /// there is one block, and this is `p`.
        safe fn mapa_shared_cluster<T>(p: SharedPtr<T> as shared, rank: u32 as reg32)
            -> (SharedClusterPtr<T> as there: reg32 => SharedClusterPtr::from_address(there))
        {
            ptx: "mapa.shared::cluster.u32" -> there, p, rank;
            needs: Clusters;
            cpu: SharedClusterPtr::at(p.address());
        }

        /// [`mapa_shared_cluster`] of addresses of 64 bits. On a CPU there is one block, and this is `address`.
        safe fn mapa_shared_cluster_u64(address: u64 as reg64, rank: u32 as reg32) -> (u64 as there: reg64) {
            ptx: "mapa.shared::cluster.u64" -> there, address, rank;
            needs: Clusters;
            cpu: address;
        }
    }

    instruction "getctarank", isa "data-movement-and-conversion-instructions-getctarank", effect compute, T = u8 {
        /// The rank in the cluster of the block in whose shared memory `p` points, a generic address. On a CPU there is one
        /// block, 0.
        safe fn getctarank<T>(p: *const T as reg64) -> (u32 as rank: reg32) {
            ptx: "getctarank.u64" -> rank, p;
            needs: Clusters;
            cpu: 0;
        }

        /// The rank in the cluster of the block in whose shared memory `p` points. On a CPU there is one block, 0.
        safe fn getctarank_shared_cluster<T>(p: SharedClusterPtr<T> as reg32 = p.cluster_address()) -> (u32 as rank: reg32) {
            ptx: "getctarank.shared::cluster.u32" -> rank, p;
            needs: Clusters;
            cpu: 0;
        }

        /// [`getctarank_shared_cluster`] of an address of 64 bits. On a CPU there is one block, 0.
        safe fn getctarank_shared_cluster_u64(address: u64 as reg64) -> (u32 as rank: reg32) {
            ptx: "getctarank.shared::cluster.u64" -> rank, address;
            needs: Clusters;
            cpu: 0;
        }
    }
}
