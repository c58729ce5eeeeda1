package spectest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/internal/golden"
)

// A document is run again when something changes that one of its cases depends on.
func TestLooks(t *testing.T) {
	t.Chdir(t.TempDir())
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"text.txt", "answer.json", "tool.sh", "words.txt", "calc.py", "beside.py", "pack/__init__.py", "pack/part.py", "hooks.py", "note.txt"} {
		write(t, name, []byte("#!/bin/sh\n"))
	}
	if err := os.Chmod("tool.sh", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("text.txt", "link.txt"); err != nil {
		t.Fatal(err)
	}
	c := soleCampaign(t, blockDocument("id: A\ntype: text.file\npath: link.txt\nassert: [{target: text, must: [{contain: [x]}]}]\n")+
		blockDocument("id: B\ntype: text.file\nassert: [{target: text, must: [{contain: [x]}]}]\n")+
		blockDocument("id: C\ntype: cli.run\nargv: [words.txt, nothing, '']\nharness: {entrypoint: ./tool.sh}\nassert: []\n")+
		blockDocument("id: D\ntype: cli.run\nargv: [words.txt]\nharness: {entrypoint: 'pack:main'}\nassert: []\n")+
		blockDocument("id: E\ntype: api.http\nrequest: {method: GET, url: answer.json}\nassert: []\n")+
		blockDocument("id: F\ntype: api.http\nrequest: {method: GET, url: 'http://localhost:1/x'}\nassert: []\n"), nil)
	var got []string
	for _, name := range c.Looks() {
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, rel)
	}
	const want = "answer.json link.txt pack/__init__.py pack/part.py text.txt tool.sh words.txt"
	if text := strings.Join(got, " "); text != want {
		t.Error(text)
	}
}

// The scripts of PowerShell and cmd for a block of two commands.
func TestShellScripts(t *testing.T) {
	s := &shellScript{name: "block", state: `C:\it's\state`, marks: true, steps: []pageStep{{command: "echo 'a'"}, {command: "two\nlines"}}}
	got := ""
	for _, f := range powerShellScript(s) {
		_, commands, _ := strings.Cut(f.Text, "\ntry {\n")
		if f.Path != "block.ps1" || !strings.HasPrefix(f.Text, "\ufeff$ErrorActionPreference = 'Continue'\n") {
			t.Errorf("%s: %s", f.Path, f.Text)
		}
		got += commands
	}
	s.input = "in.txt"
	for _, f := range cmdScript(s) {
		got += f.Path + "\n" + strings.ReplaceAll(f.Text, "\r\n", "\n")
		if strings.Count(f.Text, "\n") != strings.Count(f.Text, "\r\n") {
			t.Errorf("%s: ends of lines: %q", f.Path, f.Text)
		}
	}
	golden.Check(t, "testdata/shells.txt", got)
}

// The report of a suite is read by its tools.
func TestConformanceReport(t *testing.T) {
	got := string(Report([]Result{{ID: "A", Status: "pass", Message: "none"}, {ID: "B-\u00e9", Status: "fail", Category: "schema", Message: "it is \"wrong\""}, {ID: "C", Status: "skip"}}))
	const want = `{
  "results": [
    {
      "category": null,
      "id": "A",
      "message": null,
      "status": "pass"
    },
    {
      "category": "schema",
      "id": "B-\u00e9",
      "message": "it is \"wrong\"",
      "status": "fail"
    },
    {
      "category": null,
      "id": "C",
      "message": null,
      "status": "skip"
    }
  ],
  "version": 1
}
`
	if got != want {
		t.Error(got)
	}
}
