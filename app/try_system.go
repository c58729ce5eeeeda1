package app

import (
	"cmp"
	"context"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/thresh-dev/thresh/app/draft"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/doctree"
	"github.com/thresh-dev/thresh/engine/openapi"
	"github.com/thresh-dev/thresh/port/exchange"
	"github.com/thresh-dev/thresh/port/sut"
)

// descriptions lists the usual paths of OpenAPI documents.
var descriptions = []string{"/openapi.json", "/openapi.yaml", "/swagger.json", "/v3/api-docs"}

// lookAtService reads the operations of a service from its OpenAPI document.
func (a *App) lookAtService(ctx context.Context, t *Try, thing *draft.Thing, folder string) (*draft.SystemFacts, error) {
	f := &draft.SystemFacts{Name: thing.Name(), Folder: folder, Kind: sut.HTTP, Yes: t.Yes}
	at := thing.Words[0]
	if !strings.Contains(at, "://") {
		return f, describedService(f, at, t.Format == "fresnelfir", os.ReadFile)
	}
	u, err := url.Parse(at)
	if err != nil || u.Host == "" {
		return nil, diag.Refused("%s is not an address", at)
	}
	path := u.RequestURI()
	u.Path, u.RawPath, u.RawQuery, u.Fragment = "", "", "", ""
	f.URL = u.String()
	places := []string{path}
	if path == "/" {
		places = descriptions
	}
	for _, f.OpenAPI = range places {
		err = listOperations(ctx, f, &sut.Plan{Kind: sut.HTTP, URL: f.URL, OpenAPI: f.OpenAPI})
		if _, nobody := errors.AsType[*exchange.UnreachableError](err); nobody {
			return nil, diag.WithHint(err, "start the service, or give its address")
		}
		if err != nil {
			continue
		}
		described, err := description(ctx, f)
		wanted(f, described)
		return f, err
	}
	if len(places) > 1 {
		err = diag.Environment("%s has no OpenAPI document at %s", f.URL, strings.Join(places, ", "))
	}
	if diag.Hint(err) != "" {
		return nil, err
	}
	return nil, diag.WithHint(err, "thresh try needs the address of an OpenAPI 3 document, such as "+f.URL+"/openapi.json")
}

// listOperations opens a system to list its operations.
func listOperations(ctx context.Context, f *draft.SystemFacts, p *sut.Plan) (err error) {
	p.Name, p.Per = f.Name, sut.PerWorker
	x, err := systems()(ctx, p, sut.Worker{Of: 1, Cold: true})
	if err != nil {
		return err
	}
	f.Operations = x.Operations()
	return x.Close()
}

// lookAtServer starts an MCP server, or calls one, to list its tools.
func (a *App) lookAtServer(ctx context.Context, t *Try, thing *draft.Thing, folder string) (*draft.SystemFacts, error) {
	f := &draft.SystemFacts{Name: thing.Name(), Folder: folder, Kind: sut.MCP, Yes: t.Yes}
	if w := thing.Words[0]; strings.HasPrefix(w, "http://") || strings.HasPrefix(w, "https://") {
		f.URL = w
		return f, listOperations(ctx, f, &sut.Plan{Kind: sut.MCP, URL: w})
	}
	if _, err := absoluteWords(thing.Words); err != nil { // there is no such program
		return nil, err
	}
	f.Command, f.Start = thing.Words, fromDraft(folder, ".")
	return f, listOperations(ctx, f, &sut.Plan{Kind: sut.MCP, Command: f.Command, Dir: "."})
}

// fromDraft returns how the document of a draft names a path: relative to its folder, so that both can be
// moved and committed together, if both are below the current folder.
func fromDraft(folder, path string) string {
	here, err := filepath.Abs(".")
	abs, bad := filepath.Abs(path)
	below := func(p string) bool {
		rel, err := filepath.Rel(here, p)
		return err == nil && filepath.IsLocal(rel)
	}
	if rel, failed := filepath.Rel(folder, abs); err == nil && bad == nil && failed == nil && below(folder) && below(abs) {
		return filepath.ToSlash(rel)
	}
	return abs
}

// describedService reads an OpenAPI document from a file.
func describedService(f *draft.SystemFacts, path string, model bool, read func(string) ([]byte, error)) error {
	text, err := read(path)
	if err != nil {
		return elsewhere(path, diag.Refused("%s: %s", path, Reason(err)))
	}
	if f.Operations, err = openapi.Operations(text, nil); err != nil {
		return diag.WithHint(diag.Refused("%s: %w", path, err), cmp.Or(diag.Hint(err), "a program is tried as ./NAME @@"))
	}
	wanted(f, text)
	doc, err := doctree.Parse(text, doctree.Options{})
	if err != nil {
		return diag.Refused("%s: %w", path, err)
	}
	if servers := doc.Root.Get("servers"); servers != nil && len(servers.Items()) > 0 {
		if at := servers.Items()[0].Get("url"); at != nil {
			if u, err := url.Parse(at.Text); err == nil && u.Host != "" {
				f.URL = u.Scheme + "://" + u.Host
			}
		}
	}
	if f.OpenAPI, f.Described = filepath.Base(path), text; f.URL == "" && model {
		f.URL, f.Supposed = "http://127.0.0.1:8000", true
	}
	if f.URL == "" {
		return diag.WithHint(diag.Refused("%s names no server with a host, so nothing says where the service runs", path),
			"try its address: thresh try http://127.0.0.1:8000/openapi.json")
	}
	return nil
}
