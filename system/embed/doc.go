// Package embed measures how similar texts are with sentence encoders that are not part of Thresh:
// behind an embeddings endpoint (OpenAI's or Ollama's interface), or sentence-transformers in the
// Python host. [Open] opens the measure that a document names.
//
// A requested encoder that is unavailable is an error, when it is opened and at every comparison;
// it is never replaced with another one. Thresholds are not translated: they are written for such
// encoders.
//
// The rules are in engine/similarity. The package imports system/python; it must not import a
// contract, run, store or report.
package embed
