// Package modelfile reads the files in which users of other tools keep models of parameters, values
// and constraints, and the rows that such tools write:
//
//   - PICT (https://github.com/microsoft/pict, doc/pict.md): parameters with
//     aliases, weights, negative values and references, sub-models, constraints;
//   - ACTS (NIST), as text with sections in brackets and as XML.
//
// It reports all faults of a file at once, with line, column and the nearest valid name. Where PICT
// drops a constraint or sub-model that names an unknown parameter, with a warning, this package
// rejects the file: the rows would not be the requested ones.
//
// The package is pure: it imports diag, tway and solve. Start reading at Read.
package modelfile
