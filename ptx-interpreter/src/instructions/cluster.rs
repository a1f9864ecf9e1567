//! `barrier.cluster`: the threads of a cluster meet.

use crate::machine::group::Group;
use crate::machine::stop::{Result, Why, stop};
use crate::machine::{Machine, Step};

struct Arrive {
    releases: bool,
}

struct Wait;

pub(crate) fn decode(words: &[&str]) -> Option<Box<dyn Step>> {
    match *words.get(2)? {
        "arrive" => Some(Box::new(Arrive { releases: !words.contains(&"relaxed") })),
        "wait" => Some(Box::new(Wait)),
        _ => None,
    }
}

impl Step for Arrive {
    fn run<'a>(&'a self, machine: &mut Machine<'a>, group: Group) -> Result<()> {
        machine.progress += 1;
        let number = machine.warp(group.warp).block / machine.cluster;
        machine.watch_cluster_arrival(group, self.releases);
        let phase = machine.clusters[number].phase + 1;
        for thread in group.threads() {
            let arrived = &mut machine.warp_mut(group.warp).arrived[thread.lane];
            if std::mem::replace(arrived, phase) != 0 {
                return stop(
                    Why::Wrong,
                    "the thread arrives at its cluster's barrier, and has not waited since it arrived before",
                );
            }
        }
        machine.complete_cluster(number)
    }
}

impl Step for Wait {
    fn run<'a>(&'a self, machine: &mut Machine<'a>, group: Group) -> Result<()> {
        let number = machine.warp(group.warp).block / machine.cluster;
        let phase = machine.clusters[number].phase;
        for thread in group.threads() {
            let warp = machine.warp_mut(group.warp);
            let arrived = warp.arrived[thread.lane];
            if arrived == 0 {
                return stop(Why::Wrong, "the thread waits for the cluster and has not arrived");
            }
            if phase < arrived {
                warp.at_cluster |= 1 << thread.lane;
                warp.running &= !(1 << thread.lane);
            } else {
                machine.warp_mut(group.warp).arrived[thread.lane] = 0;
                machine.watch_cluster_wait(thread);
            }
        }
        Ok(())
    }
}
