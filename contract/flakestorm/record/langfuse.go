package record

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"sort"

	"github.com/thresh-dev/thresh/contract/flakestorm/config"
)

// observation is a step of a Langfuse trace, or the trace itself, in the form of the API and the
// exports.
type observation struct {
	ID        string `json:"id"`
	Trace     string `json:"traceId"`
	Parent    string `json:"parentObservationId"`
	Type      string `json:"type"` // SPAN, GENERATION, EVENT, TOOL, AGENT, ...; "" for a trace
	Name      string `json:"name"`
	Timestamp string `json:"timestamp"` // of a trace
	Start     string `json:"startTime"`
	End       string `json:"endTime"`
	Input     any    `json:"input"`
	Output    any    `json:"output"`
	Level     string `json:"level"`
	Status    string `json:"statusMessage"`
	// Steps are the steps of a complete trace. In lists, traces only have the ids of their steps.
	Steps []json.RawMessage `json:"observations"`
	Whole *observation      `json:"trace"` // in a download, which has the steps next to the trace
}

// observed reads a trace or a step. Rows of exported tables have names of the form start_time.
func observed(raw []byte) (x observation, err error) {
	var row map[string]any
	if err = exact(raw, &row); err != nil {
		return x, err
	}
	for of, name := range map[string]string{"trace_id": "traceId", "parent_observation_id": "parentObservationId", "start_time": "startTime", "end_time": "endTime", "status_message": "statusMessage"} {
		if v, ok := row[of]; ok {
			row[name] = v
		}
	}
	again, _ := json.Marshal(row) // it was decoded from JSON
	if err = exact(again, &x); err == nil && x.Whole != nil {
		steps := x.Steps
		x = *x.Whole
		x.Steps = steps
	}
	return x, err
}

// documents returns the JSON values of an export, which may be one value, a list, an object with a
// list under one of the keys, or lines. Next to an error, it returns the values before it.
func documents(data []byte, keys ...string) (out []json.RawMessage, err error) {
	for d := json.NewDecoder(bytes.NewReader(data)); d.More(); {
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return out, err
		}
		var list []json.RawMessage
		var holder map[string]json.RawMessage
		if json.Unmarshal(raw, &list) == nil {
			out = append(out, list...)
			continue
		}
		_ = json.Unmarshal(raw, &holder) // anything but an object contains no list
		i := slices.IndexFunc(keys, func(k string) bool { return json.Unmarshal(holder[k], &list) == nil })
		if i < 0 {
			list = []json.RawMessage{raw}
		}
		out = append(out, list...)
	}
	return out, nil
}

// rows converts a CSV table to JSON objects, one per line, without empty cells; nil: data is not a
// table of traces or steps.
func rows(data []byte) []byte {
	r := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(data, []byte("\ufeff"))))
	names, err := r.Read()
	if err != nil || !slices.Contains(names, "id") || !slices.Contains(names, "input") {
		return nil
	}
	var b bytes.Buffer
	for {
		cells, err := r.Read()
		if err != nil && err != io.EOF {
			return nil
		}
		if err != nil {
			return b.Bytes()
		}
		row := make(map[string]string)
		for i, cell := range cells {
			if cell != "" {
				row[names[i]] = cell
			}
		}
		_ = json.NewEncoder(&b).Encode(row) // only strings
	}
}

// langfuse reads traces of Langfuse with their observations, or observations alone, which name
// their traces.
func langfuse(data []byte) ([]config.Session, error) {
	list, err := documents(data, "data", "traces")
	if err != nil {
		return nil, fmt.Errorf("reading a Langfuse export: %w", err)
	}
	var traces []observation
	steps := make(map[string][]observation)
	for _, raw := range list {
		x, err := observed(raw)
		if err != nil {
			return nil, fmt.Errorf("reading a Langfuse export: %w", err)
		}
		if x.Trace != "" && x.Type != "" {
			if x.Parent == "" && !slices.ContainsFunc(traces, func(t observation) bool { return t.ID == x.Trace }) {
				whole := x // the trace, as described by its first step
				whole.ID, whole.Type, whole.Timestamp = x.Trace, "", x.Start
				traces = append(traces, whole)
			}
			steps[x.Trace] = append(steps[x.Trace], x)
			continue
		}
		traces = slices.DeleteFunc(traces, func(t observation) bool { return t.ID == x.ID })
		traces = append(traces, x)
		for _, raw := range x.Steps {
			if k, err := observed(raw); err == nil { // otherwise it is the step's id
				steps[x.ID] = append(steps[x.ID], k)
			}
		}
	}
	var out []config.Session
	for _, t := range traces {
		s := config.Session{ID: t.ID, Name: t.Name, Source: "langfuse", CapturedAt: t.Timestamp, Contract: "default", Input: inputPrompt(t.Input), Reply: outputOf(given(t.Output))}
		below := steps[t.ID]
		sort.SliceStable(below, func(i, j int) bool { return below[i].Start < below[j].Start })
		var said conversation
		for _, k := range below {
			if s.Input == "" && k.Type != "TOOL" {
				s.Input = inputPrompt(k.Input)
			}
			if k.Level == "ERROR" && s.Expected == "" {
				s.Expected = k.Status
			}
			switch k.Type {
			case "TOOL":
				r := config.ToolResponse{Tool: k.Name, Status: 200, Latency: between(k.Start, k.End)}
				v := resultOf(given(k.Output))
				if k.Level == "ERROR" {
					r.Status, v = 500, k.Status
				}
				body(&r, structured(v))
				s.Tools = append(s.Tools, r)
			case "GENERATION":
				said.messages(inputMessages(k.Input))
			}
		}
		if len(s.Tools) == 0 {
			s.Tools = said.tools
		}
		if s.Input != "" {
			out = append(out, s)
		}
	}
	return out, nil
}

// given returns a value as the fields of a run.
func given(v any) map[string]any {
	switch x := decoded(v).(type) {
	case nil:
		return nil
	case map[string]any:
		return x
	case string:
		v = x
	}
	return map[string]any{"output": v}
}

// inputPrompt returns the prompt in an input of any form.
func inputPrompt(v any) string {
	switch x := decoded(v).(type) {
	case string:
		return x
	case map[string]any:
		return inputOf(x)
	case []any:
		return promptAmong(messages(x))
	}
	return text(v)
}
