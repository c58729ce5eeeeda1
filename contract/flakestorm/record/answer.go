package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/contract/flakestorm/config"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/fault"
	"github.com/thresh-dev/thresh/engine/lazy"
)

// Put adds calls to a session: what tools and models answered and, if a model was asked, the order
// of all calls. If a reply of the model is incomplete, the session needs the real model.
func Put(s *config.Session, calls []fault.Exchange) {
	whole := true
	for i := range calls {
		e := &calls[i]
		switch model := e.Kind == fault.ModelCall; {
		case e.Kind == fault.OtherCall:
		case e.ResponseSize > int64(len(e.Response)):
			whole = whole && !model
			s.LeftOut = append(s.LeftOut, fmt.Sprintf("call %d, an answer of %s with %d bytes", e.Call, e.Tool, e.ResponseSize))
		case model:
			r := answered(e)
			if q := request(e); q != nil {
				r.Asked = q.Asked()
			}
			s.Models = append(s.Models, r)
		default:
			s.Tools = append(s.Tools, answered(e))
		}
	}
	if len(s.Models) == 0 {
		return
	}
	if s.Trace = Trace(calls); whole {
		s.Model = config.ModelRecorded
	}
}

// request returns what a model was asked; nil: this is not known.
func request(e *fault.Exchange) *fault.Request {
	u, err := url.Parse(e.URL)
	if err != nil || e.RequestSize > int64(len(e.Request)) {
		return nil
	}
	return fault.Recognize(e.Method, u.Path, e.Request)
}

// answered returns a recorded response that gives the same answer as a tool or a model did: for a
// Python tool, the value with its type or the exception that it raised; for a tool behind HTTP, the
// body with its declared type; for a tool of an MCP server, the result; for a connection that ended
// early, the part that had arrived. A call that failed in another way gets an error: nothing else
// makes it fail again.
func answered(e *fault.Exchange) config.ToolResponse {
	r := config.ToolResponse{Tool: e.Tool, Status: e.Status, Body: string(e.Response), Text: true, ContentType: e.ContentType, Raises: e.Raised, Connection: string(e.Ended)}
	if e.Kind == fault.MCPCall && e.Ended == "" {
		if result, failure := fault.MCPResult(e.ContentType, e.Response); result != nil {
			return config.ToolResponse{Tool: e.Tool, Body: string(result)}
		} else if failure != "" {
			return config.ToolResponse{Tool: e.Tool, Status: http.StatusInternalServerError, Body: failure, Text: true}
		}
	}
	python := e.Kind == fault.ToolCall && e.Method == ""
	var text string
	switch t := strings.TrimSpace(r.Body); {
	case e.Ended != "":
		r.Text = r.Body != ""
	case r.Body == "" && r.Status == 0 && e.Error != "":
		r.Status, r.Body = http.StatusInternalServerError, e.Error
	case python && json.Unmarshal(e.Response, &text) == nil && t != "null":
		r.Body = text
	case python && t == "null":
		r.Body, r.Text = "", false
	case python, strings.HasPrefix(t, "{") && json.Valid([]byte(t)):
		r.Text = false
	}
	if !r.Text && strings.HasPrefix(r.ContentType, "application/json") {
		r.ContentType = "" // because it would be declared this way anyway
	}
	return r
}

// Ports matches ports of this machine, which are new for every process.
var Ports = lazy.Pattern(`(\b127\.0\.0\.1|\blocalhost|\[::1\]):\d{2,5}\b`)

// Trace returns the order of calls, one line each, without anything that varies from run to run.
// Tools called between two questions to a model are sorted, because an agent that calls several at
// once gets their answers in any order.
func Trace(calls []fault.Exchange) []string {
	lines, from := []string{}, 0
	for i := range calls {
		e := &calls[i]
		line := "tool " + e.Tool
		switch e.Kind {
		case fault.OtherCall:
			continue
		case fault.ModelCall:
			line = "model " + e.Tool
		default:
			line = strings.TrimSpace(line + " " + diag.Cut(argumentsOf(e), 300))
		}
		if e.Status >= http.StatusBadRequest {
			line += fmt.Sprintf(" -> %d", e.Status)
		}
		line = fault.Unvaried(Ports().ReplaceAllString(line, "$1"))
		if e.Kind == fault.ModelCall {
			slices.Sort(lines[from:])
			from = len(lines) + 1
		}
		lines = append(lines, line)
	}
	slices.Sort(lines[min(from, len(lines)):])
	return lines
}

// ByAddress returns the calls named after their addresses. A recording that was made without a
// document's gateways does not have the gateways' names.
func ByAddress(calls []fault.Exchange) []fault.Exchange {
	list := slices.Clone(calls)
	for i := range list {
		e := &list[i]
		u, err := url.Parse(e.URL)
		if err != nil {
			continue
		}
		if m := fault.Recognize(e.Method, u.Path, e.Request); m != nil && e.Kind == fault.ModelCall {
			e.Tool = m.Shape.Provider()
		}
		if names := fault.Derived(u); len(names) > 0 && e.Kind == fault.ToolCall {
			e.Tool = names[0]
		}
	}
	return list
}

// argumentsOf returns the arguments of a tool call.
func argumentsOf(e *fault.Exchange) string {
	text := e.Request
	if m := fault.ParseMCP(text); m != nil && e.Kind == fault.MCPCall {
		text = []byte(m.Arguments)
	}
	if u, err := url.Parse(e.URL); err == nil && len(text) == 0 && e.URL != "" {
		text = []byte(u.RequestURI())
	}
	var b bytes.Buffer
	if json.Compact(&b, text) == nil {
		return b.String()
	}
	return strings.Join(strings.Fields(string(bytes.ToValidUTF8(text, nil))), " ")
}
