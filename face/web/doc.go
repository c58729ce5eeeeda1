// Package web serves stored runs as pages: what is broken, whether it is new,
// and how to reproduce it. The pages are drawn with the templates of package
// report, so that the single-file report is the same pages frozen, and from
// exhibits, so that it knows no contract.
//
// It shows what a [store.Store] has, also of runs that other processes write:
// live pages follow the journal. What it can do besides is declared as
// [UseCases] and [Desk] and handed in. Its rules:
//
//   - All text of targets is text: html/template on the server, textContent in
//     the browser, a policy that allows neither inline code nor requests to
//     anywhere else (guard.go).
//   - No page costs more than what it shows: lists are paged and searched by
//     the store's index, and a run's record is never read as a whole but for a
//     download.
//   - The JSON API below /api/v1 is read-only, described by page/openapi.json,
//     and what the pages' own script uses.
//
// The package imports campaign, diag, report and store; never a contract, a
// target, the runner or package app, which hands it what it needs. Start
// reading at [Server].
package web
