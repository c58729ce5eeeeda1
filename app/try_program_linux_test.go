package app

import (
	"bytes"
	"context"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/app/draft"
	"github.com/thresh-dev/thresh/engine/crash"
)

// Of a program in C, the words are what it compares with, in its code too, and its constants.
func TestWordsOfABinary(t *testing.T) {
	dir := t.TempDir()
	file, program := filepath.Join(dir, "p.c"), filepath.Join(dir, "p")
	source := "#include <string.h>\nchar in[64]; int main(int n, char **v) { return !memcmp(v[0], \"GRB2\", 4) + !memcmp(in, \"QOI7\", 4) + strlen(strstr(in, \"BEGIN-ALL\")); }\n"
	if err := os.WriteFile(file, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("gcc", "-O2", "-o", program, file).CombinedOutput(); err != nil {
		t.Skipf("gcc: %v\n%s", err, out)
	}
	data, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	words := string(draft.Dictionary(data))
	for _, w := range []string{"GRB2", "QOI7", "BEGIN-ALL"} {
		if !strings.Contains(words, `"`+w+`"`) {
			t.Errorf("%s is not among the words:\n%s", w, words)
		}
	}
	if strings.Contains(words, "strstr") {
		t.Errorf("symbols are among the words:\n%s", words)
	}
}

// A program that only looks instrumented is not drafted for a guided run, which could not start.
func TestTryInstrumentedProgram(t *testing.T) {
	for mark, want := range map[string]bool{"__AFL_SHM_ID": true, "__sancov_cntrs": true, "nothing": false} {
		dir := t.TempDir()
		file, program := filepath.Join(dir, "p.c"), filepath.Join(dir, "p")
		if err := os.WriteFile(file, []byte("#include <stdio.h>\nint main() { puts(\""+mark+"\"); return 0; }\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command("gcc", "-o", program, file).CombinedOutput(); err != nil {
			t.Skipf("gcc: %v\n%s", err, out)
		}
		d, err := New().Draft(t.Context(), Try{Words: []string{program}, Folder: filepath.Join(dir, "draft"), Lanes: 1})
		if err != nil {
			t.Fatal(err)
		}
		guided := slices.ContainsFunc(d.Options, func(o draft.Option) bool { return o.Name == "guided" })
		if why := strings.Join(d.Why, "\n"); guided || strings.Contains(why, "cannot be measured") != want {
			t.Errorf("%s: guided %t, the draft says %q", mark, guided, why)
		}
	}
}

// A program that refuses all small inputs of common formats is opened with its own words, and
// what it refuses in another way than most is kept.
func TestOpenings(t *testing.T) {
	said := func(in []byte) string {
		switch rest, ok := bytes.CutPrefix(in, []byte("GRB2")); {
		case !ok:
			return "no packet"
		case len(rest) == 0 || rest[0] != 1:
			return "wrong version"
		case !slices.Contains(rest, 'z'):
			return "wrong type"
		}
		return ""
	}
	for words, want := range map[string][]string{"": {"no packet"}, "\"rb\"\n\"GRB2\"\n": {"", "wrong type", "wrong version"}} {
		p := &probe{end: time.Now().Add(time.Minute), run: func(_ context.Context, in []byte) (ended, error) {
			e := ended{said: said(in)}
			if e.cause.Class = crash.ClassNone; e.said != "" {
				e.cause.Class = crash.ClassExit
			}
			return e, nil
		}}
		f := &draft.ProgramFacts{Command: []string{"p"}, Words: []byte(words), Seeds: []draft.Seed{{Name: "seed.txt", Data: []byte("hello world\n")}}, Refused: len(draft.Seeds())}
		tries, run := 0, p.run
		p.run = func(ctx context.Context, in []byte) (ended, error) {
			if tries++; tries > 20_000 {
				p.end = time.Now()
			}
			return run(ctx, in)
		}
		if err := p.open(t.Context(), f); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, s := range f.Seeds {
			got = append(got, said(s.Data))
		}
		slices.Sort(got)
		if f.Opened != len(want)/2 || !slices.Equal(got, want) {
			t.Errorf("with %q: %d, %q, want %q", words, f.Opened, got, want)
		}
	}
}

// A program that takes one input of a common format is asked for its own words too: what it takes,
// or ends at, is kept, and what it refuses is not.
func TestOpeningsBesideAFormat(t *testing.T) {
	p := &probe{end: time.Now().Add(time.Minute), run: func(_ context.Context, in []byte) (e ended, err error) {
		switch e.said = string(bytes.TrimRight(in, "12/\n")); {
		case e.said == "entry=":
			e.cause.Class = crash.ClassSignal
		case e.said != "[" && e.said != "ratio=":
			e.cause.Class = crash.ClassExit
		}
		return e, nil
	}}
	f := &draft.ProgramFacts{Command: []string{"p"}, Words: []byte("\"ratio\"\n\"entry\"\n"), Seeds: []draft.Seed{{Data: []byte("[1")}}, Refused: len(draft.Seeds()) - 1}
	if err := p.open(t.Context(), f); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range f.Seeds {
		got = append(got, string(s.Data))
	}
	if want := []string{"[1", "ratio=1\n", "entry=1\n"}; f.Opened != 2 || !slices.Equal(got, want) {
		t.Errorf("%d, %q, want %q", f.Opened, got, want)
	}
}

// However long the seeds take, a look learns how the program refuses inputs.
func TestDamagedInputsWithoutTime(t *testing.T) {
	p := &probe{run: func(_ context.Context, in []byte) (e ended, err error) {
		if len(in) > 0 && string(in) != "seed" {
			e.cause.Class, e.exit, e.cause.Title = crash.ClassExit, 3, "exit status 3: '/tmp/thresh-1/case/in.bin': no header"
		}
		return e, nil
	}}
	f := &draft.ProgramFacts{Command: []string{"p"}}
	if err := p.learn(t.Context(), f, []draft.Seed{{Name: "a", Data: []byte("seed")}}, 1); err != nil || !maps.Equal(f.Exits, map[int]string{3: "'@@': no header"}) {
		t.Errorf("%v, %v, want exit code 3 and what is said with it", f.Exits, err)
	}
}

func TestVariablesThatAProgramNames(t *testing.T) {
	environ := []string{"PARSER_HOME=/x", "PARSER=1", "LIMIT=5", "HOME=/root", "LC_ALL=C", "TZX=1", "odd.name=1", "MODE_2=a=b"}
	for text, want := range map[string]string{
		"\x00PARSER_HOME\x00": "PARSER_HOME", `os.environ["MODE_2"], getenv("LIMIT")`: "LIMIT MODE_2", "MODE_2": "MODE_2",
		"HOME LC_ALL TZX odd.name": "", "MY_LIMIT LIMITS": "", "": "",
	} {
		if got := strings.Join(named([]byte(text), environ), " "); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestUnsanitized(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "p.c")
	if err := os.WriteFile(file, []byte("int main(int n, char **v) { return n + n + v[0][n]; }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for i, c := range []struct {
		compiler []string
		want     bool
	}{
		{[]string{"gcc"}, true},
		{[]string{"gcc", "-static", "-s"}, true},
		{[]string{"clang"}, true},
		{[]string{"gcc", "-fsanitize=address"}, false},
		{[]string{"clang", "-fsanitize=address", "-s"}, false},
		{[]string{"gcc", "-fsanitize=undefined"}, false},
	} {
		program := filepath.Join(dir, string(rune('a'+i)))
		if out, err := exec.Command(c.compiler[0], append(c.compiler[1:], "-o", program, file)...).CombinedOutput(); err != nil {
			t.Logf("%q: %v\n%s", c.compiler, err, out)
			continue // a compiler or its sanitizer is not installed
		}
		data, err := os.ReadFile(program)
		if err != nil {
			t.Fatal(err)
		}
		if got := unsanitized(data); got != c.want {
			t.Errorf("%q: unsanitized is %v, want %v", c.compiler, got, c.want)
		}
	}
	own, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	if unsanitized(own) || unsanitized([]byte("#!/bin/sh\n")) {
		t.Error("a program in Go, or a script, counts as one in C")
	}
}
