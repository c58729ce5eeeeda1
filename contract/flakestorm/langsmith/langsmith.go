// Package langsmith fetches recorded runs of agents from LangSmith. It is an edge:
// the contract itself reaches no network.
package langsmith

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/contract/flakestorm/config"
	"github.com/thresh-dev/thresh/contract/flakestorm/record"
	"github.com/thresh-dev/thresh/diag"
)

// Wanted says which runs to fetch.
type Wanted struct {
	Run     string // one run, by its id
	Project string // all runs of a project
	Status  string // which of the project's runs: error, success or all
	Limit   int    // the largest number of them
}

// Asked reports whether any runs are to be fetched.
func (l *Wanted) Asked() bool { return l.Run != "" || l.Project != "" }

// Fetch fetches runs and the tool calls in them.
func (l *Wanted) Fetch(ctx context.Context, getenv func(string) string) ([]config.Session, error) {
	key := getenv("LANGSMITH_API_KEY")
	if key == "" {
		return nil, diag.WithHint(diag.Environment("LANGSMITH_API_KEY is not set"), "an export in a file needs no key: thresh flakestorm replay run runs.json")
	}
	base := strings.TrimRight(getenv("LANGSMITH_ENDPOINT"), "/")
	base = cmp.Or(base, "https://api.smith.langchain.com")
	s := &client{base: base, key: key, http: &http.Client{Timeout: time.Minute}}
	var roots []json.RawMessage
	if l.Run != "" {
		one, err := s.call(ctx, http.MethodGet, "/api/v1/runs/"+url.PathEscape(l.Run), nil)
		if err != nil {
			return nil, err
		}
		roots = append(roots, one)
	}
	if l.Project != "" {
		list, err := l.ofProject(ctx, s)
		if err != nil {
			return nil, err
		}
		roots = append(roots, list...)
	}
	var out []config.Session
	for _, root := range roots {
		data, err := s.fetchTree(ctx, root)
		if err != nil {
			return nil, err
		}
		sessions, diags := record.Read("langsmith", data, config.Options{})
		if diags.HasErrors() {
			continue // a run without an input
		}
		out = append(out, sessions...)
	}
	if len(out) == 0 {
		return nil, diag.Refused("LangSmith holds no such run with an input")
	}
	return out, nil
}

func (l *Wanted) ofProject(ctx context.Context, s *client) ([]json.RawMessage, error) {
	found, err := s.call(ctx, http.MethodGet, "/api/v1/sessions?name="+url.QueryEscape(l.Project), nil)
	if err != nil {
		return nil, err
	}
	var projects []struct{ ID string }
	if json.Unmarshal(found, &projects) != nil || len(projects) == 0 {
		return nil, diag.Refused("LangSmith has no project %q", l.Project)
	}
	query := map[string]any{"session": []string{projects[0].ID}, "is_root": true, "limit": min(l.Limit, 100)}
	switch l.Status {
	case "error":
		query["error"] = true
	case "success":
		query["error"] = false
	case "all":
	default:
		return nil, diag.Refused("--filter-status must be error, success or all, got %q", l.Status)
	}
	var out []json.RawMessage
	for len(out) < l.Limit {
		runs, next, err := s.page(ctx, query)
		if err != nil {
			return nil, err
		}
		out = append(out, runs...)
		if next == "" || len(runs) == 0 {
			break
		}
		query["cursor"] = next
	}
	return out[:min(len(out), l.Limit)], nil
}

// client talks to LangSmith's API.
type client struct {
	base, key string
	http      *http.Client
}

func (s *client) call(ctx context.Context, method, path string, body any) (json.RawMessage, error) {
	data, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	if body == nil {
		data = nil
	}
	req, err := http.NewRequestWithContext(ctx, method, s.base+path, bytes.NewReader(data))
	if err != nil {
		return nil, diag.Environment("asking LangSmith: %w", err)
	}
	req.Header.Set("X-Api-Key", s.key)
	req.Header.Set("Content-Type", "application/json")
	resp, err := s.http.Do(req)
	if err != nil {
		return nil, diag.Environment("asking LangSmith: %w", err)
	}
	defer resp.Body.Close()
	out, err := io.ReadAll(io.LimitReader(resp.Body, 64<<20))
	if err == nil && resp.StatusCode/100 != 2 {
		err = fmt.Errorf("status %d: %.200s", resp.StatusCode, out)
	}
	if err != nil {
		return nil, diag.Environment("asking LangSmith for %s: %w", path, err)
	}
	return out, nil
}

func (s *client) page(ctx context.Context, query map[string]any) (runs []json.RawMessage, next string, err error) {
	data, err := s.call(ctx, http.MethodPost, "/api/v1/runs/query", query)
	if err != nil {
		return nil, "", err
	}
	var page struct {
		Runs    []json.RawMessage `json:"runs"`
		Cursors struct{ Next string }
	}
	if err := json.Unmarshal(data, &page); err != nil {
		return nil, "", diag.Environment("reading LangSmith's answer: %w", err)
	}
	return page.Runs, page.Cursors.Next, nil
}

// fetchTree returns a run and all runs below it, in the form of an export.
func (s *client) fetchTree(ctx context.Context, root json.RawMessage) ([]byte, error) {
	var r struct {
		Trace string `json:"trace_id"`
	}
	if err := json.Unmarshal(root, &r); err != nil {
		return nil, diag.Environment("reading a run of LangSmith: %w", err)
	}
	all := []json.RawMessage{root}
	if r.Trace != "" {
		query := map[string]any{"trace": r.Trace, "is_root": false, "limit": 100}
		for {
			runs, next, err := s.page(ctx, query)
			if err != nil {
				return nil, err
			}
			all = append(all, runs...)
			if next == "" || len(runs) == 0 {
				break
			}
			query["cursor"] = next
		}
	}
	return json.Marshal(all)
}
