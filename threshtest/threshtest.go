// Package threshtest runs documents as Go tests: a subtest for every campaign,
// and a failure for every finding, with the command that reproduces it.
//
//	func TestContracts(t *testing.T) { threshtest.Run(t, "contracts/") }
//
// It is a thin layer over package thresh, the only package of the module that it
// imports.
package threshtest

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh"
)

// Run runs documents, and those in folders. It keeps the run in .thresh beside the test, so that
// findings can be replayed afterwards.
func Run(t *testing.T, paths ...string) {
	t.Helper()
	RunJob(t, thresh.Job{Paths: paths})
}

// RunJob is [Run] with settings of the run and additional contracts.
func RunJob(t *testing.T, job thresh.Job) {
	t.Helper()
	if job.Store == "" {
		job.Store = ".thresh"
	}
	store, err := filepath.Abs(job.Store)
	if err != nil {
		t.Fatalf("finding the store %s: %v", job.Store, err)
	}
	job.Store = store
	rec, err := thresh.Run(t.Context(), job)
	if rec == nil {
		t.Fatalf("running %s: %v", strings.Join(job.Paths, ", "), err)
	}
	for _, w := range rec.Warnings {
		t.Log("warning: " + w)
	}
	if !rec.Complete && err == nil {
		t.Logf("not complete: run %s was stopped (%s)", rec.RunID, rec.Stopped)
	}
	for _, c := range rec.Campaigns {
		t.Run(c.Contract+"/"+c.Name, func(t *testing.T) {
			for _, f := range rec.Findings {
				if f.Contract == c.Contract && f.Campaign == c.Name {
					t.Errorf("%s %s  %s (%d of %d cases)\n  reproduce: %s", strings.ToUpper(f.Severity.String()), f.ID, f.Title, f.Cases, c.Cases.Run, thresh.ShellLine(f.Reproduce))
				}
			}
			if c.Cases.Error > 0 {
				t.Errorf("%d of %d cases could not be run; thresh show %s --store %s has more", c.Cases.Error, c.Cases.Run, rec.RunID, store)
			}
		})
	}
	switch {
	case err != nil:
		t.Errorf("run %s did not come to its end: %v", rec.RunID, err)
	case rec.Verdict != "pass" && !t.Failed():
		t.Errorf("run %s: verdict %s", rec.RunID, rec.Verdict)
	}
}
