package mcp

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/thresh-dev/thresh/app"
	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/report"
)

// maxTimes is how often one call may run a finding again.
const maxTimes = 1000

// findingTools returns the tools for findings of runs.
func (s *Server) findingTools() []campaign.Tool {
	id := campaign.Param{Name: "finding", Kind: "string", About: "a finding's id, of the newest run that has it, or RUN/FINDING", Required: true}
	return []campaign.Tool{
		{Name: "replay", About: "Run the smallest reproducer of a finding again, with the document, seeds and module that were kept with its run and programs as they are now.", Call: withProgress(s.replay),
			Params: []campaign.Param{
				id, {Name: "times", Kind: "integer", About: "run it so often (1; a flaky finding at least 10 times)"},
				{Name: "system", Kind: "string", About: "a system file below the server's folder, which replaces the run's own system"},
				{Name: "as_stored", Kind: "boolean", About: "use the stored document even if it has changed since"},
			}},
		{Name: "explain_finding", Reads: true, About: "Return everything known about a finding: the steps, evidence, the smallest reproducer, how to reproduce it.", Call: withProgress(s.explain), Params: []campaign.Param{id}},
	}
}

func (s *Server) replay(ctx context.Context, c *call) (any, error) {
	id, ok := c.Text("finding")
	if !ok {
		return nil, errors.New("finding must be a string")
	}
	times := int64(1)
	if err := c.count("times", &times, maxTimes); err != nil {
		return nil, err
	}
	if times == 0 {
		return nil, errors.New("times must be at least 1")
	}
	job := app.ReplayJob{Times: int(times)}
	if err := errors.Join(c.decodeParam("system", "a string", &job.System), c.decodeParam("as_stored", "true or false", &job.AsStored)); err != nil {
		return nil, err
	}
	r, err := s.cfg.Use.Replay(ctx, id, job)
	if err != nil {
		return nil, err
	}
	v := struct {
		Finding string `json:"finding"`
		RunID   string `json:"run_id"`
		Shows   bool   `json:"shows_again"`
		Tried   int    `json:"tried"`
		Same    int    `json:"same"`
		Kind    string `json:"kind"`
		Title   string `json:"title"`
		Now     string `json:"fails_otherwise,omitempty"`
		Mode    string `json:"mode,omitempty"`
	}{r.Finding.ID, r.RunID, r.Rerun.Same > 0, r.Rerun.Tried, r.Rerun.Same, r.Finding.Kind, r.Finding.Title, r.Now, ""}
	if rec, err := s.cfg.Store.Outline(r.RunID); err == nil {
		v.Mode = s.modeOf(rec)
	}
	return v, nil
}

func (s *Server) explain(_ context.Context, c *call) (any, error) {
	id, ok := c.Text("finding")
	if !ok {
		return nil, errors.New("finding must be a string")
	}
	rec, f, err := s.cfg.Store.Finding(id)
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	if err := report.FindingText(&text, rec, f, report.Options{Blob: s.cfg.Store.Blob}); err != nil {
		return nil, fmt.Errorf("describing finding %s: %w", f.ID, err)
	}
	v := struct {
		Finding campaign.Finding `json:"finding"`
		RunID   string           `json:"run_id"`
		Text    string           `json:"text"` // the same for people
		Mode    string           `json:"mode,omitempty"`
	}{f, rec.RunID, text.String(), s.modeOf(rec)}
	return v, nil
}
