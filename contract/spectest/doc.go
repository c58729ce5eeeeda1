// Package spectest implements Spec-Test v1: Markdown documents with fenced blocks of test cases. A
// case has a type (text.file, cli.run, api.http, system.call), an input and a tree of assertions.
//
// A document becomes one campaign whose cases are its block cases, in the order of the document.
// Compile reports every fault that shows without running; a faulty case fails and leaves the others
// alone, unless the document is only being checked. A document passes through these files: fence.go
// finds blocks, document.go reads them, decode.go and its neighbours make cases of them, tree.go
// compiles assertions to spec-lang predicates, campaign.go and executor.go run them, describe.go
// shows what failed.
//
// The rules come from the Spec-Test schema v1; where it is silent, from the Python runner that its
// users know. The package imports no target: it runs programs, Python functions and HTTP requests
// through [Targets].
package spectest
