package app

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/assist"
)

// Editor answers a text editor's questions about documents while the user types. Its methods are
// safe for concurrent use.
type Editor struct {
	app   *App
	store string
	mu    sync.Mutex
	forms map[string]*form
	sums  map[string]sum
	runs  map[string]campaign.Record // by run id; the runs looked at last
}

// form is what a contract declares about its documents.
type form struct {
	fence  string
	schema func() *assist.Schema // nil if it has none
}

// sum is the digest of a program at a point in time.
type sum struct {
	changed time.Time
	size    int64
	hex     string
}

// Editor returns an [Editor] with the runs of a store.
func (a *App) Editor(store string) *Editor {
	return &Editor{app: a, store: store, forms: map[string]*form{}, sums: map[string]sum{}, runs: map[string]campaign.Record{}}
}

// Page is one version of a document in an editor. It never changes.
type Page struct {
	Spec     campaign.Spec
	Contract campaign.Contract // nil: no document of Thresh
	text     *assist.Text
	form     *form
	editor   *Editor
	compiled func() compiled // runs once for all questions about this version
}

// compiled is what a check of a document found.
type compiled struct {
	problems  diag.List
	campaigns []campaign.Any // those with named cases
}

// Open reads a document. If its format cannot be recognized while it is edited, the page keeps the
// format of the page before.
func (e *Editor) Open(path string, data []byte, before *Page) *Page {
	p := &Page{Spec: campaign.Spec{Path: path, Data: data}, editor: e}
	for _, c := range e.app.Contracts {
		if c.Detect(p.Spec) {
			p.Contract = c
			break
		}
	}
	if p.Contract == nil && before != nil {
		p.Contract = before.Contract
	}
	p.form = e.formOf(p.Contract)
	fence := p.form.fence
	if !strings.HasSuffix(path, ".md") {
		fence = ""
	}
	if p.text = assist.Plain(string(data)); !strings.HasSuffix(path, ".star") {
		p.text = assist.Read(string(data), fence)
	}
	p.compiled = sync.OnceValue(p.compile)
	return p
}

func (e *Editor) formOf(c campaign.Contract) *form {
	e.mu.Lock()
	defer e.mu.Unlock()
	f, ok := c.(campaign.Formatted)
	if !ok {
		return &form{}
	}
	known := e.forms[c.Name()]
	if known == nil {
		known = &form{}
		if list := f.Formats(); len(list) > 0 {
			known.fence = list[0].Fence
			known.schema = sync.OnceValue(func() *assist.Schema {
				schema, _ := assist.ParseSchema(list[0].Schema()) // a built-in schema always parses
				return schema
			})
		}
		e.forms[c.Name()] = known
	}
	return known
}

// Check checks the document as thresh check does, once per page. Open a new page when files that
// the document names may have changed.
func (p *Page) Check() diag.List { return p.compiled().problems }

func (p *Page) compile() (c compiled) {
	if p.Contract == nil {
		return c
	}
	set := NewBundle().Fill(campaign.Settings{Check: true, Options: map[string][]string{}})
	set.Digest = p.editor.digest
	c.problems = eachCompiled(context.Background(), []Document{{Spec: p.Spec, Contract: p.Contract}}, set, func(_ Document, x campaign.Any) {
		if campaign.NamesOf(x, nil) != nil { // nothing asks about campaigns without named cases
			c.campaigns = append(c.campaigns, x)
		}
	})
	return c
}

// digest caches the digests of unchanged programs, because every keystroke checks the document.
func (e *Editor) digest(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	e.mu.Lock()
	s, ok := e.sums[path]
	e.mu.Unlock()
	if ok && s.size == info.Size() && s.changed.Equal(info.ModTime()) {
		return s.hex, nil
	}
	hex, err := fileDigest(path)
	if err == nil {
		e.mu.Lock()
		e.sums[path] = sum{info.ModTime(), info.Size(), hex}
		e.mu.Unlock()
	}
	return hex, err
}

