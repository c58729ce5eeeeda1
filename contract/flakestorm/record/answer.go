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

// Put adds the calls of a session to it: what tools and models answered, and, if
// a model was asked, the order of it all. A session that lacks a reply of the
// model cannot do without the real one.
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

// request is what a model was asked, nil if that is not known.
func request(e *fault.Exchange) *fault.Request {
	u, err := url.Parse(e.URL)
	if err != nil || e.RequestSize > int64(len(e.Request)) {
		return nil
	}
	return fault.Recognize(e.Method, u.Path, e.Request)
}

// answered is what a tool or a model answered as a recorded response that answers
// the same: the value of a tool in Python, with its type, or the exception that it
// raised; the body of one behind HTTP, with what it was declared as; the result of
// one of an MCP server; as much as came by a connection that ended before. A call
// that failed in another way gets an error: nothing else makes it fail again.
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
		r.ContentType = "" // as it would be declared anyway
	}
	return r
}

// Ports are those of this machine, which are drawn anew for every process.
var Ports = lazy.Pattern(`\b(127\.0\.0\.1|localhost|\[::1\]):\d{2,5}\b`)

// Trace returns the order of calls, a line each, without what varies from run to run.
// Tools that are called between two questions to a model are sorted: who calls
// several at once gets their answers in any order.
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

// ByAddress are calls under the names of their addresses: a recording that was made
// without the gateways of a document does not have the names of these.
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

// argumentsOf are the arguments of a call of a tool.
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
