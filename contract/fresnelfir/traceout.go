package fresnelfir

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"strconv"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/fresnelfir/ir"
	"github.com/thresh-dev/thresh/contract/fresnelfir/model"
	"github.com/thresh-dev/thresh/diag"
)

// passed is a step of a trace that is written to a file, with the resulting state.
type passed struct {
	before *passed // nil: the start
	step   traceStep
	state  map[string]any // by entity: instances by name, with their fields
}

// show records a step and the model's state after it.
func show(before *passed, step traceStep, m *model.Machine) *passed {
	return &passed{before, step, stateOf(m)}
}

func stateOf(m *model.Machine) map[string]any {
	state := map[string]any{}
	doc := m.Program().Document()
	lists := map[string][]any{}
	for i := range int32(m.Instances()) {
		e := doc.Entities[m.EntityOf(i)]
		fields := map[string]any{}
		for k, f := range e.Fields {
			fields[f.Name] = plainValue(m.Text(m.Get(i, k)), f.Type)
		}
		lists[e.Name] = append(lists[e.Name], []any{m.Name(i), fields})
	}
	for _, e := range doc.Entities {
		state[e.Name] = map[string]any{"#map": append([]any{}, lists[e.Name]...)}
	}
	return state
}

// plainValue converts a value of a trace to JSON. Numbers that not every reader can represent are
// written as in the Informal Trace Format.
func plainValue(text string, of ir.Type) any {
	switch n, err := strconv.ParseInt(text, 10, 64); {
	case of == ir.Int && err == nil && (n >= 1<<53 || n <= -1<<53):
		return map[string]any{"#bigint": text}
	case of == ir.Int && err == nil:
		return n
	case of == ir.Bool:
		return text == "true"
	}
	return text
}

// tableValue parses a value from a step's table: a text is quoted, or plain if it is unambiguous.
func tableValue(text string) any {
	if s, err := strconv.Unquote(text); err == nil {
		return s
	}
	if _, err := strconv.ParseInt(text, 10, 64); err == nil {
		return plainValue(text, ir.Int)
	}
	if text == "true" || text == "false" {
		return text == "true"
	}
	return text
}

func argsOf(s *traceStep) map[string]any {
	args := map[string]any{}
	for _, a := range s.Args {
		name, value, _ := strings.Cut(a, "=")
		args[name] = tableValue(value)
	}
	return args
}

// writeTrace writes a trace: as JSON lines if the file's name ends in .jsonl, else in the Informal
// Trace Format.
func (c *Campaign) writeTrace(w io.Writer, file string, last *passed) error {
	var steps []*passed
	for s := last; s != nil; s = s.before {
		steps = append([]*passed{s}, steps...)
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	if !strings.HasSuffix(file, ".jsonl") {
		e.SetIndent("", "  ")
		return e.Encode(c.itf(steps))
	}
	for _, s := range steps {
		line := struct {
			Action  string         `json:"action"`
			Args    map[string]any `json:"args"`
			Returns any            `json:"returns,omitempty"`
		}{Action: s.step.Action, Args: argsOf(&s.step)}
		if b := c.plan.doc.Binding(s.step.Action); s.step.expected != "" {
			line.Returns = tableValue(s.step.expected)
		} else if b != nil && b.Result.Entity != "" && s.step.made != "" {
			line.Returns = s.step.made
		}
		if err := e.Encode(line); err != nil {
			return fmt.Errorf("writing a trace: %w", err)
		}
	}
	return nil
}

// itf returns a trace in the Informal Trace Format, with a variable for each entity, and two for
// the action that led to a state.
func (c *Campaign) itf(steps []*passed) any {
	vars := []string{"action", "args"}
	for _, e := range c.plan.doc.Entities {
		vars = append(vars, e.Name)
	}
	first := stateOf(c.plan.program.New(1))
	first["action"], first["args"] = "init", map[string]any{}
	states := []map[string]any{first}
	for _, s := range steps {
		state := map[string]any{"action": s.step.Action, "args": argsOf(&s.step)}
		maps.Copy(state, s.state)
		states = append(states, state)
	}
	for i := range states {
		states[i]["#meta"] = map[string]any{"index": i}
	}
	return map[string]any{
		"#meta": map[string]any{
			"format": "ITF", "format-description": "https://apalache-mc.org/docs/adr/015adr-trace.html",
			"source": c.path, "description": "a trace of the model " + c.id.Name,
		},
		"vars": vars, "states": states,
	}
}

// traceFlag adds the option for the file to which a trace is written.
func traceFlag(fs campaign.Flags, file *string, what string) {
	fs.StringVarP(file, "output", "o", "", "write "+what+" to this `FILE`: as lines of JSON (.jsonl), else as ITF")
}

func traceCommand() campaign.Command {
	var file string
	return campaign.Command{
		Use:     "trace CAPSULE",
		Summary: "Write the steps of a finding as ITF or JSONL",
		Long: `Trace writes the steps of a capsule, which thresh promote makes of a finding, with the
model's state after each: in the Informal Trace Format (ITF) that other tools of models
read, or as the lines of JSON that thresh fresnelfir conform reads.

Exit codes: 0 written, 2 a file was refused.`,
		Example: `  thresh promote F-1a2b3c4d5e
  thresh fresnelfir trace regressions/F-1a2b3c4d5e/capsule.json -o f.itf.json`,
		Least: 1, Most: 1,
		Flags: func(fs campaign.Flags) { traceFlag(fs, &file, "the steps") },
		Run: func(ctx context.Context, d campaign.Desk, args []string) error {
			c, err := aloneCampaign(ctx, d, args[0])
			if err != nil {
				return err
			}
			x := c.plan.doc.Capsule
			if x == nil {
				return diag.Refused("%s is not a capsule: thresh promote FINDING writes one", args[0])
			}
			file = cmp.Or(file, "-")
			return d.Write(file, func(w io.Writer) error { return c.writeTrace(w, file, c.retrace(x.Tape)) })
		},
	}
}
