package fuzzspec_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/contract/fuzzspec"
)

// vector is a document with what existing tools say of it.
type vector struct {
	Name      string  `json:"name"`
	Strict    bool    `json:"strict"`
	Text      string  `json:"spec_text"`
	RC        int     `json:"rc"`
	Stderr    string  `json:"stderr"`
	Canonical *string `json:"canonical_fuzzspec_json"`
}

// vectors reads the measured vectors and puts dir in the place of @FIXTURES@.
func vectors(t testing.TB, dir string) []vector {
	t.Helper()
	data, err := os.ReadFile("testdata/validation.json")
	if err != nil {
		t.Fatal(err)
	}
	var list []vector
	if err := json.Unmarshal(data, &list); err != nil {
		t.Fatal(err)
	}
	for i := range list {
		v := &list[i]
		if v.Name == "deep" { // abbreviated in the file
			v.Text = strings.Repeat("[", 100000)
		}
		v.Text = strings.ReplaceAll(v.Text, "@FIXTURES@", dir)
		if v.Canonical != nil {
			c := strings.ReplaceAll(*v.Canonical, "@FIXTURES@", dir)
			// Half a character has no place in a UTF-8 file, where existing tools
			// fail to write it; here it stays the escape that it was.
			c = strings.ReplaceAll(c, "\ufffd", `\ud800`)
			v.Canonical = &c
		}
	}
	return list
}

func TestValidateAnswersAsExistingToolsDo(t *testing.T) {
	dir := fixtures(t)
	machine := debian(dir)
	for _, v := range vectors(t, dir) {
		t.Run(v.Name, func(t *testing.T) {
			spec, warning, err := fuzzspec.Validate([]byte(v.Text), machine, v.Strict)
			stderr, rc := "", 0
			if warning != "" {
				stderr = warning + "\n"
			}
			if err != nil {
				stderr, rc = err.Error()+"\n", 2
			}
			if stderr != v.Stderr || rc != v.RC {
				t.Fatalf("got %d %q\nwant %d %q", rc, stderr, v.RC, v.Stderr)
			}
			if v.Canonical != nil && err == nil {
				if got := string(spec.Snapshot()); got != *v.Canonical {
					t.Errorf("snapshot:\n%s\nwant:\n%s", got, *v.Canonical)
				}
			}
		})
	}
}

const minimal = `{"schema_version": "llmfuzz.fuzzspec.v1", "campaign_id": "c",
 "target": {"agent_id": "a", "work_root_base": "/srv/fuzz", "command": ["true"]},
 "seed": {"path": "/srv/fuzz/seed.bin"}, "mutations": {"cases": 1}, "execution": {},
 "outputs": {"out_dir": "runs/<run_id>/out", "eval_dir": "runs/<run_id>/eval"}}`

// edit replaces parts of a text; each part must be there.
func edit(t testing.TB, text string, pairs ...string) string {
	t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		if !strings.Contains(text, pairs[i]) {
			t.Fatalf("no %q to replace", pairs[i])
		}
		text = strings.Replace(text, pairs[i], pairs[i+1], 1)
	}
	return text
}

