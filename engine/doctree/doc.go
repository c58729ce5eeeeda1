// Package doctree reads YAML text into a tree whose every key and value knows
// where it stands in the text, with the values that PyYAML's safe loader gives:
// the contracts that are written in YAML grew up with that loader, and their
// users' files mean what it says (on and yes are booleans, 017 is 15, 1:30 is
// 90, 1e3 is a string). It is the sibling of engine/jsontree.
//
// Syntax is go.yaml.in/yaml/v3's; what a scalar means, merge keys, tags and
// their errors follow YAML 1.1 as PyYAML 6 has it. Stricter, on purpose:
// repeated keys are reported, recursive aliases are refused, and so is what
// grows without bound (nesting, aliases of aliases, nodes).
//
// The package is pure: it opens no file and knows no contract. Start reading at
// [Parse] and [Node].
package doctree
