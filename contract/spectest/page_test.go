package spectest

import (
	"cmp"
	"encoding/json"
	"runtime"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/thresh-dev/thresh/campaign"
)

// transcript is a page of console blocks, each with the words of its fence
// before the first line end.
func transcript(blocks ...string) string {
	var b strings.Builder
	for _, x := range blocks {
		b.WriteString("```console run" + x + "```\n\n")
	}
	return b.String()
}

func TestTranscripts(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("runs a POSIX shell")
	}
	t.Chdir(t.TempDir())
	write(t, "beside/x.txt", []byte("beside\n"))
	for _, c := range []struct{ name, doc, want string }{ // want: what the title ends with; "" holds
		{"output", transcript("\n$ echo a; echo b >&2\na\nb\n"), ""},
		{"another output", transcript("\n$ echo a\nb\n"), `:2 transcript: expected "$ echo a" to print what the page shows`},
		{"an exit code", transcript("\n$ exit 3\nexit status 3\n$ false\n[exit 1]\n$ false\n[1]\n"), ""},
		{"another exit code", transcript("\n$ true\n$ false\n"), `:3 transcript: expected "$ false" to end with exit status 0, not 1`},
		{"exit code 0 where another is shown", transcript("\n$ true\n[exit 2]\n"), "to end with exit status 2, not 0"},
		{"a loose block", transcript(" loose\n$ echo out\n$ echo no >&2; exit 4\nno\n$ exit 3\n[exit 3]\n"), ""},
		{"a loose block that prints something else", transcript(" loose\n$ echo a\nb\n"), "to print what the page shows"},
		{"a command that fails in a loose block, and shows nothing", transcript(" loose\n$ echo a; exit 4\n"), "to end with exit status 0, not 4"},
		{"another exit code in a loose block", transcript(" loose\n$ echo a; exit 4\na\n[exit 5]\n"), "to end with exit status 5, not 4"},
		{"blanks alone", transcript("\n$ printf '  '\n$ printf 'a\\n  \\n '\na\n"), ""},
		{"the state of the shell", transcript("\n$ mkdir in; cd in; export A='x y'\n", "\n$ echo \"$A\"; basename $PWD\nx y\nin\n"), ""},
		{"the state behind exit", transcript("\n$ export A=1\n$ exit 2\n[exit 2]\n$ echo $A\n1\n"), ""},
		{"the state behind a trap", transcript("\n$ trap 'echo bye' EXIT\n$ mkdir in; cd in; export A=1\n", " env=B=2\n$ echo $A $B; basename $PWD; trap : EXIT\n1 2\nin\n$ export C=3\n", "\n$ echo $A ${B-none} $C\n1 none 3\n"), ""},
		{"times of day", transcript("\n$ echo 9:05 AM, 19:58:34.5\n<time>, <time>\n"), ""},
		{"one folder", transcript("\n$ echo 1 > f\n", "\n$ cat f\n1\n"), ""},
		{"isolated", transcript("\n$ echo 1 > f\n", " isolate\n$ cat f\n1\n"), "to end with exit status 0, not 1"},
		{"a file", "```json file=in/a.json\n{}\n```\n" + transcript("\n$ cat in/a.json\n{}\n", " isolate\n$ cat in/a.json\n{}\n"), ""},
		{"a file that is shown later", transcript("\n$ cat a.json\n{}\n") + "```json file=a.json\n{}\n```\n", "exit status 0, not 1"},
		{"wildcards", transcript("\n$ seq 9; echo at 10:23, 1.5 s\n1\n...\n9\nat [..], <time>\n"), ""},
		{"a wildcard for nothing", transcript("\n$ echo a\n...\na\n...\n"), ""},
		{"a name that is no redaction", transcript("\n$ echo 'usage: x <path>'; echo '<other>'\nusage: x <path>\n<other>\n"), ""},
		{"front matter", "---\ntitle: x\nredact: {run: 'run \\d+'}\nlink: [beside]\n---\n" +
			transcript("\n$ echo run 12; cat beside/x.txt\nrun 99\nbeside\n$ echo run 7\n<run>\n"), ""},
		{"a short captured value beside longer numbers", transcript(" capture=\"n=$.n\"\n$ echo '{\"n\": 3}'\n{\"n\": 3}\n",
			"\n$ echo 3 of 3 pears; echo 1334 3.\n${n} of 3 pears\n<number> ${n}.\n$ echo x13\nx13\n"), ""},
		{"another value than the captured one", transcript(" capture=\"n=$.n\"\n$ echo '{\"n\": 3}'\n{\"n\": 3}\n", "\n$ echo 4\n${n}\n"), "to print what the page shows"},
		{"the folder", transcript("\n$ pwd\n<folder>\n"), ""},
		{"standard input", "```text file=in\na\n```\n" + transcript(" stdin=in\n$ cat\na\n$ cat\na\n", "\n$ cat\n"), ""},
		{"standard input of a command elsewhere", "```text file=in\na\n```\n" + transcript("\n$ cd /\n", " stdin=in\n$ cat; pwd\na\n/\n"), ""},
		{"variables", transcript(" env=A=1,B=\n$ echo $A-$B\n1-\n", " env=A=2\n$ echo $A $NO_COLOR $COLUMNS $TZ\n2 1 80 UTC\n"), ""},
		{"variables end with the block", transcript("\n$ export A=\"it's\"\n", " env=A=1,B=2\n$ echo $A $B; export A=3 C=4\n1 2\n", "\n$ echo \"$A-${B-none}-$C\"\nit's-none-4\n"), ""},
		{"a terminal ends with the block", transcript(" tty=70x20 needs=linux\n$ echo $TERM $COLUMNS $LINES\nxterm 70 20\n", "\n$ echo $TERM $COLUMNS $LINES\ndumb 80 24\n"), ""},
		{"continued lines", transcript("\n$ for i in 1 2; do\n> echo $i\n> done\n1\n2\n$ echo a \\\n  b\na b\n$ cat <<X\n> y\n> X\ny\n"), ""},
		{"more than an argument holds", transcript("\n$ A=" + strings.Repeat("x", 70<<10) + "\n$ B=" + strings.Repeat("x", 70<<10) + "\n$ echo ${#A} ${#B}\n71680 71680\n$ nothing-such\nsh: 1: nothing-such: not found\n[127]\n"), ""},
		{"no line end", transcript("\n$ printf a\na\n$ echo b\nb\n"), ""},
		{"blank lines", transcript("\n$ printf 'a\\n\\nb\\n\\n'\na\n\nb\n\n$ true\n\n"), ""},
		{"a blank line that is printed", transcript("\n$ printf 'a\\n\\nb\\n'\na\nb\n"), "to print what the page shows"},
		{"a syntax error", transcript("\n$ echo 'x\n...\n[exit 2]\n$ echo y\ny\n"), ""},
		{"too slow", transcript(" timeout=200ms\n$ echo a\na\n$ sleep 20\n", "\n$ echo never\n"), "the block did not end within 200ms and was killed"},
		{"in a list", "- x\n\n  ```console run\n  $ printf 'a\\n  b\\n'\n  a\n    b\n  ```\n", ""},
		{"in a longer fence", "````\n" + transcript("\n$ false\n") + "````\n" + transcript("\n$ true\n"), ""},
		{"skipped", transcript(" skip=\"no network here\"\n$ false\n", "\n$ true\n"), "(pass)not run: the block on line 1: no network here"},
		{"all skipped", transcript(" needs=no-such-tool,linux\n$ false\n"), "(skip)not run: the block on line 1: needs no-such-tool"},
		{"another system", transcript(" needs=windows,darwin\n$ false\n"), "(skip)not run: the block on line 1: needs "},
		{"in the background", transcript(" background ready=$PORT needs=python3\n$ python3 -m http.server $PORT --bind 127.0.0.1\n",
			" needs=python3\n$ python3 -c 'import os, urllib.request as r; print(r.urlopen(\"http://127.0.0.1:\" + os.environ[\"PORT\"]).status)'\n200\n"), ""},
		{"beside the background", transcript(" background\n$ sleep 9\n", "\n$ export word=mine\n", "\n$ echo $word\nmine\n"), ""},
		{"the background ends", transcript(" background ready=$PORT timeout=5s\n$ echo gone; exit 4\n", "\n$ true\n"), "the background block ended with exit status 4: gone"},
		{"the background ends before it listens", transcript(" background ready=$PORT timeout=5s\n$ echo gone\n", "\n$ true\n"), "the background block ended with exit status 0: gone"},
		{"the background never listens", transcript(" background ready=$PORT timeout=500ms\n$ sleep 9\n", "\n$ true\n"), "nothing listened at $PORT within 500ms"},
	} {
		o := outcomes(t, soleCampaign(t, c.doc, nil))
		camp := soleCampaign(t, c.doc, nil)
		failed := slices.IndexFunc(o, func(o campaign.Outcome) bool { return o.Verdict != campaign.VerdictPass })
		warnings := strings.Join(folded(camp, o).unread, "; ")
		switch {
		case failed < 0 && c.want == "" && warnings == "":
		case failed < 0:
			if got := "(pass)" + warnings; !strings.HasPrefix(got, cmp.Or(c.want, "?")) {
				t.Errorf("%s: %s, want %s", c.name, got, c.want)
			}
		case o[failed].Verdict == campaign.VerdictSkip:
			if got := "(skip)" + warnings; c.want == "" || !strings.HasPrefix(got, c.want) {
				t.Errorf("%s: %s", c.name, got)
			}
		case c.want == "" || !strings.HasSuffix(o[failed].Title, c.want):
			t.Errorf("%s: %s\n%s", c.name, o[failed].Title, o[failed].Attached(stepsNote))
		}
	}
}

