// Package spectest implements Spec-Test v1: Markdown documents with fenced
// blocks of test cases. A case has a type (text.file, cli.run, api.http,
// system.call), an input and a tree of assertions.
//
// A document becomes one campaign whose cases are its block cases, in the order
// of the document. Compile says everything that can be said without running;
// a fault of one case makes that case fail and leaves the others alone, unless
// the document is only being checked. The way of a document: fence.go finds
// blocks, document.go reads them, decode.go and its neighbours make cases of
// them, tree.go compiles assertions to spec-lang predicates, campaign.go and
// executor.go run them, describe.go shows what failed.
//
// Rules come from the Spec-Test schema v1; where that is silent, from the
// Python runner that its users know. The package imports no target: programs,
// Python functions and HTTP requests are run through what [Targets] hands in.
package spectest
