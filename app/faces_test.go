package app

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/app/draft"
	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/internal/golden"
)

const queueModel = "../examples/fresnelfir/queue.json"

// What an editor offers for a document of each form: names to complete, what they mean, where
// a fault stands and how it is mended.
func TestPagesOfEditors(t *testing.T) {
	dir, a, st := office(t)
	e := a.Editor(st.Dir())
	name := filepath.Join(dir, "page.spec.md")
	p := e.Open(name, []byte(page), nil)
	at := strings.Index(page, "text.file")
	var got strings.Builder
	for _, at := range []int{at, strings.Index(page, "path:") + 2, 2} {
		var items []string
		for _, x := range p.Complete(at) {
			items = append(items, x.Label)
		}
		from, to, text, ok := p.Hover(at)
		first, _, _ := strings.Cut(text, "\n")
		fmt.Fprintf(&got, "%d items, first %.2q; %q: %t %s\n", len(items), items, page[from:to], ok, first)
	}
	for _, text := range []string{
		strings.Replace(page, "text.file", "text.fil", 1), strings.Replace(page, "path: notes.txt\n", "", 1),
		"{\"schema_version\": \"llmfuzz.fuzzspec.v1\",\n \"campaign_id\": \"c\",\n \"outputs\": {}}\n",
	} {
		file := name
		if text[0] == '{' {
			file = filepath.Join(dir, "spec.json")
		}
		p := e.Open(file, []byte(text), nil)
		for _, d := range p.Check() {
			at := 0
			for i, line := range strings.SplitAfter(text, "\n") {
				if i+1 == d.Pos.Line {
					at += d.Pos.Col - 1
					break
				}
				at += len(line)
			}
			from, to := p.Span(d, at)
			fmt.Fprintf(&got, "%s at %q, fixes %v\n", d.Code, text[from:to], p.Fixes(d, at))
		}
	}
	// Without a format there is nothing to say, but a page keeps the one that it had.
	odd := e.Open(filepath.Join(dir, "odd.yaml"), []byte("a: b\n"), nil)
	_, _, _, hovers := odd.Hover(0)
	_, err := odd.Run(t.Context())
	fmt.Fprintln(&got, odd.Contract == nil, odd.Complete(0) == nil, hovers, len(odd.Check()), len(odd.Cases()), said(err))
	fmt.Fprintln(&got, e.Open(name, []byte("# Empty\n"), p).Contract.Name(), len(e.Open(name, []byte("# Empty\n"), p).Cases()))
	fmt.Fprintln(&got, len(a.Editor(filepath.Join(dir, "nowhere")).Findings()))
	if _, _, err := e.Place("F-0000000000"); err == nil {
		t.Error("a finding of nobody has a place")
	}
	if _, _, err := a.Editor(filepath.Join(dir, "nowhere")).Place("F-0000000000"); err == nil {
		t.Error("a store of nobody has findings")
	}
	rec, err := p.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(name, name+".old"); err != nil {
		t.Fatal(err)
	}
	_, _, err = e.Place(rec.Findings[0].ID)
	fmt.Fprintln(&got, said(err))

	// A program is read once, and again when it changes.
	program := filepath.Join(dir, "notes.txt")
	first, err := e.digest(program)
	if known := e.sums[program]; err != nil || known.hex != first || known.size != 4 || len(first) != 64 {
		t.Errorf("%v %+v", err, e.sums)
	}
	known := e.sums[program]
	e.sums[program] = sum{known.changed, known.size, "known"}
	if d, err := e.digest(program); d != "known" || err != nil {
		t.Error("read again:", d, err)
	}
	for _, x := range []sum{{known.changed, known.size + 1, "known"}, {known.changed.Add(1), known.size, "known"}} {
		e.sums[program] = x
		if d, err := e.digest(program); d != first || err != nil {
			t.Error("not read again:", d, err)
		}
	}
	if _, err := e.digest(filepath.Join(dir, "none")); err == nil {
		t.Error("there is none")
	}
	golden.Check(t, "testdata/golden/editor.txt", strings.ReplaceAll(strings.ReplaceAll(got.String(), dir, "DIR"), rec.RunID, "RUN"))
}

