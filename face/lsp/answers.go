package lsp

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/thresh-dev/thresh/app"
	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
)

// checks checks each incoming text of one document and publishes its diagnostics.
func (s *server) checks(texts <-chan *open) {
	for o := range texts {
		list := []diagnostic{}
		for _, d := range o.page.Check() {
			list = append(list, o.diagnostic(d))
		}
		if s.ctx.Err() == nil && len(texts) == 0 { // otherwise a newer text is about to be checked
			s.notify("textDocument/publishDiagnostics", map[string]any{"uri": o.uri, "diagnostics": list})
		}
		s.memory.answered()
	}
}

func (o *open) diagnostic(d diag.Diagnostic) diagnostic {
	message := d.Message
	if d.Path != "" {
		message = d.Path + ": " + message
	}
	if d.Hint != "" {
		message += " (" + d.Hint + ")"
	}
	x := diagnostic{Severity: int(d.Level) + 1, Code: d.Code, Source: "thresh", Message: message}
	if d.Pos.File != "" && d.Pos.File != o.page.Spec.Path { // a diagnostic about a file that the document names is shown at the document's top
		x.Range = o.text.span(0, len(o.text.line(0)))
		x.Related = append(x.Related, related{locationInFile(d.Pos), "here"})
	} else {
		x.Range = o.text.span(o.page.Span(d, o.text.offsetOf(d.Pos)))
	}
	for _, r := range d.Related {
		place := locationInFile(r.Pos)
		if r.Pos.File == "" || r.Pos.File == o.page.Spec.Path {
			place = location{o.uri, o.text.span(o.page.Span(diag.Diagnostic{}, o.text.offsetOf(r.Pos)))}
		}
		x.Related = append(x.Related, related{place, r.Message})
	}
	return x
}

// locationInFile returns a place in a file that is not open.
func locationInFile(p diag.Pos) location {
	path, err := filepath.Abs(p.File)
	if err != nil {
		path = p.File
	}
	at := position{max(p.Line-1, 0), max(p.Col-1, 0)}
	return location{uriOf(path), span{at, at}}
}

func (s *server) complete(o *open, p at) (any, error) {
	list := []completion{}
	for i, x := range o.page.Complete(o.text.offset(p.Position)) {
		kind := 12
		if x.Key {
			kind = 10
		}
		list = append(list, completion{
			Label: x.Label, Kind: kind, Detail: x.Detail, Documentation: x.Doc, SortText: fmt.Sprintf("%04d", i),
			TextEdit: textEdit{o.text.span(x.From, x.To), x.Insert},
		})
	}
	return list, nil
}

func (s *server) hover(o *open, p at) (any, error) {
	from, to, text, ok := o.page.Hover(o.text.offset(p.Position))
	if !ok {
		return nil, nil
	}
	return hover{markup{"markdown", text}, o.text.span(from, to)}, nil
}

// actions returns the fixes for diagnostics in a range.
func (s *server) actions(o *open, p at) (any, error) {
	list := []codeAction{}
	for _, d := range o.page.Check() {
		x := o.diagnostic(d)
		if d.Pos.File != o.page.Spec.Path || after(x.Range.Start, p.Range.End) || after(p.Range.Start, x.Range.End) {
			continue
		}
		for _, f := range o.page.Fixes(d, o.text.offsetOf(d.Pos)) {
			edit := textEdit{o.text.span(f.From, f.To), f.Text}
			list = append(list, codeAction{
				Title: f.Title, Kind: "quickfix", Diagnostics: []diagnostic{x}, IsPreferred: true,
				Edit: workspaceEdit{map[string][]textEdit{o.uri: {edit}}},
			})
		}
	}
	return list, nil
}

func after(a, b position) bool {
	return a.Line > b.Line || a.Line == b.Line && a.Character > b.Character
}

// codeLenses returns lenses for the runs and findings of a document.
func (s *server) codeLenses(o *open, _ at) (any, error) {
	list := []codeLens{}
	if o.page.Contract == nil {
		return list, nil
	}
	add := func(at int, title, name string, args ...any) {
		n := o.text.position(at).Line
		list = append(list, codeLens{o.text.span(o.text.lines[n], o.text.lines[n]+len(o.text.line(n))), command{title, name, args}})
	}
	add(0, "run", runCommand, o.uri)
	for _, c := range o.page.Cases() {
		add(c.At, "run "+c.Name, caseCommand, o.uri, c.Name)
	}
	for _, f := range o.page.Found() {
		add(f.At, fmt.Sprintf("%s %s: %s", f.Finding.Severity, f.Finding.ID, diag.Cut(f.Finding.Title, 80)), showCommand, f.RunID+"/"+f.Finding.ID)
	}
	return list, nil
}

