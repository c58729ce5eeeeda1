// Package doctree reads YAML text into a tree in which every key and value
// knows its place in the text, with the values of PyYAML's safe loader: the
// contracts that are written in YAML grew up with that loader, and their users'
// files mean what it says (on and yes are booleans, 017 is 15, 1:30 is 90, 1e3
// is a string). It is the sibling of engine/jsontree.
//
// The syntax is that of go.yaml.in/yaml/v3; the meaning of scalars, merge keys,
// tags and their errors follow YAML 1.1 as PyYAML 6 implements it. It is
// stricter on purpose: repeated keys are reported, and recursive aliases and
// unbounded growth (nesting, aliases of aliases, nodes) are refused.
//
// The package is pure: it opens no file and knows no contract. Start reading at
// [Parse] and [Node].
package doctree
