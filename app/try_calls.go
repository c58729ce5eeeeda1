package app

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/app/draft"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/openapi"
	"github.com/thresh-dev/thresh/engine/systemfile"
	"github.com/thresh-dev/thresh/port/sut"
)

// lookAtCalls drafts a model of a service, from its OpenAPI document, or of an MCP server, from its
// tools.
func (a *App) lookAtCalls(ctx context.Context, t *Try, thing *draft.Thing, folder string) (*draft.Draft, error) {
	f := &draft.ServiceFacts{Of: thing.Words[0], Drop: map[draft.Claim]string{}}
	if thing.Kind == draft.Server {
		s, err := a.lookAtServer(ctx, t, thing, folder)
		if err != nil {
			return nil, err
		}
		f.SystemFacts, f.Of = *s, "the tools of "+strings.Join(thing.Words, " ")
		if len(f.Command) > 0 {
			err = seen(ctx, f)
		}
		if err != nil {
			return nil, err
		}
	} else {
		s, err := a.lookAtService(ctx, t, thing, folder)
		if err != nil {
			return nil, err
		}
		f.SystemFacts = *s
		if f.Described == nil {
			if f.Described, err = description(ctx, &f.SystemFacts); err != nil {
				return nil, err
			}
			ext := path.Ext(f.OpenAPI)
			if ext != ".yaml" && ext != ".yml" {
				ext = ".json"
			}
			f.OpenAPI = f.Name + ".openapi" + ext
		}
	}
	return draft.DraftService(f), nil
}

// description fetches a service's OpenAPI document.
func description(ctx context.Context, f *draft.SystemFacts) ([]byte, error) {
	const name = "description"
	x, err := systems()(ctx, &sut.Plan{Name: f.Name, Kind: sut.HTTP, Per: sut.PerWorker, URL: f.URL,
		Operations: []sut.Operation{{Name: name, Method: "GET", Path: f.OpenAPI}}}, sut.Worker{Of: 1, Cold: true})
	if err != nil {
		return nil, err
	}
	o, err := x.Call(ctx, sut.Call{Operation: name})
	if closing := x.Close(); err == nil {
		err = closing
	}
	if err == nil && o.End != sut.Answered {
		err = diag.Environment("read %s%s: %s", f.URL, f.OpenAPI, o.Why)
	}
	return o.Output, err
}

// wanted notes the credentials that a service expects from its callers.
func wanted(f *draft.SystemFacts, described []byte) {
	prefix := strings.ToUpper(strings.Join(strings.FieldsFunc(f.Name, func(r rune) bool { return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') }), "_"))
	f.Headers, f.Query = openapi.Credentials(described, cmp.Or(prefix, "SERVICE"))
	for _, p := range slices.Concat(f.Headers, f.Query) {
		names, _ := systemfile.Variables(p[1])
		f.Unset = f.Unset || slices.ContainsFunc(names, func(name string) bool { return os.Getenv(name) == "" })
	}
}

// seen calls each tool whose answer has no description once, to see what the answer looks like:
// first tools that create something, then tools that read it. It does not call tools that may
// destroy something.
func seen(ctx context.Context, f *draft.ServiceFacts) error {
	x, err := systems()(ctx, &sut.Plan{Name: f.Name, Kind: f.Kind, Per: sut.PerWorker, Command: f.Command, Dir: "."}, sut.Worker{Of: 1, Cold: true})
	if err != nil {
		return err
	}
	f.Seen = map[string]json.RawMessage{}
	for {
		c, ok := draft.NextLook(f)
		if !ok {
			return x.Close()
		}
		f.Calls++
		o, err := x.Call(ctx, c)
		if err != nil {
			return fmt.Errorf("calling %s: %w", c.Operation, err)
		}
		f.Seen[c.Operation] = json.RawMessage("null")
		if o.End == sut.Answered && len(o.Value) > 0 {
			f.Seen[c.Operation] = slices.Clone(o.Value)
		}
	}
}