// What clients of the server get: documents by path and by text, models that are explored, and
// reasons for what is refused.
func TestClients(t *testing.T) {
	dir, a, st := office(t)
	u := a.Remote(t.Context(), st, st.Dir(), dir, 2)
	model, err := os.ReadFile(queueModel)
	if err != nil {
		t.Fatal(err)
	}
	module, err := os.ReadFile("../examples/fresnelfir/faulty/queue/" + faultyQueue(t))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{filepath.Join(dir, "queue.wasm"): module}
	if err := os.WriteFile(filepath.Join(dir, "outside.wasm"), module, 0o600); err != nil {
		t.Fatal(err)
	}
	draftOf := func(text []byte, name, contract string, options map[string][]string) Draft {
		return Draft{Draft: campaign.Draft{Text: text, Name: name, Contract: contract, Options: options, Files: files}}
	}
	var got strings.Builder
	for _, x := range []struct {
		name string
		d    Draft
	}{
		{"a page", Draft{Path: "page.spec.md"}},
		{"a folder", Draft{Path: "."}},
		{"a page as something else", Draft{Path: "page.spec.md", Draft: campaign.Draft{Contract: "fuzzspec"}}},
		{"no file", Draft{Path: "none.md"}},
		{"a file that is no document", Draft{Path: "notes.txt"}},
		{"a file elsewhere", Draft{Path: "/etc/passwd"}},
		{"a text", draftOf([]byte(page), "", "", nil)},
		{"a text with a name", draftOf([]byte(page), "other.spec.md", "spectest", nil)},
		{"a text as something else", draftOf([]byte(page), "", "fuzzspec", nil)},
		{"a text with a path", draftOf([]byte(page), "a/b.md", "", nil)},
		{"a text above", draftOf([]byte(page), "..", "", nil)},
		{"a model", draftOf(model, "queue.json", "", nil)},
		{"a model with an option", draftOf(model, "queue.json", "", map[string][]string{"budget": {"x"}})},
		{"a model with a module", draftOf(model, "queue.json", "", map[string][]string{"module": {"outside.wasm"}})},
		{"a model with a module that is brought", draftOf(model, "queue.json", "", map[string][]string{"module": {filepath.Join(dir, "queue.wasm")}})},
		{"a model with a module elsewhere", draftOf(model, "queue.json", "", map[string][]string{"module": {"/bin/sh"}})},
		{"an option that is not there", Draft{Path: "page.spec.md", Draft: campaign.Draft{Options: map[string][]string{"zzz": nil}}}},
	} {
		c, err := u.Check(t.Context(), x.d)
		fmt.Fprintf(&got, "%s: %s\n", x.name, said(err))
		for _, d := range c.Diagnostics {
			fmt.Fprintln(&got, " ", d.String())
		}
		all, list, err := u.Compile(t.Context(), x.d.Draft)
		if x.d.Path == "" {
			fmt.Fprintln(&got, "  compiled:", len(all), len(list), said(err))
		}
	}
	for path, most := range map[string]int64{"notes.txt": 4} {
		if text, err := u.Read(path, most); string(text) != "one\n" || err != nil {
			t.Error(string(text), err)
		}
		if _, err := u.Read(path, most-1); said(err) != "2 notes.txt has more than 3 bytes" {
			t.Error(said(err))
		}
	}
	for path, want := range map[string]string{"none": "2 none: no such file or directory", ".": "2 .: is a directory", "../x": "2 ../x is outside this server's folder; thresh mcp --root names another"} {
		if _, err := u.Read(path, 9); said(err) != want {
			t.Error(said(err))
		}
	}

	// A model is explored, and what is found is known at once.
	r, err := u.Start(t.Context(), Draft{Cases: 40, Draft: draftOf(model, "queue.json", "", nil).Draft})
	if err != nil {
		t.Fatal(err)
	}
	changed := r.Changed()
	if s := r.Status(); s.Record == nil && s.Elapsed <= 0 {
		t.Error("a run that goes on takes no time")
	}
	<-r.Done()
	select {
	case <-changed:
	default:
		t.Error("nothing changed")
	}
	s := r.Status()
	e, ok := r.Explored()
	found := r.Findings()
	if !ok || s.Err != nil || e.Traversals != 40 || e.Alone != "" || e.Fruitful < 1 || e.Actions == 0 || len(found) == 0 {
		t.Fatalf("%t %+v %+v %+v", ok, s, e, found)
	}
	fmt.Fprintf(&got, "found: %s, of action %s, the %d. one; %d epochs\n", found[0].Title, found[0].Action, found[0].Generation, e.Epochs)
	for ref, want := range map[string]string{found[0].ID: "done", r.ID() + "#1": "2 must be a finding's id, got ", "F-0000000000": "no finding"} {
		replayed, err := u.Replay(t.Context(), ref, ReplayJob{Times: 1, AsStored: true})
		if !strings.Contains(said(err), want) || err == nil && replayed.Rerun.Same != 1 {
			t.Error(ref, said(err), replayed.Rerun)
		}
	}
	if _, err := u.Replay(t.Context(), found[0].ID, ReplayJob{Times: 1, System: "/bin/sh"}); !strings.Contains(said(err), "is outside this server's folder") {
		t.Error(said(err))
	}
	for _, wrong := range []Draft{{Path: "none.md"}, draftOf([]byte(strings.Replace(string(model), `"entities"`, `"entitiez"`, 1)), "queue.json", "fresnelfir", nil)} {
		if _, err := u.Start(t.Context(), wrong); err == nil {
			t.Errorf("%+v is run", wrong)
		}
	}

	// What a desk began can be stopped.
	d := a.Desk(t.Context(), st, st.Dir(), dir)
	slow := strings.Replace(page, "type: text.file\npath: notes.txt\nassert: [{target: text,", "type: cli.run\nharness: {entrypoint: sleep 60}\nassert: [{target: stdout,", 1)
	if err := os.WriteFile(filepath.Join(dir, "slow.spec.md"), []byte(slow), 0o600); err != nil {
		t.Fatal(err)
	}
	id, err := d.Begin(t.Context(), "slow.spec.md", "")
	if err != nil {
		t.Fatal(err)
	}
	if !d.Going(id) || d.Going("other") {
		t.Error("what goes on is not known")
	}
	if err := d.Stop(id); err != nil {
		t.Error(err)
	}
	if rec, err := st.Record(id); err != nil || rec.Complete {
		t.Error(err, rec)
	}
	for _, path := range []string{"../x", "none.md"} {
		if _, err := d.Begin(t.Context(), path, ""); err == nil {
			t.Error(path, "is run")
		}
		if err := d.Save(path, "", nil); err == nil {
			t.Error(path, "is saved")
		}
	}
	if _, err := d.CheckText(t.Context(), "../x", nil); err == nil {
		t.Error("a text elsewhere is checked")
	}
	if _, err := d.Begin(t.Context(), "page.spec.md", "r00000000-1"); err == nil {
		t.Error("it is run like a run of nobody")
	}
	if err := d.Save("page.spec.md", TextVersion([]byte(page)), []byte(page)); err != nil {
		t.Error(err)
	}
	seed := int64(7)
	rec, err := a.Run(t.Context(), Job{Paths: []string{filepath.Join(dir, "page.spec.md")}, Store: st.Dir(), Seed: &seed, Options: map[string][]string{"filter": {"tag=a"}}, AllowEmpty: true})
	flags, ferr := d.Flags(rec.RunID)
	fmt.Fprintln(&got, said(err), flags, ferr)
	golden.Check(t, "testdata/golden/clients.txt", strings.ReplaceAll(got.String(), dir, "DIR"))
}

