package spectest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/system/command"
	httpsys "github.com/thresh-dev/thresh/system/http"
	"github.com/thresh-dev/thresh/system/program"
	"github.com/thresh-dev/thresh/system/python"
	"github.com/thresh-dev/thresh/system/scratch"
)

// blockDocument is a document of one block for each text.
func blockDocument(bodies ...string) string {
	var b strings.Builder
	for _, body := range bodies {
		b.WriteString("```yaml spec-test\n" + strings.TrimLeft(body, "\n") + "```\n\n")
	}
	return b.String()
}

// play writes a document into a folder of its own, runs it there and returns
// "id status category" of its cases, and the outcomes.
func play(t *testing.T, k contract, doc string, options map[string][]string) ([]string, []campaign.Outcome) {
	t.Helper()
	if options == nil {
		options = map[string][]string{}
	}
	write(t, "a.spec.md", []byte(doc))
	camps, list := k.Compile(t.Context(), campaign.Spec{Path: "a.spec.md", Data: []byte(doc)}, ofFiles(options))
	if list.HasErrors() {
		t.Fatal(list)
	}
	var out []string
	var outcomes []campaign.Outcome
	for _, x := range camps {
		c, _ := campaign.As[*Campaign](x)
		e, err := campaign.Solo(t.Context(), c, campaign.Lane{Of: 1})
		if err != nil {
			t.Fatal(err)
		}
		for i := range c.slots {
			o, err := e.Execute(t.Context(), &state{}, campaign.Case{Index: int64(i)})
			if err != nil {
				t.Fatalf("case %d: %v", i, err)
			}
			r, _ := c.Result(int64(i), &o)
			out = append(out, r.ID+" "+r.verdict())
			outcomes = append(outcomes, o)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
	return out, outcomes
}

// ofFiles are settings that read the files that documents name.
func ofFiles(options map[string][]string) campaign.Settings {
	return campaign.Settings{Options: options, Read: os.ReadFile, Digest: func(path string) (string, error) {
		text, err := os.ReadFile(path)
		return string(text), err
	}}
}

func expect(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestCommandLines(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("runs POSIX programs")
	}
	t.Chdir(t.TempDir())
	write(t, "here.txt", []byte("found"))
	doc := blockDocument(`
id: STDIN
type: cli.run
harness: {entrypoint: cat, stdin_text: "a\nb"}
assert: [{target: stdout, must: [{evaluate: [[eq, [subject], "a\nb"]]}]}]
`, `
id: NO-STDIN
type: cli.run
harness: {entrypoint: cat}
assert: [{target: stdout, must: [{evaluate: [[eq, [subject], ""]]}]}]
`, `
id: FOLDER
type: cli.run
harness: {entrypoint: cat here.txt}
assert: [{target: stdout, must: [{contain: [found]}]}]
`, `
id: ENV
type: cli.run
harness:
  entrypoint: sh -c 'echo "$SET-${HOME-gone}-$FILE"; cat "$FILE"'
  env: {SET: 1.0, HOME: null, FILE: in/x.txt}
  setup_files: [{path: in/x.txt, text: content}]
assert:
  - target: stdout
    must: [{contain: ["1.0-gone-/", "content"]}]
`, `
id: TEMP
type: cli.run
harness: {entrypoint: sh -c 'echo x > "$THRESH_TMPDIR/left"; ls "$THRESH_TMPDIR"'}
assert: [{target: stdout, must: [{contain: [left]}]}]
`, `
id: TEMP-CLEAN
type: cli.run
harness: {entrypoint: sh -c 'ls "$THRESH_TMPDIR"'}
assert: [{target: stdout, must: [{evaluate: [[eq, [subject], ""]]}]}]
`, `
id: PATH
type: cli.run
harness:
  entrypoint: sh -c 'echo text > "$THRESH_TMPDIR/out.txt"; echo; echo " $THRESH_TMPDIR/out.txt"'
assert:
  - target: stdout_path
    must: [{exists: [true]}]
  - target: stdout_path_text
    must: [{contain: [text]}]
`, `
id: SIGNAL
type: cli.run
exit_code: 143
harness: {entrypoint: sh -c 'kill -TERM $$'}
`, `
id: STDERR
type: cli.run
exit_code: 3
harness: {entrypoint: sh -c 'echo bad >&2; exit 3'}
assert: [{target: stderr, must: [{contain: [bad]}]}, {target: stdout, cannot: [{contain: [bad]}]}]
`, `
id: NOT-THERE
type: cli.run
harness: {entrypoint: no-such-program-anywhere}
`, `
id: NO-SHELL
type: cli.run
harness: {entrypoint: 'echo a;b $HOME *'}
argv: ["$PATH"]
assert: [{target: stdout, must: [{contain: ["a;b $HOME * $PATH"]}]}]
`)
	got, _ := play(t, newContract(nil), doc, nil)
	expect(t, got, "STDIN pass", "NO-STDIN pass", "FOLDER pass", "ENV pass", "TEMP pass", "TEMP-CLEAN pass", "PATH pass",
		"SIGNAL pass", "STDERR pass", "NOT-THERE fail runtime", "NO-SHELL pass")
}

func TestSafeMode(t *testing.T) {
	t.Chdir(t.TempDir())
	doc := blockDocument("id: HOOK\ntype: cli.run\nharness: {entrypoint: 'a:b', hook_before: 'a:c'}\n",
		"id: FALLBACK\ntype: cli.run\n", "id: OWN\ntype: cli.run\nharness: {entrypoint: echo}\n")
	k := newContract(map[string]string{envSafe: "On", envEntrypoint: "echo"})
	got, _ := play(t, k, doc, nil)
	expect(t, got, "HOOK fail runtime", "FALLBACK fail runtime", "OWN pass")
	got, _ = play(t, newContract(map[string]string{envEntrypoint: "echo"}), blockDocument("id: FALLBACK\ntype: cli.run\n"), nil)
	expect(t, got, "FALLBACK pass")
}

func TestEnvironmentAllowlist(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("OTHER", "secret")
	doc := blockDocument("id: A\ntype: cli.run\nharness: {entrypoint: env, env: {OWN: x}}\nassert:\n  - target: stdout\n    must: [{regex: ['(?m)^OWN=x$', '(?m)^KEPT=y$']}]\n  - target: stdout\n    cannot: [{contain: [secret]}]\n")
	got, _ := play(t, newContract(map[string]string{envAllow: "PATH, KEPT", "KEPT": "y"}), doc, nil)
	expect(t, got, "A pass")
}

func TestAlias(t *testing.T) {
	t.Chdir(t.TempDir())
	doc := blockDocument("id: A\ntype: cli.run\nargv: [c]\nharness: {entrypoint: 'mod:main'}\nassert: [{target: stdout, must: [{contain: [a b c]}]}]\n")
	got, _ := play(t, newContract(nil), doc, map[string][]string{optAlias: {"mod:main=echo 'a b'"}})
	expect(t, got, "A pass")
}

func TestSelection(t *testing.T) {
	t.Chdir(t.TempDir())
	var bodies []string
	for i := range 40 {
		bodies = append(bodies, fmt.Sprintf("id: CASE-%02d\ntype: text.file\ntitle: number %d\ntags: [%s]\n", i, i, []string{"even", "odd"}[i%2]))
	}
	doc := blockDocument(bodies...)
	run := func(options map[string][]string) []string {
		got, _ := play(t, newContract(nil), doc, options)
		return got
	}
	expect(t, run(map[string][]string{optFilter: {"id=-0[0-3]$", "tag=^odd$"}}), "CASE-01 pass", "CASE-03 pass")
	expect(t, run(map[string][]string{optFilter: {"number 7"}}), "CASE-07 pass")
	if got := run(map[string][]string{optFilter: {"type=cli"}}); len(got) != 0 {
		t.Error(got)
	}
	var all []string
	for i := 1; i <= 3; i++ {
		part := run(map[string][]string{optShard: {fmt.Sprintf("%d/3", i)}})
		if len(part) == 0 || len(part) == 40 {
			t.Errorf("shard %d has %d cases", i, len(part))
		}
		all = append(all, part...)
	}
	slices.Sort(all)
	if whole := run(nil); !slices.Equal(all, whole) {
		t.Errorf("shards come to %d cases of %d", len(all), len(whole))
	}
	one, again, other := run(map[string][]string{optShuffle: {"1"}}), run(map[string][]string{optShuffle: {"1"}}), run(map[string][]string{optShuffle: {"2"}})
	if !slices.Equal(one, again) || slices.Equal(one, other) || slices.IsSorted(one) {
		t.Error("the order is not decided by the seed")
	}
	if one[0] != "CASE-20 pass" {
		t.Errorf("seed 1 begins with %s: orders must stay what they are", one[0])
	}
}

// A case that passes when it is tried again is not a plain pass.
func TestRetries(t *testing.T) {
	t.Chdir(t.TempDir())
	doc := blockDocument("id: A\ntype: cli.run\nharness:\n  entrypoint: sh -c 'test -e mark || { touch mark; echo new; exit 1; }'\n")
	_, out := play(t, newContract(nil), doc, map[string][]string{optRetries: {"2"}})
	if o := out[0]; o.Verdict != campaign.VerdictFail || o.Kind != "flaky" || !strings.Contains(o.Title, "exit code") || string(o.Attached("stdout")) != "new\n" {
		t.Errorf("%+v", o) // what it printed when it failed, not when it held
	}
	_, out = play(t, newContract(nil), doc, map[string][]string{optRetries: {"2"}})
	if out[0].Verdict != campaign.VerdictPass {
		t.Errorf("%+v", out[0])
	}
}

func TestHostile(t *testing.T) {
	t.Chdir(t.TempDir())
	var b strings.Builder
	b.WriteString("a0: &a0 [x, x, x]\n")
	for i := 1; i < 12; i++ {
		fmt.Fprintf(&b, "a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 10), ", "))
	}
	doc := blockDocument(b.String(), `
id: FLOOD
type: cli.run
harness: {entrypoint: sh -c 'yes | head -c 1000000000'}
`, `
id: ENDLESS
type: cli.run
harness: {entrypoint: sh -c 'sleep 100 & wait', timeout_seconds: 0.2}
`, `
id: BACKTRACK
type: cli.run
harness: {entrypoint: echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab}
assert: [{target: stdout, must: [{regex: ['^(a+)+\1c$']}]}]
`, `
id: DEVICE
type: text.file
path: ../../../../../../dev/zero
`, `
id: AFTER
type: cli.run
harness: {entrypoint: echo}
`)
	got, _ := play(t, newContract(nil), doc, nil)
	expect(t, got, "a.spec.md:1 fail schema", "FLOOD fail runtime", "ENDLESS fail runtime", "BACKTRACK fail runtime", "DEVICE fail schema", "AFTER pass")
}

// A predicate's time is up only when it has had it: a machine that is busy
// elsewhere makes no failure, an evaluation without end does.
func TestPredicateTime(t *testing.T) {
	if _, known := threadTime(); !known {
		t.Skip("the time of a thread is not known here")
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	e := evaluator{c: &Case{timeout: 20 * time.Millisecond}, deadline: time.Now().Add(-time.Hour)}
	if e.expired() {
		t.Error("over before the processor gave any time")
	}
	for n := 0; !e.expired(); n++ {
		if n > 1e9 {
			t.Fatal("never over")
		}
	}
	t.Chdir(t.TempDir())
	doc := blockDocument(`
id: LOOP
type: text.file
harness: {spec_lang: {max_steps: 2000000000, timeout_ms: 20}}
assert:
  - target: text
    must:
      - evaluate:
          - [let, [[f, [fn, [n], [call, [var, f], [var, n]]]]], [call, [var, f], 1]]
`)
	got, out := play(t, newContract(nil), doc, nil)
	expect(t, got, "LOOP fail runtime")
	if !strings.Contains(string(out[0].Data), "budget exceeded: timeout") {
		t.Errorf("%s", out[0].Data)
	}
}

// What a document decodes to is bounded by its text: cases beyond the first
// ones are decoded when they are run.
func TestLongDocument(t *testing.T) {
	t.Chdir(t.TempDir())
	var bodies []string
	for i := range retained + 300 {
		bodies = append(bodies, fmt.Sprintf("id: C%d\ntype: text.file\nassert: [{target: text, must: [{contain: ['C%d']}]}]\n", i, i))
	}
	doc := blockDocument(bodies...)
	got, _ := play(t, newContract(nil), doc, nil)
	if len(got) != retained+300 || got[len(got)-1] != fmt.Sprintf("C%d pass", retained+299) {
		t.Errorf("%d cases, the last %s", len(got), got[len(got)-1])
	}
}

// A document of ten megabytes is read like any other.
func TestHugeDocument(t *testing.T) {
	t.Chdir(t.TempDir())
	var b strings.Builder
	one := blockDocument("id: C%d\ntype: text.file\npath: subject.txt\n")
	for i := range 4 {
		fmt.Fprintf(&b, "# Part %d\n\n"+one, i, i)
		b.WriteString(strings.Repeat("Prose of a part, with ``` in it and <b>markup</b>.\n", 50_000))
	}
	b.WriteString("\n```yaml spec-test\nid: NEVER-CLOSED\n")
	write(t, "subject.txt", nil)
	got, _ := play(t, newContract(nil), b.String(), nil)
	if b.Len() < 10_000_000 || len(got) != 5 || got[3] != "C3 pass" || !strings.HasSuffix(got[4], " fail schema") {
		t.Errorf("%d bytes: %q", b.Len(), got)
	}
}

func TestHTTP(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/missing":
			http.Error(w, "nothing here", http.StatusNotFound)
		case "/echo":
			body := make([]byte, 100)
			n, _ := r.Body.Read(body)
			w.Header().Set("X-Method", r.Method)
			fmt.Fprintf(w, `{"type": %q, "own": %q, "body": %q}`, r.Header.Get("Content-Type"), r.Header.Get("X-Own"), body[:n])
		case "/empty":
			w.WriteHeader(http.StatusNoContent)
		case "/slow":
			<-r.Context().Done()
		}
	}))
	defer s.Close()
	t.Chdir(t.TempDir())
	doc := strings.ReplaceAll(blockDocument(`
id: STATUS
type: api.http
request: {method: get, url: "@/missing"}
assert:
  - {target: status, must: [{contain: ["404"]}]}
  - {target: body_text, must: [{contain: ["nothing here"]}]}
`, `
id: JSON
type: api.http
request: {method: post, url: " @/echo ", headers: {X-Own: 1}, body_json: {z: 0, a: [1, null]}}
assert:
  - {target: headers, must: [{regex: ["(?m)^X-Method: POST$"]}]}
  - target: body_json
    must:
      - json_type: [dict]
      - evaluate:
          - [eq, [get, [subject], type], application/json]
          - [eq, [get, [subject], own], "1"]
          - [eq, [get, [subject], body], '{"z":0,"a":[1,null]}']
`, `
id: EMPTY
type: api.http
request: {method: GET, url: "@/empty"}
assert: [{target: status, must: [{contain: ["204"]}]}]
`, `
id: NO-JSON
type: api.http
request: {method: GET, url: "@/missing"}
assert: [{target: body_json, must: [{json_type: [dict]}]}]
`, `
id: SLOW
type: api.http
harness: {timeout_seconds: 0.1}
request: {method: GET, url: "@/slow"}
`, `
id: SCHEME
type: api.http
request: {method: GET, url: "gopher://x"}
`, `
id: OUTSIDE
type: api.http
request: {method: GET, url: "../x.json"}
`), "@", s.URL)
	k := contract{New(Targets{Commands: command.Open, Python: python.OpenCommander, HTTP: httpsys.OpenClient, Scratch: tempFolder, FreePort: program.FreePort})}
	got, _ := play(t, k, doc, nil)
	expect(t, got, "STATUS pass", "JSON pass", "EMPTY pass", "NO-JSON fail assertion", "SLOW fail runtime", "SCHEME fail runtime", "OUTSIDE fail schema")
}

func TestLinksOutOfTheRoot(t *testing.T) {
	root := t.TempDir()
	t.Chdir(root)
	outside := filepath.Join(t.TempDir(), "secret.txt")
	write(t, outside, []byte("secret"))
	if err := os.Symlink(outside, "link.txt"); err != nil {
		t.Skip(err)
	}
	got, _ := play(t, newContract(nil), blockDocument("id: A\ntype: text.file\npath: link.txt\n", "id: B\ntype: text.file\npath: ../../nowhere.txt\n"), nil)
	expect(t, got, "A fail schema", "B fail schema")
}

// tempFolder makes a temporary folder, as the program that the contract is part of does.
func tempFolder() (dir string, remove func() error, err error) {
	f, err := scratch.Make("")
	if err != nil {
		return "", nil, err
	}
	return f.Path, f.Close, nil
}