// symbols returns the findings that match a query, with their documents.
func (s *server) symbols(query string) []symbol {
	list := []symbol{}
	for _, f := range s.Editor.Findings() {
		name := f.Finding.ID + " " + f.Finding.Title
		if strings.Contains(strings.ToLower(name), strings.ToLower(query)) {
			list = append(list, symbol{name, 24, s.locate(f)}) // 24: the symbol kind Event
		}
	}
	return list
}

// locate returns the place of a finding in its document on disk.
func (s *server) locate(f app.Found) location {
	path, at, err := s.Editor.Place(f.RunID + "/" + f.Finding.ID)
	if err != nil {
		return location{URI: uriOf(f.Path)}
	}
	return fileLocation(path, at)
}

func fileLocation(path string, at int) location {
	data, _ := os.ReadFile(path) // read a moment ago; without it, the place is the top of the file
	t := newText(string(data))
	return location{uriOf(path), t.span(at, at)}
}

var findingName = regexp.MustCompile(`F-[0-9a-f]{4,10}`)

// definition leads from a finding's id, in any text, to its place.
func (s *server) definition(o *open, p at) (any, error) {
	offset := o.text.offset(p.Position)
	n := o.text.position(offset).Line
	for _, m := range findingName.FindAllStringIndex(o.text.line(n), -1) {
		if from := o.text.lines[n]; from+m[0] <= offset && offset <= from+m[1] {
			path, at, err := s.Editor.Place(o.text.line(n)[m[0]:m[1]])
			if err != nil {
				return nil, err
			}
			return fileLocation(path, at), nil
		}
	}
	return nil, nil
}

// execute runs the command of a lens.
func (s *server) execute(m *message, c command) {
	words := make([]string, len(c.Arguments))
	for i, a := range c.Arguments {
		words[i], _ = a.(string)
	}
	word := func(i int) string {
		if i < len(words) {
			return words[i]
		}
		return ""
	}
	var page *app.Page
	if o := s.pages[word(0)]; o != nil {
		page = o.page
	}
	s.later(m, func() (any, error) {
		switch c.Command {
		case showCommand:
			return s.show(word(0))
		case goCommand:
			path, at, err := s.Editor.Place(word(0))
			if err != nil {
				return nil, err
			}
			place := fileLocation(path, at)
			s.reveal(place.URI, &place.Range)
			return place, nil
		case runCommand, caseCommand:
			if page == nil {
				return nil, &failure{invalidParams, c.Command + " takes the URI of a document that is open"}
			}
			s.running.Lock()
			defer s.running.Unlock()
			if c.Command == runCommand {
				return s.run(page)
			}
			return s.runCase(page, word(1))
		}
		return nil, &failure{invalidParams, "there is no command " + c.Command}
	})
}

// run runs a document, shows the result and makes the client ask for the lenses again.
func (s *server) run(page *app.Page) (any, error) {
	rec, err := page.Run(s.ctx)
	if err != nil {
		s.showMessage(errorMessage, err.Error())
		return nil, err
	}
	cases := int64(0)
	for _, c := range rec.Campaigns {
		cases += c.Cases.Run
	}
	s.showMessage(infoMessage, fmt.Sprintf("%s: %s, %s, run %s", rec.Verdict, diag.Plural(cases, "case"), diag.Plural(int64(len(rec.Findings)), "finding"), rec.RunID))
	if s.lenses {
		s.request("workspace/codeLens/refresh", nil)
	}
	ids := []string{}
	for _, f := range rec.Findings {
		ids = append(ids, f.ID)
	}
	return map[string]any{"run": rec.RunID, "verdict": rec.Verdict, "findings": ids}, nil
}

func (s *server) runCase(page *app.Page, name string) (any, error) {
	o, err := page.RunCase(s.ctx, name)
	if err != nil {
		s.showMessage(errorMessage, err.Error())
		return nil, err
	}
	text, kind := fmt.Sprintf("%s: %s", name, o.Verdict), infoMessage
	if o.Title != "" {
		text += ": " + o.Title
	}
	if o.Verdict == campaign.VerdictFail || o.Verdict == campaign.VerdictError {
		kind = errorMessage
	}
	s.showMessage(kind, text)
	return map[string]any{"verdict": o.Verdict.String(), "title": o.Title}, nil
}

// show opens everything that is known about a finding.
func (s *server) show(id string) (any, error) {
	text, err := s.Show(id)
	if err != nil {
		return nil, err
	}
	if !s.shows {
		return text, nil
	}
	s.onceScratch.Do(func() { s.scratch, s.removeScratch, err = app.Scratch() })
	if err == nil {
		name := filepath.Join(s.scratch, filepath.Base(id)+".txt")
		if err = os.WriteFile(name, []byte(text), 0o600); err == nil {
			s.reveal(uriOf(name), nil)
		}
	}
	return text, err
}

func (s *server) reveal(uri string, at *span) {
	if !s.shows {
		return
	}
	p := map[string]any{"uri": uri, "takeFocus": true}
	if at != nil {
		p["selection"] = json.RawMessage(encode(at))
	}
	s.request("window/showDocument", p)
}
