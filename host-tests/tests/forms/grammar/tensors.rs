//! The syntax of tensor copies and reductions, copied from their pages.

/// The productions, and the operands that each takes, as in [`WITH_OPERANDS`](super::productions::WITH_OPERANDS).
pub(super) const TENSORS: &[(&str, &[&str])] = &[
    (
        "cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes{.pair}{.hint}",
        &["[%], [%, {%}], [%]"],
    ),
    (
        "cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster{.pair}{.hint}",
        &["[%], [%, {%}], [%], %"],
    ),
    (
        "cp.async.bulk.tensor.1d.shared::cta.global.tile.mbarrier::complete_tx::bytes{.pair}{.hint}",
        &["[%], [%, {%}], [%]"],
    ),
    ("cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group{.hint}", &["[%, {%}], [%]"]),
    ("cp.reduce.async.bulk.tensor.1d.global.shared::cta.redop.tile.bulk_group{.hint}", &["[%, {%}], [%]"]),
    (
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes{.pair}{.hint}",
        &["[%], [%, {%, %}], [%]"],
    ),
    (
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster{.pair}{.hint}",
        &["[%], [%, {%, %}], [%], %"],
    ),
    (
        "cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes{.pair}{.hint}",
        &["[%], [%, {%, %}], [%]"],
    ),
    ("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group{.hint}", &["[%, {%, %}], [%]"]),
    ("cp.reduce.async.bulk.tensor.2d.global.shared::cta.redop.tile.bulk_group{.hint}", &["[%, {%, %}], [%]"]),
    (
        "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes{.pair}{.hint}",
        &["[%], [%, {%, %, %}], [%]"],
    ),
    (
        "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster{.pair}{.hint}",
        &["[%], [%, {%, %, %}], [%], %"],
    ),
    (
        "cp.async.bulk.tensor.3d.shared::cta.global.tile.mbarrier::complete_tx::bytes{.pair}{.hint}",
        &["[%], [%, {%, %, %}], [%]"],
    ),
    ("cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group{.hint}", &["[%, {%, %, %}], [%]"]),
    ("cp.reduce.async.bulk.tensor.3d.global.shared::cta.redop.tile.bulk_group{.hint}", &["[%, {%, %, %}], [%]"]),
    (
        "cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes{.pair}{.hint}",
        &["[%], [%, {%, %, %, %}], [%]"],
    ),
    (
        "cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster{.pair}{.hint}",
        &["[%], [%, {%, %, %, %}], [%], %"],
    ),
    (
        "cp.async.bulk.tensor.4d.shared::cta.global.tile.mbarrier::complete_tx::bytes{.pair}{.hint}",
        &["[%], [%, {%, %, %, %}], [%]"],
    ),
    ("cp.async.bulk.tensor.4d.global.shared::cta.tile.bulk_group{.hint}", &["[%, {%, %, %, %}], [%]"]),
    ("cp.reduce.async.bulk.tensor.4d.global.shared::cta.redop.tile.bulk_group{.hint}", &["[%, {%, %, %, %}], [%]"]),
    (
        "cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes{.pair}{.hint}",
        &["[%], [%, {%, %, %, %, %}], [%]"],
    ),
    (
        "cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster{.pair}{.hint}",
        &["[%], [%, {%, %, %, %, %}], [%], %"],
    ),
    (
        "cp.async.bulk.tensor.5d.shared::cta.global.tile.mbarrier::complete_tx::bytes{.pair}{.hint}",
        &["[%], [%, {%, %, %, %, %}], [%]"],
    ),
    ("cp.async.bulk.tensor.5d.global.shared::cta.tile.bulk_group{.hint}", &["[%, {%, %, %, %, %}], [%]"]),
    ("cp.reduce.async.bulk.tensor.5d.global.shared::cta.redop.tile.bulk_group{.hint}", &["[%, {%, %, %, %, %}], [%]"]),
    (
        "cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes{.pair}{.hint}",
        &["[%], [%, {%, %, %, %, %}], [%]"],
    ),
    (
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile::gather4.mbarrier::complete_tx::bytes{.pair}{.hint}",
        &["[%], [%, {%, %, %, %, %}], [%]"],
    ),
    (
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile::gather4.mbarrier::complete_tx::bytes.multicast::cluster{.pair}{.hint}",
        &["[%], [%, {%, %, %, %, %}], [%], %"],
    ),
    ("cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group{.hint}", &["[%, {%, %, %, %, %}], [%]"]),
    (
        "cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes{.pair}{.hint}",
        &["[%], [%, {%, %, %}], [%], {%}"],
    ),
    (
        "cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes.multicast::cluster{.pair}{.hint}",
        &["[%], [%, {%, %, %}], [%], {%}, %"],
    ),
    (
        "cp.async.bulk.tensor.3d.shared::cta.global.im2col.mbarrier::complete_tx::bytes{.pair}{.hint}",
        &["[%], [%, {%, %, %}], [%], {%}"],
    ),
    ("cp.async.bulk.tensor.3d.global.shared::cta.im2col_no_offs.bulk_group{.hint}", &["[%, {%, %, %}], [%]"]),
    (
        "cp.reduce.async.bulk.tensor.3d.global.shared::cta.redop.im2col_no_offs.bulk_group{.hint}",
        &["[%, {%, %, %}], [%]"],
    ),
    (
        "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes{.pair}{.hint}",
        &["[%], [%, {%, %, %, %}], [%], {%, %}"],
    ),
    (
        "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes.multicast::cluster{.pair}{.hint}",
        &["[%], [%, {%, %, %, %}], [%], {%, %}, %"],
    ),
    (
        "cp.async.bulk.tensor.4d.shared::cta.global.im2col.mbarrier::complete_tx::bytes{.pair}{.hint}",
        &["[%], [%, {%, %, %, %}], [%], {%, %}"],
    ),
    ("cp.async.bulk.tensor.4d.global.shared::cta.im2col_no_offs.bulk_group{.hint}", &["[%, {%, %, %, %}], [%]"]),
    (
        "cp.reduce.async.bulk.tensor.4d.global.shared::cta.redop.im2col_no_offs.bulk_group{.hint}",
        &["[%, {%, %, %, %}], [%]"],
    ),
    (
        "cp.async.bulk.tensor.5d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes{.pair}{.hint}",
        &["[%], [%, {%, %, %, %, %}], [%], {%, %, %}"],
    ),
    (
        "cp.async.bulk.tensor.5d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes.multicast::cluster{.pair}{.hint}",
        &["[%], [%, {%, %, %, %, %}], [%], {%, %, %}, %"],
    ),
    (
        "cp.async.bulk.tensor.5d.shared::cta.global.im2col.mbarrier::complete_tx::bytes{.pair}{.hint}",
        &["[%], [%, {%, %, %, %, %}], [%], {%, %, %}"],
    ),
    ("cp.async.bulk.tensor.5d.global.shared::cta.im2col_no_offs.bulk_group{.hint}", &["[%, {%, %, %, %, %}], [%]"]),
    (
        "cp.reduce.async.bulk.tensor.5d.global.shared::cta.redop.im2col_no_offs.bulk_group{.hint}",
        &["[%, {%, %, %, %, %}], [%]"],
    ),
    (
        "cp.async.bulk.tensor.3d.shared::cluster.global.im2col::w.mbarrier::complete_tx::bytes{.pair}{.hint}",
        &["[%], [%, {%, %, %}], [%], {%, %}"],
    ),
    (
        "cp.async.bulk.tensor.3d.shared::cluster.global.im2col::w.mbarrier::complete_tx::bytes.multicast::cluster{.pair}{.hint}",
        &["[%], [%, {%, %, %}], [%], {%, %}, %"],
    ),
    (
        "cp.async.bulk.tensor.3d.shared::cta.global.im2col::w.mbarrier::complete_tx::bytes{.pair}{.hint}",
        &["[%], [%, {%, %, %}], [%], {%, %}"],
    ),
    (
        "cp.async.bulk.tensor.3d.shared::cluster.global.im2col::w::128.mbarrier::complete_tx::bytes{.pair}{.hint}",
        &["[%], [%, {%, %, %}], [%], {%, %}"],
    ),
    (
        "cp.async.bulk.tensor.3d.shared::cluster.global.im2col::w::128.mbarrier::complete_tx::bytes.multicast::cluster{.pair}{.hint}",
        &["[%], [%, {%, %, %}], [%], {%, %}, %"],
    ),
    (
        "cp.async.bulk.tensor.3d.shared::cta.global.im2col::w::128.mbarrier::complete_tx::bytes{.pair}{.hint}",
        &["[%], [%, {%, %, %}], [%], {%, %}"],
    ),
    (
        "cp.async.bulk.tensor.4d.shared::cluster.global.im2col::w.mbarrier::complete_tx::bytes{.pair}{.hint}",
        &["[%], [%, {%, %, %, %}], [%], {%, %}"],
    ),
    (
        "cp.async.bulk.tensor.4d.shared::cluster.global.im2col::w.mbarrier::complete_tx::bytes.multicast::cluster{.pair}{.hint}",
        &["[%], [%, {%, %, %, %}], [%], {%, %}, %"],
    ),
    (
        "cp.async.bulk.tensor.4d.shared::cta.global.im2col::w.mbarrier::complete_tx::bytes{.pair}{.hint}",
        &["[%], [%, {%, %, %, %}], [%], {%, %}"],
    ),
    (
        "cp.async.bulk.tensor.4d.shared::cluster.global.im2col::w::128.mbarrier::complete_tx::bytes{.pair}{.hint}",
        &["[%], [%, {%, %, %, %}], [%], {%, %}"],
    ),
    (
        "cp.async.bulk.tensor.4d.shared::cluster.global.im2col::w::128.mbarrier::complete_tx::bytes.multicast::cluster{.pair}{.hint}",
        &["[%], [%, {%, %, %, %}], [%], {%, %}, %"],
    ),
    (
        "cp.async.bulk.tensor.4d.shared::cta.global.im2col::w::128.mbarrier::complete_tx::bytes{.pair}{.hint}",
        &["[%], [%, {%, %, %, %}], [%], {%, %}"],
    ),
    (
        "cp.async.bulk.tensor.5d.shared::cluster.global.im2col::w.mbarrier::complete_tx::bytes{.pair}{.hint}",
        &["[%], [%, {%, %, %, %, %}], [%], {%, %}"],
    ),
    (
        "cp.async.bulk.tensor.5d.shared::cluster.global.im2col::w.mbarrier::complete_tx::bytes.multicast::cluster{.pair}{.hint}",
        &["[%], [%, {%, %, %, %, %}], [%], {%, %}, %"],
    ),
    (
        "cp.async.bulk.tensor.5d.shared::cta.global.im2col::w.mbarrier::complete_tx::bytes{.pair}{.hint}",
        &["[%], [%, {%, %, %, %, %}], [%], {%, %}"],
    ),
    (
        "cp.async.bulk.tensor.5d.shared::cluster.global.im2col::w::128.mbarrier::complete_tx::bytes{.pair}{.hint}",
        &["[%], [%, {%, %, %, %, %}], [%], {%, %}"],
    ),
    (
        "cp.async.bulk.tensor.5d.shared::cluster.global.im2col::w::128.mbarrier::complete_tx::bytes.multicast::cluster{.pair}{.hint}",
        &["[%], [%, {%, %, %, %, %}], [%], {%, %}, %"],
    ),
    (
        "cp.async.bulk.tensor.5d.shared::cta.global.im2col::w::128.mbarrier::complete_tx::bytes{.pair}{.hint}",
        &["[%], [%, {%, %, %, %, %}], [%], {%, %}"],
    ),
];