// What fails because a service is gone shows that it is.
func TestFailureWithoutAService(t *testing.T) {
	t.Chdir(t.TempDir())
	o := outcomes(t, soleCampaign(t, transcript(" background ready=$PORT timeout=5s\n$ echo gone; exit 4\n", "\n$ false\n"), nil))[0]
	if steps := string(o.Attached(stepsNote)); !strings.Contains(o.Title, `"$ false"`) || !strings.HasSuffix(steps, ":1: the background block ended with exit status 4: gone\n") {
		t.Errorf("%s\n%s", o.Title, steps)
	}
}

// What a page captures is named in what is kept of a failure, as what a case captures is.
func TestCaptureOfAPageThatFails(t *testing.T) {
	t.Chdir(t.TempDir())
	doc := transcript(" capture=t=/t-.*/\n$ echo t-$((123456*1000))\nt-[..]\n", "\n$ echo \"$t is\"\nnot\n")
	o := outcomes(t, soleCampaign(t, doc, nil))[0]
	if all, _ := json.Marshal(o); strings.Contains(string(all), "123456000") || !strings.Contains(string(o.Attached(stepsNote)), "+${t} is") {
		t.Errorf("%s\n%s", o.Title, o.Attached(stepsNote))
	}
}

// A value that cannot be captured ends the page and hides no failure above it.
func TestTranscriptsWithoutACapturedValue(t *testing.T) {
	t.Chdir(t.TempDir())
	doc := transcript("\n$ echo a\nb\n", " skip=later\n$ true\n", " capture=n=$.x\n$ echo no\nno\n", "\n$ true\n$ true\n")
	o := outcomes(t, soleCampaign(t, doc, nil))[0]
	steps := string(o.Attached(stepsNote))
	if !strings.HasSuffix(o.Title, `:2 transcript: expected "$ echo a" to print what the page shows`) ||
		!strings.Contains(steps, "2 of 2 commands not as the page shows, 1 block not run, 2 commands not reached") ||
		!strings.Contains(steps, "to give a value for ${n}: stdout is not JSON\nit printed:\nno\n") {
		t.Errorf("%s\n%s", o.Title, steps)
	}
	p, err := soleCampaign(t, doc, nil).Accept(t.Context(), false)
	if err != nil || len(p.Changes) != 1 || len(p.Left) != 1 || !strings.Contains(p.Left.Error(), "it does not give a value for ${n}") {
		t.Errorf("%+v %v", p, err)
	}
}

