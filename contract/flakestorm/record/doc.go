// Package record reads recorded sessions of agents: replay files of the format (YAML and JSON),
// runs exported from LangSmith, traces of Langfuse, completions that OpenAI has stored, and traces
// of OpenTelemetry with the conventions for generative AI (OTLP in JSON); and writes replay files.
// It recognizes the type of a file by its content.
//
// The package is pure: it opens no file and no connection. It imports diag, the configuration and
// engines.
package record
