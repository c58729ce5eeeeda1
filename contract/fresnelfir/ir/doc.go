// Package ir reads FresnelFir IR documents: it decodes the JSON text to typed values with
// positions, and checks that the model makes sense.
//
// [Decode] checks the text against the ten sections of the contract and reports all errors at once.
// [Check] then checks the sections against each other: names, types, arity, reachability, and rules
// that can never be exercised. Keys that the contract does not know are warnings and are kept
// ([Document.Extensions]): they are the format's channel for extensions.
//
// The rules come from the published contract text. Where it is silent, a document that existing
// tools load keeps loading, unless they could only misunderstand it. Decisions beyond the text are
// documented at the functions that make them.
//
// The package imports diag and engine/jsontree. It evaluates nothing, opens no file and knows no
// campaign. Start reading at [Document].
package ir