// Behind a dozen blocks, shells are forked from one that is held: blocks share what
// they shared before, and nothing else.
func TestManyBlocks(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("runs a POSIX shell")
	}
	t.Chdir(t.TempDir())
	block := transcript("\n$ export A=1; B=2; mkdir -p in; cd in; f() { :; }\n$ echo $A $B\n1 2\n$ set -e\n$ echo ${C-none}\nnone\n",
		"\n$ echo \"$A ${B-none}\"; basename \"$PWD\"; pwd; f\n1 none\nin\n<folder>/in\nsh: 1: f: not found\n[127]\n", "\n$ cd ..\n$ false\n[1]\n", "\n$ kill -9 $$\n[137]\n$ echo \"it's\"; basename $PWD\nit's\npage\n",
		" env=C=3 stdin=s\n$ cat; echo $C\na\n3\n", " stdin=none\n$ cat\nsh: 1: cannot open <folder>/none: No such file\n[2]\n", "\n$ exec echo gone\ngone\n$ cd /; echo x\nx\n", "\n$ pwd; cd \"$THRESH_TMPDIR/page\"; unset C\n/\n$ echo 'x\nsh: 1: Syntax error: Unterminated quoted string\n[2]\n")
	for _, doc := range []string{block, strings.Repeat(block, 5)} {
		o := outcomes(t, soleCampaign(t, "```text file=s\na\n```\n"+doc, nil))
		if o[0].Verdict != campaign.VerdictPass {
			t.Errorf("%s\n%s", o[0].Title, o[0].Attached(stepsNote))
		}
	}
}

