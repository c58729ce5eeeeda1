package app

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/secret"
	"github.com/thresh-dev/thresh/port/sut"
	"github.com/thresh-dev/thresh/store"
)

// What a document, an option or a file of variables has as a credential is stored nowhere. A
// replay finds it where it was, or in the environment, and says what it needs otherwise.
func TestCredentialsOfStoredRuns(t *testing.T) {
	const key = "sk+live/7f3a9c/0011"
	asked := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+key {
			t.Error(r.Header)
		}
		asked++
		w.WriteHeader(http.StatusTeapot)
	}))
	defer s.Close()
	for _, x := range []struct{ name, header, vars, file, again, want string }{
		{"a literal", key, "", "", "THRESH_SECRET_1", "3 PAGE: needs a secret, which is not stored: "},
		{"an option", "${tok}", "tok=" + key, "", "tok", "3 the value of tok is a secret and is not stored (export tok=...)"},
		{"a file", "${tok}", "", "tok: '" + key + "'\n", "THRESH_SECRET_1", "3 VARS: needs a secret, which is not stored: "},
	} {
		t.Run(x.name, func(t *testing.T) {
			a, dir := New(), t.TempDir()
			st, err := a.OpenStore(filepath.Join(dir, "store"))
			if err != nil {
				t.Fatal(err)
			}
			defer st.Close()
			page, vars := filepath.Join(dir, "page.spec.md"), filepath.Join(dir, "vars")
			text := fmt.Sprintf("```yaml spec-test\nid: ASKS\ntype: api.http\nrequest: {method: GET, url: %q, headers: {Authorization: \"Bearer %s\"}}\nassert: [{when: status == 200}]\n```\n", s.URL, x.header)
			if err := os.WriteFile(page, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			job := Job{Paths: []string{page}, Store: st.Dir(), Workers: 1, Options: map[string][]string{}}
			if x.vars != "" {
				job.Options[optVar] = []string{x.vars, "other=" + strings.Repeat("x", 20)}
			}
			if x.file != "" {
				job.Options[optVarFile] = []string{vars}
				if err := os.WriteFile(vars, []byte(x.file), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			rec, err := a.Run(t.Context(), job)
			if err != nil || len(rec.Findings) != 1 {
				t.Fatal(err, rec)
			}
			j, err := st.OpenJournal(rec.RunID)
			if err != nil {
				t.Fatal(err)
			}
			m := j.Manifest()
			j.Close()
			kept := string(m.Settings)
			for _, b := range m.Files {
				data, _ := st.Blob(b)
				kept += string(data)
			}
			if err := store.ReadSpecs(m.Specs, st.Blob, func(_ store.SpecRef, data []byte) error { kept += string(data); return nil }); err != nil {
				t.Fatal(err)
			}
			if strings.Contains(kept, key) || !strings.Contains(kept, "${secret:") {
				t.Error(kept)
			}
			replay := func(want string) {
				t.Helper()
				asked = 0
				r, err := New().Replay(t.Context(), st, rec.Findings[0].ID, ReplayJob{Times: 2, AsStored: true})
				got := strings.NewReplacer(page, "PAGE", vars, "VARS").Replace(said(err))
				if !strings.HasPrefix(got, want) || err == nil && (asked != 2 || r.Rerun.Same != 2) || err != nil && asked > 0 {
					t.Errorf("%s, %d requests, %+v", got, asked, r.Rerun)
				}
			}
			if x.vars == "" {
				replay("done")
			}
			// A document that was changed has other secrets.
			for _, f := range []string{page, vars} {
				if data, err := os.ReadFile(f); err == nil {
					if err := os.WriteFile(f, append(data, "\n# more\n"...), 0o600); err != nil {
						t.Fatal(err)
					}
				}
			}
			replay(x.want)
			t.Setenv(x.again, key)
			replay("done")
			// Another run of the document is of the same campaign, wherever its value comes from.
			if err := os.WriteFile(page, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if x.file != "" {
				if err := os.WriteFile(vars, []byte(x.file), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if again, err := New().Run(t.Context(), job); err != nil || again.Digest != rec.Digest || again.Findings[0].ID != rec.Findings[0].ID {
				t.Error(err, again.Digest, rec.Digest)
			}
		})
	}
}

// Nothing is hidden of documents without options that may hold credentials, and a document that
// is only looked at may keep its placeholders.
func TestKeepersOfSecrets(t *testing.T) {
	docs := []Document{{Spec: campaign.Spec{Data: []byte("headers: {Authorization: 'Bearer ${b} ${a} ${b}'}")}}, {Spec: campaign.Spec{Data: []byte("token: ${c}")}}}
	if c := credentialsOf(docs, nil); c.names != nil || c.files != nil {
		t.Error(c)
	}
	c := credentialsOf(docs, map[string][]string{optVarFile: {"v"}})
	if fmt.Sprint(c.names, c.files) != "[a b c] [v]" {
		t.Error(c)
	}
	for path, want := range map[string]bool{"v": true, "w": false} {
		if _, declares := c.scan(path, []byte("a: x")); declares != want {
			t.Error(path)
		}
	}
	if _, declares := c.scan("w", []byte("schema: thresh.system.v1")); !declares {
		t.Error("a system file declares secrets")
	}
	text := []byte("Authorization: Bearer ${secret:1}")
	for lenient, want := range map[bool]string{true: string(text), false: ""} {
		k := keeper{lenient: lenient}
		got, err := k.reveal("none", "", text, secret.Scan(text), secret.Scan)
		if string(got) != want || (err == nil) != lenient || len(k.list) > 0 {
			t.Errorf("%q %v %v", got, err, k.list)
		}
	}
	var k keeper
	if k.reader(nil, c) != nil {
		t.Error("there is a reader of nothing")
	}
	redact(nil, nil)
	list := diag.List{{Message: "m " + token, Hint: "h " + token, Source: "s " + token, Related: []diag.Related{{Message: "r " + token}}}}
	redact(secret.New([]secret.Secret{{Name: "KEY", Value: token}}), list)
	if d := list[0]; d.Message != "m "+mark || d.Hint != "h "+mark || strings.Contains(d.Source, token) || len(d.Source) != len("s "+token) || d.Related[0].Message != "r "+mark {
		t.Errorf("%+v", d)
	}
}

// The demonstration is a folder of each format, whose documents can be run.
func TestDemo(t *testing.T) {
	a, dir := New(), filepath.Join(t.TempDir(), "demo")
	docs, err := a.Demo(dir)
	if err != nil {
		t.Fatal(err)
	}
	of := map[string]bool{}
	for _, d := range docs {
		if of[d.Contract.Name()] = true; !strings.HasPrefix(d.Path, filepath.Join(dir, d.Contract.Name())) {
			t.Error(d.Path)
		}
	}
	if got := fmt.Sprint(slices.Sorted(maps.Keys(of))); got != "[flakestorm fresnelfir fuzzspec operator spectest]" {
		t.Error(got)
	}
	if text, err := os.ReadFile(filepath.Join(dir, ".gitignore")); string(text) != "*\n" {
		t.Error(string(text), err)
	}
	if spec, err := os.ReadFile(filepath.Join(dir, "fuzzspec", "spec.json")); err != nil || !strings.Contains(string(spec), campaign.Self) {
		t.Error(string(spec), err)
	}
	if list := Faults(t.Context(), docs, campaign.Settings{Options: map[string][]string{"allow-exec": {campaign.Self}}}); list.HasErrors() {
		t.Error(list)
	}
	file := filepath.Join(dir, ".gitignore")
	if _, err := a.Demo(file); err == nil {
		t.Error("a file is a folder")
	}
}

// callee is a system with these operations.
type callee struct {
	sut.System
	call sut.Call
}

func (l *callee) Call(_ context.Context, c sut.Call) (sut.Observation, error) {
	l.call = c
	return sut.Observation{End: sut.Answered}, nil
}
func (l *callee) Reset(context.Context) error { return nil }

// What is called to see whether a system answers: what takes the input, or what needs nothing.
func TestTriedCalls(t *testing.T) {
	free, bound := sut.Operation{Name: "free", Arguments: []sut.Argument{{Name: "x"}}}, sut.Operation{Name: "bound", Arguments: []sut.Argument{
		{Name: "n", Type: "integer", Required: true}, {Name: "b", Type: "boolean", Required: true}, {Name: "l", Type: "array", Required: true}, {Name: "o", Type: "object", Required: true},
		{Name: "s", Type: "string", Required: true}, {Name: "in", Required: true}, {Name: "free"},
	}}
	for _, x := range []struct {
		plan sut.Plan
		ops  []sut.Operation
		want string
	}{
		{sut.Plan{Kind: sut.HTTP}, []sut.Operation{bound, free}, `free: free "" []`},
		{sut.Plan{Kind: sut.HTTP}, []sut.Operation{bound}, "none"},
		{sut.Plan{Kind: sut.HTTP}, nil, "none"},
		{sut.Plan{Kind: sut.HTTP, Input: sut.Input{Operation: "bound", Argument: "in"}}, []sut.Operation{free, bound}, `bound:  "hello" [n=1 b=true l=[] o={} s="hello"]`},
		{sut.Plan{Kind: sut.HTTP, Input: sut.Input{Operation: "other"}}, []sut.Operation{free, bound}, `other:  "hello" []`},
		{sut.Plan{Kind: sut.Command}, nil, "none"},
		{sut.Plan{Kind: sut.Chat}, []sut.Operation{free}, `free:  "hello" []`},
		{sut.Plan{Kind: sut.Python}, []sut.Operation{bound}, `bound:  "hello" []`},
		{sut.Plan{Kind: sut.Python}, []sut.Operation{bound, free}, `free: free "" []`},
	} {
		l := &callee{}
		got := "none"
		if tried, ok := tryCall(t.Context(), l, &x.plan, x.ops); ok {
			var named []string
			for _, n := range l.call.Named {
				named = append(named, n.Name+"="+string(n.Value))
			}
			got = fmt.Sprintf("%s: %s %q %v", tried.What, l.call.Operation, l.call.Input, named)
		}
		if got != x.want {
			t.Errorf("%+v: %s", x.plan, got)
		}
	}
	if tried := tryReset(t.Context(), &callee{}); tried.What != "reset" || tried.Err != nil || tried.Observation.End != sut.Answered {
		t.Errorf("%+v", tried)
	}
}
