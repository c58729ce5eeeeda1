// Package run executes campaigns on this machine: a pool of workers, one lane
// each, a journal that survives kill -9, resume, early stops, live progress
// and, through run/triage, findings that are confirmed and minimized.
//
// The rule it keeps is that of package campaign: outcomes are folded, counted
// and digested in case order, so that the number of workers, the order in
// which they finish, and how often the run was killed and resumed change
// nothing that a report says outside its environment.
//
// The package knows no contract and no target. It imports campaign, diag, store
// and its own subpackage triage alone.
package run
