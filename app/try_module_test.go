package app_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/app"
	"github.com/thresh-dev/thresh/internal/testproc"
)

// A module is explored by its exports, or given bytes; the planted fault is
// found, and the twin that has none holds.
func TestTryModules(t *testing.T) {
	dir := t.TempDir()
	seed := filepath.Join(dir, "seed")
	if err := os.WriteFile(seed, []byte("6/2"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		name   string
		module func(t *testing.T, bug bool) []byte
		seeds  []string
		want   []string // titles of the findings
		why    string   // what the draft says
	}{
		{"article", func(t *testing.T, bug bool) []byte {
			return exampleModule(t, map[bool]string{true: "faulty/article/publishing-fails-once-something-was-withdrawn.wasm", false: "article.wasm"}[bug])
		}, nil, []string{"publish fails: unreachable in publish"}, "Used unchecked as handles or addresses"},
		{"calc", compiled("calc"), nil, []string{"unlock fails: unreachable in unlock"},
			"Not called: half (f64), age (needs an import that only its host has)."},
		{"account", compiled("account"), nil, []string{"move fails: unreachable in move", "note fails: unreachable in note"}, "Used unchecked as handles or addresses, so 0 to 10 are tried: add_1."},
		{"arena", compiled("arena"), nil, []string{"keep fails: unreachable in keep"}, "Called in any order"},
		{"trapping arena", compiled("arena", "-DTRAPS"), nil, []string{"keep fails: unreachable in keep"}, "Called in any order"},
		{"parse", compiled("parse"), nil, []string{"trap: unreachable"}, "given to parse, by address and length"},
		{"command", compiled("command"), []string{seed}, []string{"trap: integer divide by zero"}, "WASI command"},
	} {
		t.Run(x.name, func(t *testing.T) {
			if testing.Short() && x.name != "calc" {
				t.Skip("one module shows what goes on at the same time")
			}
			if (x.name == "account" || x.name == "trapping arena") && !testproc.Long() {
				t.Skip("calc and arena show most of it: set THRESH_TEST_LONG=1")
			}
			for _, bug := range []bool{true, false} {
				path := filepath.Join(t.TempDir(), x.name+".wasm")
				if err := os.WriteFile(path, x.module(t, bug), 0o644); err != nil {
					t.Fatal(err)
				}
				a := app.New()
				d, err := a.Draft(t.Context(), app.Try{Words: []string{path}, Seeds: x.seeds, Folder: filepath.Join(filepath.Dir(path), "draft"), Lanes: 2})
				if err != nil {
					t.Fatal(err)
				}
				if why := strings.Join(d.Why, "\n"); !strings.Contains(why, x.why) {
					t.Errorf("the draft says %q, want %q in it", why, x.why)
				}
				job := app.Job{Paths: []string{d.Path()}, Store: t.TempDir(), Cases: 4000, Options: map[string][]string{}}
				for _, o := range d.Options {
					job.Options[o.Name] = append(job.Options[o.Name], o.Value)
				}
				rec, err := a.Run(t.Context(), job)
				if err != nil {
					t.Fatal(err)
				}
				var titles []string
				for _, f := range rec.Findings {
					titles = append(titles, f.Title)
				}
				got := strings.Join(titles, "\n")
				for _, want := range x.want {
					if bug && !strings.Contains(got, want) {
						t.Errorf("found %q, want %q", got, want)
					}
				}
				if n := map[bool]int{true: len(x.want)}[bug]; len(titles) != n || rec.Campaigns[0].Cases.Error != 0 {
					t.Errorf("bug %t: %d findings, want %d: %s", bug, len(titles), n, got)
				}
			}
		})
	}
}

// A module of which no model can be drafted is called all the same, and the draft says so.
func TestInitWithoutModel(t *testing.T) {
	path := filepath.Join(t.TempDir(), "calc.wasm")
	if err := os.WriteFile(path, compiled("version")(t, false), 0o644); err != nil {
		t.Fatal(err)
	}
	d, err := app.New().Draft(t.Context(), app.Try{Words: []string{path}, Format: "fresnelfir", Folder: filepath.Join(filepath.Dir(path), "draft"), Lanes: 2})
	if err != nil || !strings.Contains(strings.Join(d.Why, "\n"), "No simple rule foretells") {
		t.Errorf("%+v, %v", d, err)
	}
}

// compiled is a module made of a C file in testdata/try.
func compiled(name string, flags ...string) func(*testing.T, bool) []byte {
	return func(t *testing.T, bug bool) []byte {
		out := filepath.Join(t.TempDir(), "a.wasm")
		args := append([]string{"--target=wasm32", "-nostdlib", "-O1", "-Wl,--no-entry,--allow-undefined", "-o", out, filepath.Join("testdata", "try", name+".c")}, flags...)
		if bug {
			args = append(args, "-DBUG")
		}
		if text, err := exec.Command("clang", args...).CombinedOutput(); err != nil {
			if os.Getenv("THRESH_CI") != "" {
				t.Fatalf("clang makes no WebAssembly: %v\n%s", err, text)
			}
			t.Skipf("clang makes no WebAssembly here: %v\n%s", err, text)
		}
		binary, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		return binary
	}
}
