// Package store keeps runs on disk, so that nothing is lost when a process is
// killed, a disk is full or a file is torn, and every report can be made again
// later.
//
// A store is a folder:
//
//	runs/<run>/journal   what happened, record by record: the truth
//	runs/<run>/outline   made from the journal, for lists of runs and pages of
//	                     one; it can be deleted at any time
//	runs/<run>/lock      held by the process that writes the run
//	blobs/ab/ab….zst     contents, named by their SHA-256
//	lock                 held shared by everybody who has the store open
//
// The journal comes first. A run's folder appears under its name only when its
// manifest is on the disk, every record has its own checksum, and a tail that is
// not a whole record is cut when the run is resumed. Outlines may be outdated or
// missing: [Open] compares them with the journals and rebuilds them.
//
// # What the collector may remove
//
// [Store.GC] removes the runs beyond the newest N, but never one whose lock is
// held. Then it removes blobs that no remaining run mentions. A run mentions
// every blob whose name stands anywhere in its files or in its record. These are
// searched for names as raw bytes, so damaged journals and kinds of record that
// this version does not know keep their blobs too.
//
// Another process must not lose a blob between putting it and mentioning it, so a
// blob that nobody mentions is removed only if
//
//   - it was last put more than an hour ago (putting a blob that is there
//     already counts, and waits for a running sweep), or
//   - a run that was just removed mentioned it, and nobody else has the store
//     open, and this process has put nothing: then no mention is on its way.
//
// The package imports campaign, diag, zstd, small packages of engine and its own
// subpackages: journal (the record format), blob, lock and inflight. It knows no
// contract and does not run anything. Start reading at [Store].
package store
