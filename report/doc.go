// Package report turns one [campaign.Record] into text for a terminal, Markdown
// and HTML for people, and JSON, JUnit XML, SARIF, TAP and their like for
// programs. Every report is a projection: it says nothing that the record does
// not hold, and equal records give equal bytes.
//
// What a report must say comes from the record and its closed set of exhibits,
// never from a contract: a contract that wants something shown returns an
// exhibit, and each kind of exhibit is drawn once for the terminal
// (exhibit_text.go) and once for the page (exhibit_html.go and the files named
// after what they draw). The rules of the formats are those of their
// publishers: the JSON Schema in schema/, SARIF 2.1.0 (OASIS), TAP version 14,
// and the JUnit dialect that Jenkins, GitLab and GitHub Actions all read.
//
// All text in a record may come from a program or an agent under test and is
// untrusted: it reaches a terminal only through [visible] and a page only
// through html/template.
//
// The pages that package face/web serves are made of the same templates and
// drawings: [Parts], [DrawRun], [DrawFinding].
//
// The package imports campaign, diag, the standard library and goldmark, which
// reads the Markdown of documents (markdown.go); never a contract, an engine, a
// target, the store or the runner. It opens no file and reads no clock. Start
// reading at [Formats].
package report
