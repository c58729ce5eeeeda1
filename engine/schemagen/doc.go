// Package schemagen makes inputs from a JSON Schema: valid ones at the limits
// of the schema, and ones that break one rule each, named by that rule. It
// knows draft 2020-12 as MCP tools use it, and the dialects of OpenAPI 3.0 and
// 3.1.
//
// Every input is checked against the schema before it is returned, so a schema
// with features that the generator does not understand costs inputs and never
// correctness.
//
// The package is pure; it reads only the schema. Start at [New].
package schemagen
