package fuzzspec

import (
	"fmt"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/jsontree"
)

// The sections that the contract reserves: they are checked, and nothing that
// they say is followed, but for the one environment variable.

const (
	modePerRun = "per_run"
	modeShared = "shared"
	// envUnbuffered is the only variable that a document may set.
	envUnbuffered = "PYTHONUNBUFFERED"
)

func (w *walk) execution(n *jsontree.Node) {
	const path = "execution"
	if !w.object(n, path) {
		return
	}
	w.fields(n, path, nil, []string{"work_root_mode", "env_overrides"})
	e := &w.spec.Execution
	e.WorkRootMode = modePerRun
	if mode, ok := w.str(n, path, "work_root_mode"); ok {
		node := n.Get("work_root_mode")
		switch mode {
		case modePerRun:
		case modeShared:
			w.reserved = append(w.reserved, place{path + ".work_root_mode", node})
		default:
			w.refuse(node.Offset, path+".work_root_mode", "must be one of per_run, shared", codeChoice,
				"must be per_run or shared, got "+describe(node), diag.DidYouMean(mode, []string{modePerRun, modeShared}))
		}
		e.WorkRootMode = mode
	}
	if env := n.Get("env_overrides"); env != nil && w.object(env, path+".env_overrides") {
		w.env(env)
	}
}

func (w *walk) env(n *jsontree.Node) {
	w.spec.Execution.EnvOverrides = map[string]string{}
	members := slices.Clone(n.Members)
	slices.SortFunc(members, func(a, b jsontree.Member) int { return strings.Compare(a.Key, b.Key) })
	for i := range members {
		m := &members[i]
		path := "execution.env_overrides." + m.Key
		switch {
		case m.Key != envUnbuffered:
			hint := diag.DidYouMean(m.Key, []string{envUnbuffered})
			if hint == "" {
				hint = "set it in the command: env " + m.Key + "=... program"
			}
			w.refuse(m.KeyOffset, path, "not allowlisted", codeEnv,
				"must be "+envUnbuffered+", the one variable that may be set, got "+quoteShort(m.Key), hint)
		case m.Value.Kind != jsontree.String:
			w.wrongType(&m.Value, path, "a string")
		case m.Value.Text != "0" && m.Value.Text != "1":
			w.refuse(m.Value.Offset, path, `must be "0" or "1"`, codeChoice, `must be "0" or "1", got `+describe(&m.Value), "")
		default:
			w.spec.Execution.EnvOverrides[m.Key] = m.Value.Text
		}
	}
}

// outputs checks the templates in the order in which existing tools do.
func (w *walk) outputs(n *jsontree.Node) {
	const path = "outputs"
	if !w.object(n, path) {
		return
	}
	w.fields(n, path, []string{"out_dir", "eval_dir"}, []string{"input_dir", "llmfuzz_dir"})
	o := &w.spec.Outputs
	o.InputDir = w.template(n, "input_dir", "runs/<run_id>/input")
	if v := w.template(n, "out_dir", "runs/<run_id>/out"); v != nil {
		o.OutDir = *v
	}
	if v := w.template(n, "eval_dir", "runs/<run_id>/eval"); v != nil {
		o.EvalDir = *v
	}
	o.LLMFuzzDir = w.template(n, "llmfuzz_dir", "runs/<run_id>/llmfuzz")
}

func (w *walk) template(obj *jsontree.Node, key, fixed string) *string {
	path := "outputs." + key
	text, ok := w.str(obj, "outputs", key)
	if !ok {
		return nil
	}
	n := obj.Get(key)
	before := len(w.found)
	if strings.HasPrefix(text, "/") {
		w.refuse(n.Offset, path, "must not start with /", codeTemplate,
			"must be a path relative to target.work_root_base, got "+describe(n), "")
	}
	for _, token := range templateTokens(text) {
		switch token {
		case "<run_id>":
			continue
		case "<artifact_id>":
			w.refuse(n.Offset, path, "must not contain <artifact_id>", codeTemplate, "must be a template without <artifact_id>, got "+describe(n), "")
		default:
			w.refuse(n.Offset, path, "unsupported token "+token, codeTemplate,
				fmt.Sprintf("must be a template with no token but <run_id>, got %s", quoteShort(token)),
				diag.DidYouMean(token, []string{"<run_id>"}))
		}
	}
	if text != fixed && len(w.found) == before {
		w.reserved = append(w.reserved, place{path, n})
	}
	return &text
}

// templateTokens returns the <...> tokens of a template, left to right, with at
// least one character between the brackets.
func templateTokens(text string) []string {
	var tokens []string
	for {
		open := strings.IndexByte(text, '<')
		if open < 0 {
			return tokens
		}
		text = text[open:]
		end := strings.IndexByte(text, '>')
		if end < 0 {
			return tokens
		}
		if end == 1 { // "<>" is no token
			text = text[1:]
			continue
		}
		tokens = append(tokens, text[:end+1])
		text = text[end+1:]
	}
}
