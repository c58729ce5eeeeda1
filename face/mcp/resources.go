package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/report"
	"github.com/thresh-dev/thresh/store"
)

// Addresses of resources.
const (
	runsURI         = "thresh://runs"
	reportTemplate  = "thresh://runs/{run}/report/{format}"
	findingTemplate = "thresh://runs/{run}/findings/{finding}"
)

// listedRuns is how many of the newest runs the list of runs has.
const listedRuns = 100

var mimeTypes = map[string]string{
	"text": "text/plain", "json": "application/json", "junit": "application/xml", "sarif": "application/sarif+json", "tap": "text/plain", "jsonl": "application/jsonl", "html": "text/html",
	"markdown": "text/markdown", "github": "text/plain", "codequality": "application/json", "ctrf": "application/json", "hits": "application/jsonl", "attempts": "application/jsonl",
}

func (s *Server) addResources() {
	var formats []string
	for _, f := range report.Formats() {
		formats = append(formats, f.Name)
	}
	s.mcp.AddResource(&sdk.Resource{
		URI: runsURI, Name: "runs", Title: "Stored runs", MIMEType: "application/json", Description: "The newest stored runs, as thresh list --json has them.",
	}, s.readResource)
	s.mcp.AddResourceTemplate(&sdk.ResourceTemplate{
		URITemplate: reportTemplate, Name: "report", Title: "Report of a run",
		Description: "The report of a run, which may be latest; formats: " + strings.Join(formats, ", ") + ".",
	}, s.readResource)
	s.mcp.AddResourceTemplate(&sdk.ResourceTemplate{
		URITemplate: findingTemplate, Name: "finding", Title: "Finding", MIMEType: "text/plain", Description: "Everything known about one finding of a run.",
	}, s.readResource)
}

// announce notifies all clients when a run has ended, and lists its report as a resource.
func (s *Server) announce(r campaign.Background) {
	s.ending.Go(func() {
		<-r.Done()
		s.mcp.AddResource(&sdk.Resource{
			URI: runsURI + "/" + url.PathEscape(r.ID()) + "/report/text", Name: "report of " + r.ID(), Title: "Report of run " + r.ID(), MIMEType: "text/plain",
		}, s.readResource)
		ctx := context.Background() // no call waits for this
		_ = s.mcp.ResourceUpdated(ctx, &sdk.ResourceUpdatedNotificationParams{URI: runsURI})
		v := stateOf(r)
		for session := range s.mcp.Sessions() {
			// A client that has disconnected gets no notification.
			_ = session.Log(ctx, &sdk.LoggingMessageParams{ //nolint:staticcheck // only deprecated in the newest protocol; clients of older ones show it
				Level: "info", Logger: "thresh", Data: map[string]any{"run_id": v.RunID, "state": v.State, "verdict": v.Verdict, "findings_count": v.Findings},
			})
		}
	})
}

// complete completes the parts of a resource's address, and the findings that prompts are about.
func (s *Server) complete(_ context.Context, req *sdk.CompleteRequest) (*sdk.CompleteResult, error) {
	var all []string
	var list []store.RunSummary
	if name := req.Params.Argument.Name; name == "run" || name == "finding" {
		var err error
		if list, err = s.cfg.Store.Runs(store.RunQuery{Limit: listedRuns}); err != nil {
			return nil, err
		}
	}
	switch req.Params.Argument.Name {
	case "format":
		for _, f := range report.Formats() {
			all = append(all, f.Name)
		}
	case "finding":
		for _, r := range list {
			page, err := s.cfg.Store.Findings(store.FindingQuery{RunID: r.RunID, Limit: maxCompletions})
			if err != nil {
				continue // another process may have deleted the run
			}
			for _, f := range page.Findings {
				all = append(all, f.ID)
			}
		}
	case "run":
		all = append(all, "latest")
		for _, r := range list {
			all = append(all, r.RunID)
		}
	}
	values := []string{}
	for _, v := range all {
		if strings.HasPrefix(v, req.Params.Argument.Value) && !slices.Contains(values, v) && len(values) < maxCompletions {
			values = append(values, v)
		}
	}
	return &sdk.CompleteResult{Completion: sdk.CompletionResultDetails{Values: values, Total: len(values)}}, nil
}

// maxCompletions is how many values the protocol allows in a completion.
const maxCompletions = 100

func (s *Server) readResource(_ context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	uri := req.Params.URI
	mime, body, err := s.resource(uri)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", uri, err)
	}
	if body == nil {
		return nil, sdk.ResourceNotFoundError(uri)
	}
	return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: uri, MIMEType: mime, Text: string(body)}}}, nil
}

// resource returns a resource's content; nil if the address has none.
func (s *Server) resource(uri string) (mime string, body []byte, err error) {
	st := s.cfg.Store
	var b bytes.Buffer
	if uri == runsURI {
		list, err := st.Runs(store.RunQuery{Limit: listedRuns})
		if err != nil {
			return "", nil, err
		}
		if list == nil {
			list = []store.RunSummary{}
		}
		if err := json.NewEncoder(&b).Encode(list); err != nil {
			return "", nil, fmt.Errorf("encoding the list: %w", err)
		}
		return "application/json", b.Bytes(), nil
	}
	rest, _ := strings.CutPrefix(uri, runsURI+"/")
	parts := strings.Split(rest, "/")
	for i := range parts {
		if parts[i], err = url.PathUnescape(parts[i]); err != nil {
			return "", nil, nil
		}
	}
	if len(parts) != 3 {
		return "", nil, nil
	}
	opt := report.Options{Blob: st.Blob}
	switch parts[1] {
	case "report":
		f, err := report.ByName(parts[2])
		if err != nil {
			return "", nil, err
		}
		rec, err := s.storedRun(parts[0])
		if err != nil {
			return "", nil, err
		}
		if err := f.Write(&b, rec, opt); err != nil {
			return "", nil, err
		}
		return mimeTypes[f.Name], b.Bytes(), nil
	case "findings":
		rec, f, err := st.Finding(parts[0] + "/" + parts[2])
		if err != nil {
			return "", nil, err
		}
		if err := report.FindingText(&b, rec, f, opt); err != nil {
			return "", nil, err
		}
		return "text/plain", b.Bytes(), nil
	}
	return "", nil, nil
}
