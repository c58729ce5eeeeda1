package fuzzspec

import (
	"fmt"
	"strings"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/doctree"
)

// The sections that the contract reserves: they are checked but have no effect, except for the one
// environment variable.

func (w *walk) execution(s *doctree.Section) {
	e := &w.spec.Execution
	if e.WorkRootMode = s.Text("work_root_mode"); e.WorkRootMode == modeShared {
		w.reserved = append(w.reserved, place{"execution.work_root_mode", s.Node("work_root_mode")})
	}
	if env := s.Sub("env_overrides"); env.There() {
		e.EnvOverrides = map[string]string{}
		if v := env.Text(envUnbuffered); stringAt(env, envUnbuffered) {
			e.EnvOverrides[envUnbuffered] = v
		}
	}
}

// outputs checks the templates in the order of existing tools.
func (w *walk) outputs(s *doctree.Section) {
	o := &w.spec.Outputs
	o.InputDir = w.template(s, "input_dir", "runs/<run_id>/input")
	if v := w.template(s, "out_dir", "runs/<run_id>/out"); v != nil {
		o.OutDir = *v
	}
	if v := w.template(s, "eval_dir", "runs/<run_id>/eval"); v != nil {
		o.EvalDir = *v
	}
	o.LLMFuzzDir = w.template(s, "llmfuzz_dir", "runs/<run_id>/llmfuzz")
}

func (w *walk) template(s *doctree.Section, key, fixed string) *string {
	given := optional(s, key)
	if given == nil {
		return nil
	}
	text, path, n := *given, s.At(key), s.Node(key)
	sound := true
	refuse := func(reason, message, hint string) {
		sound = false
		w.refuse(n.Pos, path, reason, codeTemplate, message, hint)
	}
	if strings.HasPrefix(text, "/") {
		refuse("must not start with /", "must be a path relative to target.work_root_base, got "+w.Describe(n), "")
	}
	for _, token := range templateTokens(text) {
		switch token {
		case "<run_id>":
			continue
		case "<artifact_id>":
			refuse("must not contain <artifact_id>", "must be a template without <artifact_id>, got "+w.Describe(n), "")
		default:
			refuse("unsupported token "+token,
				fmt.Sprintf("must be a template with no token but <run_id>, got %q", diag.Cut(token, 60)),
				diag.DidYouMean(token, []string{"<run_id>"}))
		}
	}
	if text != fixed && sound {
		w.reserved = append(w.reserved, place{path, n})
	}
	return given
}

// templateTokens returns the <...> tokens of a template from left to right, each with at least one
// character between the brackets.
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
		if end == 1 { // "<>" is not a token
			text = text[1:]
			continue
		}
		tokens = append(tokens, text[:end+1])
		text = text[end+1:]
	}
}
