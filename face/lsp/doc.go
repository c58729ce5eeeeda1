// Package lsp serves Thresh to editors over the Language Server Protocol:
// diagnostics while you type, completion and hover from the declared fields,
// fixes, lenses that run cases and show findings, and the way from a finding to
// its place. It is a layer over app.Editor and knows no format. Start at
// [Serve]; the parts of the protocol that it knows are in protocol.go.
package lsp