// Complete returns what can be typed at an offset.
func (p *Page) Complete(at int) []assist.Item {
	if p.form.schema == nil {
		return nil
	}
	return p.text.Complete(p.form.schema(), at)
}

// Hover explains what is at an offset.
func (p *Page) Hover(at int) (from, to int, text string, ok bool) {
	if p.form.schema == nil {
		return 0, 0, "", false
	}
	return p.text.Hover(p.form.schema(), at)
}

// Span returns the range of text that a diagnostic at an offset concerns.
func (p *Page) Span(d diag.Diagnostic, at int) (from, to int) {
	if name := diag.Meant(d.Hint); name != "" {
		from, to, _ = p.text.Mistaken(at, d.Message, name)
		return from, to
	}
	return p.text.Span(at)
}

// Fix is a change of the text that resolves a diagnostic.
type Fix struct {
	Title    string
	From, To int
	Text     string
}

// Fixes returns the changes that resolve a diagnostic at an offset.
func (p *Page) Fixes(d diag.Diagnostic, at int) []Fix {
	if name := diag.Meant(d.Hint); name != "" {
		if from, to, ok := p.text.Mistaken(at, d.Message, name); ok {
			return []Fix{{"Change to " + name, from, to, name}}
		}
		return nil
	}
	if p.form.schema != nil && strings.HasSuffix(d.Code, ".missing-key") {
		if at, text, ok := p.text.Missing(p.form.schema(), at, d.Keys()); ok {
			keys := d.Keys()
			return []Fix{{"Add " + keys[len(keys)-1], at, at, text}}
		}
	}
	return nil
}

// PageCase is a case named in the document.
type PageCase struct {
	Name string
	At   int // offset in the text
}

// Cases returns the cases named in the document, in its order.
func (p *Page) Cases() []PageCase {
	var list []PageCase
	p.named(func(_ campaign.Any, _ campaign.Case, c PageCase) bool {
		list = append(list, c)
		return true
	})
	return list
}

// named yields the cases whose names appear in the text.
func (p *Page) named(yield func(campaign.Any, campaign.Case, PageCase) bool) {
	names := p.text.Names()
	for _, x := range p.compiled().campaigns {
		caseNames := campaign.NamesOf(x, x.Start(campaign.Facts{}))
		for i := range campaign.TraitsOf(x).Planned {
			at := campaign.Case{Index: i}
			name := caseNames(at)
			if place, ok := names.Find(name); ok && !yield(x, at, PageCase{name, place}) {
				return
			}
		}
	}
}

// RunCase runs one case of the current document by its name.
func (p *Page) RunCase(ctx context.Context, name string) (o campaign.Outcome, err error) {
	err = diag.Refused("%s has no case %q", p.Spec.Path, name)
	now := p.editor.Open(p.Spec.Path, p.Spec.Data, p) // files named in it may have changed
	now.named(func(x campaign.Any, at campaign.Case, c PageCase) bool {
		if c.Name == name {
			o, err = runOne(ctx, x, at.Index)
		}
		return c.Name != name
	})
	return o, err
}

// runOne runs a case of the first round.
func runOne(ctx context.Context, x campaign.Any, index int64) (campaign.Outcome, error) {
	facts, err := x.Probe(ctx)
	if err != nil {
		return campaign.Outcome{}, diag.Environment("starting the target: %w", err)
	}
	state := x.Start(facts)
	round, ok := x.Round(state)
	if !ok || index >= round.Len {
		return campaign.Outcome{}, diag.Refused("case %d is not in the first round; run the document", index)
	}
	exec, err := campaign.Solo(ctx, x, campaign.Lane{Of: 1, Cold: true})
	if err != nil {
		return campaign.Outcome{}, diag.Environment("starting the target: %w", err)
	}
	defer exec.Close()
	return exec.Execute(ctx, state, campaign.Case{Index: index, Payload: round.Payload(index)})
}