func TestValidateBeyondTheVectors(t *testing.T) {
	command := func(c string) string { return edit(t, minimal, `["true"]`, `[`+c+`]`) }
	for _, c := range []struct {
		name, text, want string
		unexpected       bool
	}{
		{"java is a link out of /usr/bin", command(`"java"`), "target.command[0]: executable not allowlisted", false},
		{"a program of /usr/local/bin", command(`"mine"`), "", false},
		{"a program that others can write", command(`"open"`), "target.command[0]: must not be group/world-writable", false},
		{"a file that is not a program", command(`"/usr/bin/notes"`), "target.command[0]: must be executable", false},
		{"a tool of the tool cache", command(`"/opt/hostedtoolcache/node"`), "", false},
		{"a slash at the end", command(`"/bin/true/"`), "", false},
		{"a backslash makes it explicit", command(`"a\\b"`), "target.command[0]: must be an absolute path", false},
		{"a link to itself", command(`"/opt/loop"`), "target.command[0]: must resolve to a file", false},
		{"a missing folder", command(`"/none/true"`), "target.command[0]: must resolve to a file", false},
		{"an empty name", command(`""`), "target.command[0]: must resolve to an allowlisted executable", false},
		{"no command beats an unknown field", edit(t, minimal, `, "command": ["true"]`, `, "zzz": 1`), "Adapters are not shipped in OSS. Use target.command.", false},
		{"an empty command", command(``), "target.command: must not be empty", false},
		{"a timeout beyond floats", edit(t, minimal, `"target": {`, `"target": {"timeout_s": 1`+strings.Repeat("0", 400)+`, `), "spec: unexpected error (OverflowError)", true},
		{"a folder as seed", edit(t, minimal, "/srv/fuzz/seed.bin", "/srv/fuzz"), "", false},
		{"a seed that may not be looked at", edit(t, minimal, "/srv/fuzz/seed.bin", "/secret/seed"), "spec: unexpected error (PermissionError)", true},
		{"runtime_root /", edit(t, minimal, `"target": {`, `"target": {"runtime_root": "/", `), "target.work_root_base: must not be under runtime_root", false},
		{"a NUL where links are resolved", edit(t, minimal, `"target": {`, `"target": {"runtime_root": "/a\u0000", `), "spec: unexpected error (ValueError)", true},
		{"unknown fields in order of code points", edit(t, minimal, `{"cases": 1}`, `{"cases": 1, "b": 1, "Z": 1}`), "mutations.Z: unknown field", false},
		{"a missing field beats an unknown one", edit(t, minimal, `{"cases": 1}`, `{"b": 1}`), "mutations.cases: missing required field", false},
		{"the last of repeated keys counts", edit(t, minimal, `{"cases": 1}`, `{"cases": 0, "cases": 2}`), "", false},
		{"an unknown field with half a character", edit(t, minimal, `{"cases": 1}`, `{"cases": 1, "\ud800": 1}`), `mutations.\ud800: unknown field`, false},
		{"an empty list of strategies", edit(t, minimal, `{"cases": 1}`, `{"cases": 1, "strategies": []}`), "", false},
		{"a brackets pair is no token", edit(t, minimal, "runs/<run_id>/out", "runs/<>/out"), "", false},
		{"not UTF-8", "\xff", "spec: unexpected error (UnicodeDecodeError)", true},
		{"an integer too long", "[" + strings.Repeat("9", 4301) + "]", "spec: unexpected error (ValueError)", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := fuzzspec.Validate([]byte(c.text), debian(), false)
			got := ""
			var r *fuzzspec.Refusal
			if errors.As(err, &r) {
				got = r.Line
				if r.Unexpected != c.unexpected {
					t.Errorf("Unexpected is %v", r.Unexpected)
				}
			}
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestNormalizePath(t *testing.T) {
	for in, want := range map[string]string{
		"/a//b/./c/": "/a/b/c", "//a/b": "//a/b", "///a": "/a", "/a/../b": "/a/../b", "/": "/", "//": "//", "": ".", "a/./b": "a/b", "./": ".",
	} {
		if got := fuzzspec.NormalizePath(in); got != want {
			t.Errorf("NormalizePath(%q) is %q, want %q", in, got, want)
		}
	}
}

// A digest may have every hexadecimal digit, in small and capital letters, and nothing else.
func TestSeedDigest(t *testing.T) {
	const digits = "0123456789abcdef0123456789ABCDEF"
	for digest, taken := range map[string]bool{
		digits + digits: true, digits + digits[:31]: false, digits + digits + "0": false, digits + digits[:31] + "/": false, digits + digits[:31] + ":": false,
		digits + digits[:31] + "g": false, digits + digits[:31] + "`": false, digits + digits[:31] + "G": false, digits + digits[:31] + "@": false,
	} {
		_, _, err := fuzzspec.Validate([]byte(edit(t, minimal, `"/srv/fuzz/seed.bin"`, `"/srv/fuzz/seed.bin", "sha256": "`+digest+`"`)), debian(), false)
		if (err == nil) != taken {
			t.Errorf("%q: %v", digest, err)
		}
	}
}

// A program is allowed by its name in the document, by the file that this is, and by a link to
// that file, and nothing else is allowed with it.
func TestAllowedPrograms(t *testing.T) {
	machine := debian()
	machine.entries["/opt/link"] = entry{mode: fs.ModeSymlink, link: "tool"}
	machine.entries["/opt/other"] = entry{mode: fs.ModeSymlink, link: "/opt/tool"}
	machine.entries["/opt/deep"] = entry{mode: fs.ModeSymlink, link: "/srv/fuzz"}
	machine.entries["/srv/tool"] = entry{mode: executable, size: 1}
	for _, c := range []struct {
		command, allow string
		allowed        bool
	}{
		{"/opt/tool", "/opt//tool", true}, {"/opt/link", "/opt/link", true}, {"/opt/link", "/opt/tool", true}, {"/opt/link", "/opt/other", true}, {"/opt/tool", "/opt/link", true},
		{"/opt/deep/../tool", "/opt/deep/../tool", true}, {"/opt/deep/../tool", "/srv/tool", true}, {"/opt/deep/../tool", "/opt/tool", false},
		{"/opt/tool", "/srv/tool", false}, {"/opt/tool", "/opt", false}, {"/opt/tool", "/opt/nowhere", false}, {"/opt/tool", "", false},
	} {
		_, list := fuzzspec.Check([]byte(edit(t, sample, `"cat"`, `"`+c.command+`"`)), machine, fuzzspec.CheckOptions{AllowExec: []string{c.allow}})
		if list.HasErrors() == c.allowed {
			t.Errorf("%s with %q allowed: %s", c.command, c.allow, list)
		}
	}
}
