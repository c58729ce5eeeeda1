// Package flakestorm implements flakestorm configurations, version 1
// and 2: tests of an agent under mutated prompts, chaos, a contract matrix and
// replays, with one resilience score.
//
// A document becomes one campaign of up to three rounds. The first asks for the
// baselines that behavior_unchanged compares with, without chaos. The second is
// all that is tested: every mutated prompt, every golden prompt under chaos,
// every cell (invariant and scenario, once for each run of it) and every
// session is a case of its own, with its own reset, its own counters of faults
// and its own seed. The third, only under --strict, fails for every configured
// fault that never fired.
//
// The rules are those of the flakestorm v2 specification and, where it is
// silent, of the files that its users have. Sub-packages: config reads
// documents, mutation writes variants of prompts, verify checks replies, record
// reads sessions. The package touches no agent: agents, proxies and encoders
// come through [Targets]. It must not import another contract or an edge.
// Start reading at [Contract.Compile] and [Campaign].
package flakestorm
