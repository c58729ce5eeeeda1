package docs_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/internal/golden"
	"github.com/thresh-dev/thresh/internal/testproc"
)

// varies is what no page can say exactly: names of runs, clocks, rates, sizes on
// disk, and how a terminal's columns follow from them.
var varies = []string{
	`run=\br[0-9a-f]{8}-\d+\b`,
	`campaign=\bcmp_[0-9a-f]{8}_s\d+`,
	`sha256=\b[0-9a-f]{64}\b`,
	`when=\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(\.\d+)?Z?`,
	`rate=[\d,.]+/s · [\d.]+ ?(ms|min|s|m|h)( [\d.]+ ?s)?`,
	`executions=[\d,]+ executions`,
	`size=blobs, [\d,]+ bytes`,
	`rest=\d+ more lines`,
	`blanks= {2,}`,
	`address=127\.0\.0\.1:\d+/(\?token=[0-9A-Z]{26}|mcp)\b`,
}

// The pages' transcripts are run as a reader's are: thresh run PAGE, each page by
// itself, so that pages run at the same time and a failure names its page. With
// -update they are rewritten. In CI every block runs, whatever tools it needs. Elsewhere
// most pages are left out, as the tests of formats and faces run what they show.
func TestTranscripts(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the pages show what is printed on Linux")
	}
	shown := 0
	for _, p := range pages(t) {
		n := strings.Count(p.text, "\n```console run")
		if n == 0 {
			continue
		}
		shown += n
		if translated(t, p) {
			continue
		}
		t.Run(p.path, func(t *testing.T) {
			if !firstHour.MatchString(p.path) && !testproc.Long() && !golden.Update() {
				t.Skip("CI runs this page: set THRESH_TEST_LONG=1 to run it here too")
			}
			t.Parallel()
			transcripts(t, p.path)
		})
	}
	if shown < 30 {
		t.Errorf("only %d console blocks are marked to be run", shown)
	}
}

// firstHour are the pages that a new user goes through, and what is promised, but for the tutorials
// of models and operators: they call programs some hundred thousand times.
var firstHour = regexp.MustCompile(`^(README|docs/tutorials/(flakestorm|fuzzspec|spectest)|docs/guarantees)\.md$`)

// translated says whether a page is another one in another language, with the same blocks:
// they are run there.
func translated(t *testing.T, p page) bool {
	original, ok := strings.CutSuffix(p.path, ".ko.md")
	return ok && slices.Equal(fence.FindAllString(p.text, -1), fence.FindAllString(pageNamed(t, original+".md").text, -1))
}

// transcripts runs those of one page.
func transcripts(t *testing.T, path string) {
	bin := thresh(t)
	args := []string{"run", "--quiet", "--cli-timeout", "300", "--link", "examples"}
	if golden.Update() {
		args = append(args, "--update")
	} else {
		args = append(args, "--store", filepath.Join(t.TempDir(), "store"))
	}
	for _, v := range varies {
		args = append(args, "--redact", v)
	}
	cmd := exec.CommandContext(t.Context(), bin, append(args, path)...)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(bin)+string(os.PathListSeparator)+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if os.Getenv("THRESH_CI") != "" && lacking.Match(out) {
		t.Errorf("not every block was run:\n%s", out)
	}
}

// lacking is what a run says of a block that needs what is not there.
var lacking = regexp.MustCompile(`not run: the block on line \d+: needs [^ ]+\n`)

// A block of commands is run, or says why not; a block of another tool's is shown.
func TestEveryBlockOfCommandsIsRun(t *testing.T) {
	for _, p := range pages(t) {
		if p.path == "bench/README.md" {
			continue // a module of its own, whose commands compare other tools
		}
		for _, m := range fence.FindAllStringSubmatchIndex(p.text, -1) {
			info := p.text[m[2]:m[3]]
			words := strings.Fields(info)
			if len(words) == 0 || !slices.Contains([]string{"console", "sh", "shell", "bash", "pycon", "powershell", "cmd"}, words[0]) {
				continue
			}
			if len(words) < 2 || words[1] != "run" && !strings.HasPrefix(words[1], "file=") {
				t.Errorf("%s:%d: the block %q is not run, and does not say why: skip=\"WHY\"", p.path, 1+strings.Count(p.text[:m[0]], "\n"), info)
			}
		}
	}
}