// A page has a folder of its own each time, and a step that is marked once is not
// run again to confirm a failure.
func TestTranscriptsAreRepeatable(t *testing.T) {
	t.Chdir(t.TempDir())
	c := soleCampaign(t, transcript("\n$ echo x >> log; cat log\nx\n"), nil)
	for range 2 {
		if o := outcomes(t, c); o[0].Verdict != campaign.VerdictPass {
			t.Errorf("%s %s", o[0].Title, o[0].Attached(stepsNote))
		}
	}
	c = soleCampaign(t, transcript("\n$ true\n", " once\n$ false\n", " isolate\n$ false\n"), nil)
	expect(t, []string{c.unrepeatable(campaign.Case{}), c.unrepeatable(campaign.Case{Index: 1})}, "the block on line 5 is marked once", "")
	expect(t, c.IDs(), "transcript", "transcript-2")
}

// A document with both kinds of blocks keeps the order of its cases.
func TestTranscriptsBesideCases(t *testing.T) {
	t.Chdir(t.TempDir())
	c := soleCampaign(t, transcript("\n$ true\n")+blockDocument("id: A\ntype: text.file\n"), nil)
	expect(t, c.IDs(), "A", "transcript")
	if c = soleCampaign(t, transcript(" id=tour\n$ true\n")+blockDocument("id: A\ntype: text.file\n"), map[string][]string{optFilter: {"id=^tour"}}); len(c.slots) != 1 {
		t.Errorf("the filter leaves %q", c.IDs())
	}
}

func TestMend(t *testing.T) {
	var rules redactions
	if err := rules.add("run", `run \d+`); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ want, got, mended string }{
		{"a b c", "a b c", "a b c"}, {"a x c", "a b c", "a b c"}, {"a ... z", "a b c z", "a ... z"},
		{"a ... y", "a b c z", "a ... z"}, {"[..]1 b", "x1 c", "[..]1 c"}, {"", "a", "a"}, {"a", "", ""}, {"a b", "b", "b"},
		{"... c", "a b c", "... c"}, {"a", "a b", "a b"},
	} {
		mended, _ := rules.repair(strings.Fields(c.want), strings.Fields(c.got))
		var texts []string
		for _, m := range mended {
			texts = append(texts, m.text)
		}
		if got := strings.Join(texts, " "); got != c.mended {
			t.Errorf("%q against %q: %q, want %q", c.want, c.got, got, c.mended)
		}
	}
	line := rapid.SampledFrom([]string{"a", "b", "run 1", "run 2", "<run>", "...", "[..]", "x<number>", "x12", ""})
	rapid.Check(t, func(t *rapid.T) {
		want, got := rapid.SliceOfN(line, 0, 8).Draw(t, "page"), rapid.SliceOfN(line, 0, 8).Draw(t, "printed")
		mended, page := rules.repair(want, got)
		texts := make([]string, len(mended))
		kept := -1
		for i, m := range mended {
			if texts[i] = m.text; m.keep >= 0 && (m.keep <= kept || want[m.keep] != m.text) {
				t.Fatalf("line %d is not line %d of the page", i, m.keep)
			}
			kept = max(kept, m.keep)
		}
		if !rules.matched(texts, got) {
			t.Fatalf("%q becomes %q, which %q does not match", want, texts, got)
		}
		if rules.matched(want, got) && (!slices.Equal(texts, want) || !slices.Equal(page, got)) {
			t.Fatalf("%q is right, and becomes %q, %q", want, texts, page)
		}
	})
}

