package spectest

import (
	"runtime"
	"strings"
	"testing"
)

// Each block and each case is shown, asked for, and shown with what came of it.
func TestStep(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("runs a POSIX shell")
	}
	t.Chdir(t.TempDir())
	write(t, "subject.txt", []byte("version: 1\n"))
	page := "```text file=a\nx\n```\n" + transcript("\n$ cat a\nx\n", "\n$ echo b; false\nc\n", "\n$ echo d\nd\n")
	block := func(n, line, text string) string {
		return "a.spec.md:" + line + ": block " + n + "\n" + quoted("```console run\n"+text+"```\n")
	}
	first, second, third := block("1 of 3", "4", "$ cat a\nx\n"), block("2 of 3", "9", "$ echo b; false\nc\n"), block("3 of 3", "14", "$ echo d\nd\n")
	held := first + "  $ cat a\n  x\n  holds\n\n"
	case1 := "id: A\ntype: text.file\npath: subject.txt\nassert: [{target: text, must: [{contain: [\"version: 1\"]}]}]\ncapture: {v: {regex: '\\d'}}\n"
	case2 := "id: B\ntype: text.file\npath: subject.txt\nassert: [{target: text, must: [{contain: [\"version: ${v}2\"]}]}]\n"
	for _, c := range []struct {
		name, doc, in, want string
		did                 [3]int
	}{
		{"Enter, skip, the end of the input", page, "\ns\n", held + second + "  skipped\n\n" + third + "  $ echo d\n  d\n  holds\n\n", [3]int{2, 0, 1}},
		{"a failure", page, "s\nrun\nSKIP\n", first + "  skipped\n\n" + second + "  $ echo b; false\n  b\n  [exit 1]\n" +
			"  a.spec.md:10: expected the command to end with exit status 0, not 1\n  @@ -1 +1 @@\n  -c\n  +b\n  fails\n\n" + third + "  skipped\n\n", [3]int{0, 1, 2}},
		{"quit", page, "what\n\nq\n", held + second, [3]int{1, 0, 2}},
		{"cases of a chain", blockDocument(case1, case2), "",
			"a.spec.md:1: A  text.file\n" + quoted("```yaml spec-test\n"+case1+"```\n") + "  holds\n\n" +
				"a.spec.md:9: B  text.file\n" + quoted("```yaml spec-test\n"+case2+"```\n") +
				"  a.spec.md:13 B  assert[0].must[0]  text contain\n  expected: text to contain \"version: 12\"\n  actual:   \"version: 1\\n\"\n  fails\n\n", [3]int{1, 1, 0}},
		{"no control characters", transcript("\n$ printf '\\033[2Jx'\n[..]x\n"), "c\n",
			block("1 of 1", "1", "$ printf '\\033[2Jx'\n[..]x\n") + "  $ printf '\\033[2Jx'\n  \uFFFD[2Jx\n  holds\n\n", [3]int{1, 0, 0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out, asked strings.Builder
			s := &stepper{out: &out, err: &asked, lines: answers(t.Context(), strings.NewReader(c.in))}
			if err := soleCampaign(t, c.doc, nil).step(t.Context(), s); err != nil {
				t.Fatal(err)
			}
			if got := out.String(); got != c.want {
				t.Errorf("shown:\n%s\nwant:\n%s", got, c.want)
			}
			if s.did != c.did {
				t.Errorf("held, failed, skipped: %v, want %v", s.did, c.did)
			}
			if !strings.Contains(asked.String(), "[Enter] runs it") {
				t.Errorf("asked %q", asked.String())
			}
		})
	}
}

// quoted is a block as it is shown before it runs.
func quoted(block string) string {
	return "  | " + strings.ReplaceAll(strings.TrimSuffix(block, "\n"), "\n", "\n  | ") + "\n"
}