// Run runs the current document as thresh run does.
func (p *Page) Run(ctx context.Context) (campaign.Record, error) {
	if p.Contract == nil {
		return campaign.Record{}, diag.Refused("%s is not a document of %s", p.Spec.Path, p.editor.app.formats())
	}
	return p.editor.app.RunDocuments(ctx, []Document{{Spec: p.Spec, Contract: p.Contract}}, Job{Store: p.editor.store})
}

// Found is a finding of the newest run of a document, and its place in the text.
type Found struct {
	Finding campaign.Finding
	RunID   string
	Path    string // of the document
	At      int    // where the text names what failed; 0: nowhere
}

// Found returns the findings of the newest run of the document.
func (p *Page) Found() []Found {
	all := p.editor.found(p.Spec.Path)
	names := p.text.Names()
	for i := range all {
		all[i].At = cause(all[i].Finding.Title, names)
	}
	return all
}

// cause returns where the document has the first name in a finding's title that it knows.
func cause(title string, names assist.Names) int {
	words := strings.FieldsFunc(diag.Unquoted(title), func(r rune) bool { return strings.ContainsRune(" :,()\"'`", r) })
	at, _ := names.Find(slices.DeleteFunc(words, func(w string) bool { return len(w) < 3 })...)
	return at
}

// Findings returns the findings of the newest run of every document.
func (e *Editor) Findings() []Found { return e.found("") }

// found returns the findings of the newest runs: of the document, or of all documents.
func (e *Editor) found(path string) []Found {
	if _, err := os.Stat(e.store); err != nil {
		return nil
	}
	st, err := e.app.OpenStore(e.store)
	if err != nil {
		return nil
	}
	defer st.Close()
	runs, err := st.Runs(RunQuery{Limit: 50})
	if err != nil {
		return nil
	}
	seen, kept := map[string]bool{}, map[string]campaign.Record{}
	var list []Found
	for _, r := range runs {
		if r.Status == "running" {
			continue
		}
		e.mu.Lock()
		rec, ok := e.runs[r.RunID]
		e.mu.Unlock()
		if !ok {
			if rec, err = st.Record(r.RunID); err != nil {
				continue
			}
		}
		kept[r.RunID] = rec
		fresh := map[string]string{}
		for _, c := range rec.Campaigns {
			source, err := filepath.Abs(c.Source)
			if err == nil && !seen[source] && (path == "" || samePath(source, path)) {
				fresh[c.Contract+"\x00"+c.Name] = source
			}
		}
		for _, f := range rec.Findings {
			if source := fresh[f.Contract+"\x00"+f.Campaign]; source != "" {
				list = append(list, Found{Finding: f, RunID: rec.RunID, Path: source})
			}
		}
		for _, source := range fresh {
			seen[source] = true
		}
		if path != "" && len(fresh) > 0 {
			break
		}
	}
	e.mu.Lock()
	maps.Copy(e.runs, kept)
	e.mu.Unlock()
	return list
}

func samePath(a, b string) bool {
	b, err := filepath.Abs(b)
	return err == nil && a == b
}

// Place returns the document of a stored finding and the offset in it.
func (e *Editor) Place(id string) (path string, at int, err error) {
	st, err := e.app.ExistingStore(e.store)
	if err != nil {
		return "", 0, err
	}
	defer st.Close()
	rec, f, err := st.Finding(id)
	if err != nil {
		return "", 0, err
	}
	for _, c := range rec.Campaigns {
		if c.Contract != f.Contract || c.Name != f.Campaign {
			continue
		}
		if path, err = filepath.Abs(c.Source); err != nil {
			return "", 0, err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return "", 0, diag.Environment("read %s: %s", path, Reason(err))
		}
		return path, cause(f.Title, e.Open(path, data, nil).text.Names()), nil
	}
	return "", 0, diag.Refused("run %s does not say which document %s is of", rec.RunID, f.ID)
}