func TestUpdate(t *testing.T) {
	t.Chdir(t.TempDir())
	doc := "text  \r\n```console run\r\n$ printf 'a\\nb\\nc\\n'\r\na  \r\nx\r\n...\r\n$ true\r\nold\r\n$ echo new\r\n$ date +%N%N%N; echo '$ y'; echo '```'; printf 'c\\rd\\n'\r\n```\r\n" +
		"```console run\r\n$ false\r\n```\r\n"
	want := strings.NewReplacer("x\r\n...", "b\r\n...", "old\r\n", "", "$ echo new\r\n", "$ echo new\r\nnew\r\n",
		"d\\n'\r\n", "d\\n'\r\n<number>\r\n[..] y\r\n[..]``\r\nc[..]d\r\n").Replace(doc)
	for _, exits := range []bool{false, true} {
		c := soleCampaign(t, doc, nil)
		p, err := c.Accept(t.Context(), exits)
		if err != nil {
			t.Fatal(err)
		}
		got, err := p.Apply([]byte(doc))
		if err != nil {
			t.Fatal(err)
		}
		if exits {
			want = strings.Replace(want, "$ false\r\n", "$ false\r\n[exit 1]\r\n", 1)
		}
		if string(got) != want {
			t.Errorf("exits %t: %q\nwant %q", exits, got, want)
		}
		if len(p.Left) > 0 == exits {
			t.Errorf("exits %t: left %s", exits, p.Left.Error())
		}
		again, err := soleCampaign(t, string(got), nil).Accept(t.Context(), exits)
		if err != nil || len(again.Changes) > 0 {
			t.Errorf("a second time: %+v %v", again.Changes, err)
		}
	}
}

func TestGeneralised(t *testing.T) {
	for _, c := range []struct{ a, b, want string }{
		{"took 12 ms", "took 9.5 ms", "took <number> ms"}, {"at 2026-01-02 v1.2.3", "at 2026-01-03 v1.2.4", "at <date> <version>"},
		{"id f64a96 x", "id 0b4a97 x", "id <hex> x"}, {"in /tmp/a/x", "in /tmp/b/x", "in <path>"},
		{"pid=12;", "pid=345;", "pid=[..];"}, {"a b", "a b c", "a b[..]"},
		// What two numbers or ids share is chance.
		{"x812", "x859", "x[..]"}, {"x8", "x81", "x[..]"}, {"n12mm", "n15mm", "n[..]mm"}, {"id=3fa91c;", "id=3b07ac;", "id=[..];"}, {"t.aB3x", "t.aQ9x", "t.[..]"}, {"Ada!", "Bob!", "[..]!"},
	} {
		if got := generalised(c.a, c.b); got != c.want {
			t.Errorf("%q and %q: %q, want %q", c.a, c.b, got, c.want)
		}
		var none redactions
		if is := none.lineMatcher(c.want); !is(c.a) || !is(c.b) {
			t.Errorf("%q matches not both %q and %q", c.want, c.a, c.b)
		}
	}
}

// A page beside documents is none of a folder's only because it shows commands.
func TestPagesAreNamed(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "d/README.md", []byte("of spec-test blocks\n\n"+transcript("\n$ true\n")))
	write(t, "d/cases.md", []byte(blockDocument("id: A\ntype: text.file\n")))
	k := newContract(nil)
	for path, want := range map[string]bool{"d/README.md": false, "d/cases.md": true} {
		c := k.Chooses("d", path, campaign.Settings{})
		if c.Taken || c.Left || (c.Hint != "") != want {
			t.Errorf("%s: %+v", path, c)
		}
	}
}
