package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
)

// call is one call of a tool.
type call struct {
	req  *sdk.CallToolRequest
	args map[string]json.RawMessage
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// Text implements [campaign.ToolCall].
func (c *call) Text(name string) (string, bool) {
	var s *string
	if json.Unmarshal(c.args[name], &s) != nil || s == nil {
		return "", false
	}
	return *s, true
}

// Integer implements [campaign.ToolCall].
func (c *call) Integer(name string) (int64, bool) {
	var n *int64
	if json.Unmarshal(c.args[name], &n) != nil || n == nil {
		return 0, false
	}
	return *n, true
}

// decodeParam decodes an optional parameter. It returns an error if the value has another type.
func (c *call) decodeParam(name, want string, v any) error {
	raw, ok := c.args[name]
	if !ok || bytes.Equal(raw, []byte("null")) {
		return nil
	}
	if json.Unmarshal(raw, v) != nil {
		return fmt.Errorf("%s must be %s, got %s", name, want, diag.Cut(string(raw), 80))
	}
	return nil
}

// count decodes an integer from 0 to most.
func (c *call) count(name string, v *int64, most int64) error {
	if err := c.decodeParam(name, "an integer", v); err != nil {
		return err
	}
	if *v < 0 || *v > most {
		return fmt.Errorf("%s must be from 0 to %d, got %d", name, most, *v)
	}
	return nil
}

// answer returns a value as compact JSON, both as text and as structured content.
func answer(v any, isError bool) *sdk.CallToolResult {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return failed(fmt.Errorf("encoding the answer: %w", err), "")
	}
	text := bytes.TrimSpace(b.Bytes())
	return &sdk.CallToolResult{
		Content: []sdk.Content{&sdk.TextContent{Text: string(text)}}, StructuredContent: json.RawMessage(text), IsError: isError,
	}
}

// maxError is how many bytes of an error message go to a client, because the message may quote what
// the client sent.
const maxError = 4 << 10

// failed is the result of a tool call that failed. mode is the mode of the run or finding it was
// about, if that explores a model.
func failed(err error, mode string) *sdk.CallToolResult {
	v := struct {
		Error       string      `json:"error"`
		Mode        string      `json:"mode,omitempty"`
		Hint        string      `json:"hint,omitempty"`
		Diagnostics []diag.JSON `json:"diagnostics,omitempty"`
	}{Error: diag.Cut(err.Error(), maxError), Mode: mode, Hint: diag.Hint(err)}
	if list, ok := errors.AsType[diag.List](err); ok {
		v.Diagnostics = list.JSON()
	}
	return answer(v, true)
}

// follow waits until a run or ctx has ended. It sends progress to a client that asked for it,
// whenever there is some.
func (c *call) follow(ctx context.Context, r campaign.Background) error {
	token := c.req.Params.GetProgressToken()
	last := -1.0
	for {
		changed := r.Changed()
		st := r.Status()
		if at, of := progressOf(st); token != nil && at > last && st.Record == nil {
			last = at
			// A client that has disconnected gets no answer; ctx ends the call.
			_ = c.req.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{
				ProgressToken: token, Progress: at, Total: of, Message: describe(st),
			})
		}
		select {
		case <-r.Done():
			return nil
		case <-ctx.Done():
			return ctx.Err()
		case <-changed:
		}
	}
}

// progressOf returns a run's progress, in campaigns, as a number that never falls, and its final
// value; 0 if unknown.
func progressOf(st campaign.Status) (at, of float64) {
	part := 0.0
	switch {
	case st.Phase == "running again" || st.Phase == "confirming" || st.Phase == "shrinking" || st.Phase == "done":
		part = 1
	case st.Planned > 0:
		part = min(float64(st.Done)/float64(st.Planned), 1)
	}
	return float64(max(st.Index, 1)-1) + part, float64(st.Of)
}

func describe(st campaign.Status) string {
	if st.Campaign == "" {
		return st.Phase
	}
	if st.Planned == 0 {
		return fmt.Sprintf("%s %s: %s, %d failed", st.Phase, st.Campaign, diag.Plural(st.Done, "case"), st.Failed)
	}
	return fmt.Sprintf("%s %s: %d of %d cases, %d failed", st.Phase, st.Campaign, st.Done, st.Planned, st.Failed)
}
