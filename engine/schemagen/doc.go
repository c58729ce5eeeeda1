// Package schemagen makes inputs from a JSON Schema: valid ones at the limits
// of the schema, and ones that break one rule each, named by that rule. It
// knows draft 2020-12 as MCP tools use it, and what OpenAPI 3.0 and 3.1 make of
// it.
//
// What is made is checked against the schema before it is given away, so that a
// schema with more than the generator understands costs inputs and never
// correctness.
//
// The package is pure; it reads nothing but the schema. Start at [New].
package schemagen