// faultyQueue is the name of a queue that breaks its model.
func faultyQueue(t *testing.T) string {
	list, err := os.ReadDir("../examples/fresnelfir/faulty/queue")
	if err != nil || len(list) == 0 {
		t.Fatal(list, err)
	}
	return list[0].Name()
}

// What is found out about a chat endpoint, and about a service from its description.
func TestEndpointsAreLookedAt(t *testing.T) {
	a := New()
	models := `{"data": [{"id": "small"}, {"id": "large"}]}`
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/models" || r.Method != http.MethodGet {
			t.Error(r.Method, r.URL)
		}
		fmt.Fprint(w, models)
	}))
	defer s.Close()
	for _, words := range []string{"/v1", "/v1/", "/v1/chat/completions", "/v1/chat/completions/"} {
		f, err := a.lookAtChat(t.Context(), &draft.Thing{Words: []string{s.URL + words}}, "folder")
		if err != nil || f.URL != s.URL+"/v1" || !f.Near || f.Folder != "folder" || fmt.Sprint(f.Models) != "[small large]" {
			t.Errorf("%s: %+v %v", words, f, err)
		}
	}
	models = "none"
	if f, err := a.lookAtChat(t.Context(), &draft.Thing{Words: []string{s.URL + "/v1"}}, ""); err != nil || f.Models != nil {
		t.Errorf("%+v %v", f, err)
	}
	if _, err := a.lookAtChat(t.Context(), &draft.Thing{Words: []string{"http://127.0.0.1:1/v1"}}, ""); !strings.Contains(said(err), "3 the chat endpoint http://127.0.0.1:1/v1 is unreachable: ") || !strings.HasSuffix(said(err), " (start it, or give its address)") {
		t.Error(said(err))
	}
	if _, err := a.lookAtChat(t.Context(), &draft.Thing{Words: []string{"http://a b"}}, ""); said(err) != "2 http://a b is not an address" {
		t.Error(said(err))
	}

	paths := `"paths": {"/x": {"get": {"operationId": "x", "responses": {"200": {}}}}}`
	for text, want := range map[string]string{
		`{"openapi": "3.0.3", "servers": [{"url": "https://shop.example/v2"}], ` + paths + `}`: "https://shop.example false 1",
		`{"openapi": "3.0.3", "servers": [{"url": "/v2"}], ` + paths + `}`:                     "2 d.json names no server with a host, so nothing says where the service runs (try its address: thresh try http://127.0.0.1:8000/openapi.json)",
		`{"openapi": "3.0.3", "servers": [], ` + paths + `}`:                                   "2 d.json names no server",
		`{"openapi": "3.0.3", ` + paths + `}`:                                                  "2 d.json names no server",
		`{"openapi": "3.0.3", "servers": [{}], ` + paths + `}`:                                 "2 d.json names no server",
		`{"a": 1}`: "(a program is tried as ./NAME @@)",
	} {
		for _, model := range []bool{false, true} {
			f := draft.SystemFacts{}
			err := describedService(&f, "d.json", model, func(string) ([]byte, error) { return []byte(text), nil })
			got := said(err)
			if err == nil {
				got = fmt.Sprintf("%s %t %d", f.URL, f.Supposed, len(f.Operations))
				if f.OpenAPI != "d.json" || string(f.Described) != text {
					t.Errorf("%+v", f)
				}
			}
			if supposed := "http://127.0.0.1:8000 true 1"; model && strings.Contains(want, "names no server") {
				if got != supposed {
					t.Error(got)
				}
			} else if !strings.Contains(got, want) {
				t.Errorf("%s: %s", text, got)
			}
		}
	}
	if err := describedService(&draft.SystemFacts{}, "d.json", true, func(string) ([]byte, error) { return nil, os.ErrNotExist }); !strings.Contains(said(err), "2 d.json: ") {
		t.Error(said(err))
	}

	nothing := httptest.NewServer(http.NotFoundHandler())
	defer nothing.Close()
	for at, want := range map[string]string{
		nothing.URL:                "3 " + nothing.URL + " has no OpenAPI document at /openapi.json, /openapi.yaml, /swagger.json, /v3/api-docs (thresh try needs the address of an OpenAPI 3 document, such as " + nothing.URL + "/openapi.json)",
		nothing.URL + "/here.json": "(thresh try needs the address of an OpenAPI 3 document, such as " + nothing.URL + "/openapi.json)",
		"http://127.0.0.1:1/":      "(start the service, or give its address)",
		"http://":                  "2 http:// is not an address",
	} {
		if _, err := a.lookAtService(t.Context(), &Try{}, &draft.Thing{Words: []string{at}}, ""); !strings.HasSuffix(said(err), want) {
			t.Errorf("%s: %s", at, said(err))
		}
	}
}

// Each tool that Thresh uses is listed, with where it is or how to get it.
func TestDoctor(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "node"), []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
	list, err := New().Doctor()
	if err != nil {
		t.Fatal(err)
	}
	var programs []Provision
	for _, p := range list {
		switch {
		case p.Group == "program":
			programs = append(programs, p)
		case p.Group != "sandbox" || p.Name == "" || p.Have != (p.Fix == "") || strings.HasSuffix(p.Detail, ")") && !strings.Contains(p.Detail, "("):
			t.Errorf("%+v", p)
		}
	}
	if len(programs) != len(tools) || len(list) == len(programs) {
		t.Error(list)
	}
	for i, p := range programs {
		want := Provision{Group: "program", Name: tools[i].name, Detail: "for " + tools[i].purpose, Fix: tools[i].fix}
		if p.Name == "node" {
			want.Have, want.Detail, want.Fix = true, filepath.Join(dir, "node"), ""
		}
		if p != want {
			t.Errorf("%+v", p)
		}
	}
}
