// Package fleet runs campaigns on many machines. One process coordinates: it is package run as
// usual, with journal, rounds, triage and record, but its lanes hand ranges of cases to workers
// elsewhere. Any number of workers come and go; the outcomes, and so the digest of the run, are
// those of one machine.
//
// NATS carries the messages and stores none of them, so any server will do; broker is a small one.
// The coordinator has the queue of leases and the objects that workers fetch. The queue is never
// the record. What counts is the coordinator's journal: a lease that is lost, handed out twice or
// answered late does no harm, because outcomes are taken by case and the first one counts.
//
//	coordinator                                 worker
//	announce run, bundle            ---->       fetch the bundle, verify, compile
//	                                <----       take: is there work?
//	lease: cases 4096..8191, state  ---->       what is left of it? (asked back)
//	                                <----       busy with it, once a second
//	                                <----       outcomes, part by part
//	confirmed                       ---->       take the next one
//
// A worker needs the state that a round's cases are executed in. It folds the outcomes of earlier
// rounds itself, from logs that it fetches from the coordinator; no contract has to
// serialize its state.
//
// The package works with values of package campaign and knows no contract. It imports campaign, run,
// store and diag, never a contract, a target or a report. Start reading at [Coordinator] and
// [Worker].
package fleet
