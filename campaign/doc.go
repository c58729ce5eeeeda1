// Package campaign is the core of Thresh: what a campaign, a case, an outcome
// and a finding are, and the rules that make runs of them deterministic.
//
// Every contract compiles its documents to campaigns, and every campaign is
// rounds of independent cases, folded in case order:
//
//	Identity            what decides the cases
//	Probe()             call the target once; its answer is stored as Facts
//	Start(facts)        the state before the first round           (pure)
//	Round(state)        the cases of the next round                (pure)
//	Execute(state,case) run the case on the target, return an Outcome; depends
//	                    on state and case alone                    (an effect)
//	Fold(state,results) results in case order become the next state (pure)
//
// Determinism, resume, distribution and replay all follow from that shape and
// are written once, in package run, for every contract.
//
// The package holds values and pure functions. It imports the standard
// library and diag only; it opens no file, reads no clock, starts no goroutine
// and draws no random number. Start reading at [Campaign].
package campaign
