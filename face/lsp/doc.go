// Package lsp serves Thresh to editors over the Language Server Protocol:
// diagnostics while one types, completion and hover from what the formats
// declare, fixes, lenses that run cases and show findings, and the way from a
// finding to its place. It is a layer over app.Editor and knows no format.
// Start at [Serve]; the parts of the protocol that it knows are in protocol.go.
package lsp
