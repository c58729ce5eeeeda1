package fault

import (
	"encoding/json"
	"strings"
	"testing"
)

// A model under a fault calls a tool in its provider's own form: one that there
// is not, one with arguments that are not JSON, or one that breaks off.
func TestModelCalls(t *testing.T) {
	tools := map[string]string{
		"/v1/chat/completions": `{"model":"m","stream":%,"messages":[{"role":"user","content":"hi"}],"tools":[{"type":"function","function":{"name":"orders","parameters":{}}}]}`,
		"/v1/responses":        `{"model":"m","stream":%,"input":"hi","tools":[{"type":"function","name":"orders","parameters":{}}]}`,
		"/v1/messages":         `{"model":"m","stream":%,"messages":[{"role":"user","content":"hi"}],"tools":[{"name":"orders","input_schema":{}}]}`,
		"/api/chat":            `{"model":"m","stream":%,"messages":[{"role":"user","content":"hi"}],"tools":[{"type":"function","function":{"name":"orders","parameters":{}}}]}`,
	}
	for path, body := range tools {
		for _, stream := range []string{"false", "true"} {
			r := Recognize("POST", path, []byte(strings.Replace(body, "%", stream, 1)))
			for mode, name := range map[Mode]string{BrokenCall: "orders", UnknownCall: missingTool, CutCall: "orders"} {
				s := &Strike{Rule: Rule{Layer: LLM, Mode: mode}.Filled()}
				if why := s.Unasked(r); why != "" {
					t.Fatal(path, why)
				}
				a, ok := s.ModelAnswer(r, 7, noon)
				got := string(a.Body)
				if !ok || a.Status != 200 || mode != CutCall && !strings.Contains(got, `"name":"`+name+`"`) || a.Cut != (mode == CutCall) {
					t.Errorf("%s %s %s: %+v %s", path, stream, mode, a, got)
				}
				whole := true
				for _, f := range frames(a.ContentType, a.Body) {
					whole = whole && (f.root != nil || strings.Contains(string(f.raw), "[DONE]"))
				}
				switch {
				case mode != CutCall && !whole:
					t.Errorf("%s %s %s: an event is broken: %s", path, stream, mode, got)
				case mode == CutCall && (!strings.HasSuffix(got, "a note that goes on") && a.ContentType != typeSSE || !strings.Contains(got, "a note that goes on") || strings.Contains(got, "DONE") || strings.Contains(got, "_stop")):
					t.Errorf("%s %s: it does not break off: %s", path, stream, got)
				}
			}
		}
		bare := Recognize("POST", path, []byte(strings.Replace(strings.Replace(body, "%", "false", 1), `"tools"`, `"no"`, 1)))
		if why := (&Strike{Rule: Rule{Layer: LLM, Mode: UnknownCall}.Filled()}).Unasked(bare); why == "" {
			t.Errorf("%s: a call of a tool where none is offered", path)
		}
	}
	for i := range asked {
		r := request(t, i, false)
		long, _ := (&Strike{Rule: Rule{Layer: LLM, Mode: TooLong}.Filled()}).ModelAnswer(r, 1, noon)
		no, _ := (&Strike{Rule: Rule{Layer: LLM, Mode: Refuses, Message: "No."}.Filled()}).ModelAnswer(r, 1, noon)
		if long.Status != 400 || !json.Valid(long.Body) || !strings.Contains(string(long.Body), "longer than this model's context") ||
			r.Shape.Provider() == "openai" && !strings.Contains(string(long.Body), `"context_length_exceeded"`) {
			t.Errorf("%s: %d %s", r.Shape, long.Status, long.Body)
		}
		if no.Status != 200 || !strings.Contains(string(no.Body), `"No."`) {
			t.Errorf("%s: %s", r.Shape, no.Body)
		}
	}
}
