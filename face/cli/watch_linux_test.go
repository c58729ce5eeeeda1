package cli_test

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What changes is run again, and nothing else.
func TestWatch(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) {
		t.Helper()
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	document := func(id, path string) string {
		return "```yaml spec-test\nid: " + id + "\ntype: text.file\npath: " + path + "\nassert: [{target: text, must: [{contain: [fine]}]}]\n```\n"
	}
	file("docs/a.spec.md", document("ONE", "../data/a.txt"))
	file("docs/b.spec.md", document("TWO", "../data/b.txt"))
	file("data/a.txt", "fine")
	file("data/b.txt", "fine")
	file(".git/HEAD", "")
	cmd := child(t, "thresh", "run", "docs", "--watch", "--quiet", "--store", t.TempDir())
	cmd.Dir = dir
	out, write := io.Pipe()
	cmd.Stdout, cmd.Stderr = write, write
	must(t, cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait(); write.Close() }()
	lines := bufio.NewScanner(out)
	// told is what is printed up to the next time that all is quiet.
	told := func() string {
		t.Helper()
		var b strings.Builder
		for lines.Scan() {
			if strings.HasPrefix(lines.Text(), "watching") {
				return b.String()
			}
			b.WriteString(lines.Text() + "\n")
		}
		t.Fatalf("it ended: %s", b.String())
		return ""
	}
	if got := told(); !strings.Contains(got, "a.spec.md") || !strings.Contains(got, "b.spec.md") || !strings.Contains(got, "all held") {
		t.Errorf("at first:\n%s", got)
	}
	file("data/unrelated.txt", "x")
	file("data/b.txt", "not so well")
	if got := told(); strings.Contains(got, "a.spec.md") || !strings.Contains(got, "TWO: expected text to contain") {
		t.Errorf("once a file has changed:\n%s", got)
	}
	file("docs/a.spec.md", document("OTHER", "../data/a.txt")+document("MORE", "../data/a.txt"))
	if got := told(); strings.Contains(got, "b.spec.md") || !strings.Contains(got, "2 cases") {
		t.Errorf("once a document has changed:\n%s", got)
	}
	file("docs/c.spec.md", document("NEW", "../data/a.txt"))
	if got := told(); !strings.Contains(got, "c.spec.md") || !strings.Contains(got, "1 case") {
		t.Errorf("once there is a new document:\n%s", got)
	}
	tool := func(says string) {
		t.Helper()
		file("bin/next", "#!/bin/sh\necho "+says+"\n")
		must(t, os.Chmod(filepath.Join(dir, "bin/next"), 0o755))
		must(t, os.Rename(filepath.Join(dir, "bin/next"), filepath.Join(dir, "bin/tool"))) // as a build does
	}
	tool("fine")
	file("docs/d.spec.md", "```yaml spec-test\nid: RUN\ntype: cli.run\nharness: {entrypoint: bin/tool}\nassert: [{target: stdout, must: [{contain: [fine]}]}]\n```\n")
	if got := told(); !strings.Contains(got, "d.spec.md") || !strings.Contains(got, "all held") {
		t.Errorf("once there is a document that runs a program:\n%s", got)
	}
	tool("worse")
	if got := told(); strings.Contains(got, "a.spec.md") || !strings.Contains(got, "RUN: expected stdout to contain") {
		t.Errorf("once a program was built again:\n%s", got)
	}
	must(t, cmd.Process.Signal(os.Interrupt))
	if _, err := io.Copy(io.Discard, out); err != nil {
		t.Error(err)
	}
	if err := <-ended; err != nil {
		t.Errorf("interrupted: %v", err)
	}
}
