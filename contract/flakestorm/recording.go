package flakestorm

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/flakestorm/config"
	"github.com/thresh-dev/thresh/engine/agentcall"
	"github.com/thresh-dev/thresh/engine/fault"
)

// Record asks the agent once, without faults, and returns the session with what
// its tools had answered. An agent whose calls cannot be seen is an error: the
// session would tell nothing of its tools.
func (c *Campaign) Record(ctx context.Context, prompt string) (config.Session, agentcall.Reply, error) {
	if !c.reach.own || c.reach.python && !c.reach.tools {
		return config.Session{}, agentcall.Reply{}, errors.New("the agent's calls cannot be seen: have Thresh start it by agent.command, or name a Python agent's tools")
	}
	c.seeing = true
	x, err := c.openLane(ctx, campaign.Lane{Of: 1})
	if err != nil {
		return config.Session{}, agentcall.Reply{}, err
	}
	s, r, err := x.record(ctx, prompt)
	return s, r, errors.Join(err, x.Close())
}

func (x *executor) record(ctx context.Context, prompt string) (config.Session, agentcall.Reply, error) {
	cl, err := x.enter(ctx, setting{name: "record"})
	if err != nil {
		return config.Session{}, agentcall.Reply{}, err
	}
	u, err := cl.ask(ctx, prompt, nil, nil)
	report := cl.leave()
	if err != nil {
		return config.Session{}, agentcall.Reply{}, err
	}
	t := transcript{Case: "recorded", Turns: []turn{*u}, Faults: report}
	t.answers = t.settle()
	sum := sha256.Sum256([]byte(prompt))
	s, ok := x.c.asSession(campaign.Case{}, campaign.Outcome{}, &t)
	if !ok {
		return s, u.Reply, fmt.Errorf("there is nothing to record of an empty prompt")
	}
	s.ID, s.Name, s.Source = "recorded-"+hex.EncodeToString(sum[:4]), "", "recorded"
	return s, u.Reply, nil
}

// answered is what a tool answered as a recorded response that answers the same:
// the value of one in Python, with its type, or the exception that it raised;
// the body of one behind HTTP, with what it was declared as; the result of one of
// an MCP server; as much as came by a connection that ended before. A call that
// failed in another way gets an error: nothing else makes it fail again.
func answered(e *fault.Exchange) config.ToolResponse {
	r := config.ToolResponse{Tool: e.Tool, Status: e.Status, Body: string(e.Response), Text: true, ContentType: e.ContentType, Raises: e.Raised, Connection: string(e.Ended)}
	if e.Kind == fault.MCPCall && e.Ended == "" {
		if result, failure := fault.MCPResult(e.ContentType, e.Response); result != nil {
			return config.ToolResponse{Tool: e.Tool, Body: string(result)}
		} else if failure != "" {
			return config.ToolResponse{Tool: e.Tool, Status: http.StatusInternalServerError, Body: failure, Text: true}
		}
	}
	called := e.Kind == fault.ToolCall && e.Method == "" // in Python
	var text string
	switch t := strings.TrimSpace(r.Body); {
	case e.Ended != "":
		r.Text = r.Body != ""
	case r.Body == "" && r.Status == 0 && e.Error != "":
		r.Status, r.Body = http.StatusInternalServerError, e.Error
	case called && json.Unmarshal(e.Response, &text) == nil && t != "null":
		r.Body = text
	case called && t == "null":
		r.Body, r.Text = "", false
	case called, strings.HasPrefix(t, "{") && json.Valid([]byte(t)):
		r.Text = false
	}
	if !r.Text && strings.HasPrefix(r.ContentType, "application/json") {
		r.ContentType = "" // as it would be declared anyway
	}
	return r
}
