// Package flakestorm implements flakestorm configurations, version 1 and 2: tests of an agent under
// mutated prompts, chaos, a contract matrix and replays, with one resilience score.
//
// A document becomes one campaign. Its first round asks for the baselines that behavior_unchanged
// compares with, without chaos. The second is everything that is tested: every mutated prompt,
// every golden prompt under chaos, every cell (invariant and scenario, once for each run of it) and
// every session is a case of its own, with its own reset, its own counters of faults and its own
// seed. Further rounds repeat the cells whose rate is not clear yet. The last round has the cases
// that are known only once all others have run: what built-in checks found, sampled cells,
// invariants that never made a finding of their own and, under --strict, a failure for every
// configured fault that never fired and every invariant that was not tested.
//
// The rules are those of the flakestorm v2 specification and, where it says nothing, of the files
// that its users have. Sub-packages: config reads documents, mutation writes variants of prompts,
// verify checks replies, record reads sessions. The package touches no agent: agents, proxies and
// encoders are passed in by [Targets]. It must not import another contract or an edge. Start
// reading at [Contract.Compile] and [Campaign].
package flakestorm
