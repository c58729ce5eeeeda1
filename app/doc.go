// Package app holds the use cases of Thresh (check, run, resume, replay, shrink,
// promote, report and others) and the explicit lists of contracts and systems
// (contracts.go). Nothing registers itself.
//
// The faces (command line, pages, MCP) and package thresh are thin layers over
// [App]; they can do nothing that it cannot. The package prints nothing: notes
// and warnings for people go to [App.Note] and [App.Warn].
//
// The package may import everything but the faces. Start reading at [App], then
// [App.Run].
package app
