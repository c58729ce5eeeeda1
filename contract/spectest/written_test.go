package spectest

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
)

// fill writes 40 files of 100 KB into a folder. It then waits until the limit ends it, however busy
// the machine, or for as many seconds as its second argument says.
const fill = `i=0; while [ $i -lt 40 ]; do head -c 100000 /dev/zero > "$1/f$$-$i"; i=$((i+1)); done; sleep ${2:-20}`

// Files of a case count together, however it writes them; what was there before does not.
func TestFilesCountTogether(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("programs of Linux")
	}
	dir := t.TempDir()
	t.Chdir(dir)
	write(t, filepath.Join(dir, "fill"), []byte(fill))
	write(t, filepath.Join(dir, "grow"), []byte("for i in 1 2 3 4 5 6 7 8 9; do head -c 1000000 /dev/zero >> old; sleep 0.05; done; sleep 20"))
	write(t, filepath.Join(dir, "old"), make([]byte, 4<<20))
	write(t, filepath.Join(dir, "m.py"), []byte("import time\ndef many(argv=None):\n    for i in range(40):\n        open('p%d' % i, 'wb').write(bytes(100000))\n    time.sleep(20)\n"))
	if err := os.Mkdir("own", 0o755); err != nil {
		t.Fatal(err)
	}
	run := func(argv, more string) string {
		return blockDocument("id: A\ntype: cli.run\nharness: {entrypoint: " + argv + more + "}\n")
	}
	page := func(words, body string) string { return "```" + words + "\n" + body + "```\n" }
	half := func(sleep string) string {
		return page("console run", "$ sh -c 'i=0; while [ $i -lt 20 ]; do head -c 100000 /dev/zero > $$-$i; i=$((i+1)); done; sleep "+sleep+"'\n")
	}
	for name, c := range map[string]struct{ doc, limit, want string }{
		"in the shared folder":   {run("sh fill own", ""), "3MiB", "A fail runtime"},
		"in a folder of its own": {run("sh fill .", ", isolate: true"), "3MiB", "A fail runtime"},
		"in the temporary one":   {run(`sh -c 'sh fill "$THRESH_TMPDIR"'`, ""), "3MiB", "A fail runtime"},
		"half in both":           {run(`sh -c 'sh fill "$THRESH_TMPDIR" & sh fill own; wait'`, ""), "6MiB", "A fail runtime"},
		"by a Python function":   {run("m:many", ""), "3MiB", "A fail runtime"},
		"an old file grows much": {run("sh grow", ""), "3MiB", "A fail runtime"},
		"an old file grows":      {run("sh -c 'echo x >> old; sleep 0.3'", ""), "3MiB", "A pass"},
		"no limit":               {run("sh fill own 0.3", ""), "0", "A pass"},
		"less":                   {run("sh fill own 0.3", ""), "512MiB", "A pass"},
	} {
		got, _ := play(t, newContract(nil), c.doc, map[string][]string{optWritten: {c.limit}})
		if len(got) != 1 || got[0] != c.want {
			t.Errorf("%s: %+v, want %s", name, got, c.want)
		}
	}
	for name, c := range map[string]struct{ doc, limit, want string }{
		"two blocks":      {half("0.2") + half("20"), "3MiB", "a.spec.md:4 transcript: runtime: the files that it wrote take more than 3MiB together (--write-limit), and it was stopped"},
		"one":             {half("0.2"), "3MiB", ""},
		"Python's prompt": {page("pycon run", ">>> import time\n>>> for i in range(40):\n...     _ = open('p%d' % i, 'wb').write(bytes(100000))\n...\n>>> time.sleep(20)\n"), "3MiB", "runtime: the files that it wrote"},
	} {
		o := outcomes(t, soleCampaign(t, c.doc, map[string][]string{optWritten: {c.limit}}))
		if !strings.Contains(o[0].Title, c.want) || (o[0].Verdict == campaign.VerdictPass) != (c.want == "") {
			t.Errorf("%s: %v %q, want %q", name, o[0].Verdict, o[0].Title, c.want)
		}
	}
}
