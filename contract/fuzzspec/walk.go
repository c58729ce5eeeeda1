package fuzzspec

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/doctree"
	"github.com/thresh-dev/thresh/engine/jsontree"
	"github.com/thresh-dev/thresh/engine/seq"
)

// voice is the way existing tools report a broken rule.
type voice struct {
	line       string // the line they print
	unexpected bool   // they fail without rejecting the document
}

// walk goes through a document once, in the order in which existing tools check it, decodes it and
// collects every violation. [Validate] uses the first violation, [Check] all of them: one set of
// rules, two voices.
type walk struct {
	doctree.Decoder
	fsys  FS
	file  string
	allow []string
	self  string // path of the running program
	// beside is the folder of the document, for paths that begin with "./"; "": such paths are
	// rejected, as by existing tools.
	beside string
	doc    *doctree.Document
	spec   Spec
	first  *voice // of the first violation
	// reserved holds the reserved fields that are not at their default, in the order in which existing
	// tools name them.
	reserved []place
}

// place is a value in the document with its dotted path.
type place struct {
	path string
	node *doctree.Node
}

// located completes a diagnostic with its place.
func (w *walk) located(pos doctree.Pos, d diag.Diagnostic) diag.Diagnostic {
	d.Pos, d.Source = pos.In(w.file), w.doc.Line(pos.Line)
	return d
}

// violation adds a broken rule, in both forms.
func (w *walk) violation(v voice, given func() diag.Diagnostic) {
	if w.first == nil {
		w.first = &v
	}
	w.List.Add(diag.Error, given)
}

// refuse adds a violation whose compatible form is "path: reason".
func (w *walk) refuse(pos doctree.Pos, path, reason, code, message, hint string) {
	w.violation(voice{line: path + ": " + reason}, func() diag.Diagnostic {
		return w.located(pos, diag.Diagnostic{Code: code, Path: path, Message: message, Hint: hint})
	})
}

// crash adds a violation on which existing tools raise an exception.
func (w *walk) crash(pos doctree.Pos, path, exception, code, message string) {
	w.violation(voice{unexpectedLine(exception), true}, func() diag.Diagnostic {
		return w.located(pos, diag.Diagnostic{Code: code, Path: path, Message: message})
	})
}

func unexpectedLine(exception string) string { return "spec: unexpected error (" + exception + ")" }

// addFault adds a fault of the decoder.
func (w *walk) addFault(f doctree.Fault) {
	if f.Code == "unknown-key" && f.In == "execution.env_overrides" {
		f.Given = w.noVariable(f)
	}
	w.List.Add(f.Level, f.Given)
	if w.first == nil {
		w.first = &voice{line: saidLine(f)}
	}
}

// noVariable is the diagnostic for a variable that may not be set.
func (w *walk) noVariable(f doctree.Fault) func() diag.Diagnostic {
	return func() diag.Diagnostic {
		d := f.Given()
		d.Code = codeEnv
		d.Message = "must be " + envUnbuffered + ", the one variable that may be set"
		d.Hint = diag.DidYouMean(f.Key, []string{envUnbuffered})
		d.Hint = cmp.Or(d.Hint, "set it in the command: env "+f.Key+"=... program")
		return d
	}
}

// saidLine is the line that existing tools print for a fault of the decoder.
func saidLine(f doctree.Fault) string {
	path, item, _ := strings.Cut(f.Path, "[")
	reason := ""
	switch f.Code {
	case "missing-key":
		reason = "missing required field"
		if f.Path == "target.command" {
			return noCommand
		}
	case "unknown-key":
		path, reason = f.Key, "unknown field"
		if f.In == "execution.env_overrides" {
			reason = "not allowlisted"
		}
		if f.In != "" {
			path = f.In + "." + f.Key
		}
	case "type":
		switch kind := map[doctree.Form]string{doctree.TextForm: "a string", doctree.WordForm: "a string", doctree.ListForm: "an array",
			doctree.IntegerForm: "an integer", doctree.NumberForm: "a number", doctree.ShapeForm: "an object"}[f.Type.Form]; {
		case f.Path == "":
			path, reason = "spec", "must be a JSON object"
		case item != "":
			reason = "must contain strings"
		default:
			reason = "must be " + kind
		}
	case "range":
		if reason = "must be greater than 0"; f.Type.Low == 0 {
			reason = "must be greater than or equal to 0"
		}
	case "empty":
		reason = "must not be empty"
	case "unknown-word":
		switch {
		case item != "":
			reason = "unsupported op " + f.Node.Text
		case f.In == "" && strings.HasSuffix(path, envUnbuffered):
			reason = `must be "0" or "1"`
		default:
			reason = "must be one of " + strings.Join(f.Type.Words, ", ")
		}
	}
	return path + ": " + reason
}

// parse parses the text; false means that there is no tree to walk.
func (w *walk) parse(text []byte) bool {
	w.Decoder = doctree.Decoder{Format: "fuzzspec", File: w.file, JSON: true, Said: w.addFault}
	doc, err := doctree.ParseJSON(text, jsontree.Python())
	if err == nil {
		w.doc, w.Line = doc, doc.Line
		return true
	}
	e := err.(*doctree.Error) // ParseJSON returns no other error
	d := diag.Diagnostic{Pos: e.Pos.In(w.file), Message: e.Message(), Source: e.Source}
	v := voice{unexpected: true}
	switch e.Class {
	case doctree.Encoding:
		d.Code, v.line = codeEncoding, unexpectedLine("UnicodeDecodeError")
	case doctree.Depth:
		d.Code, v.line = codeDepth, unexpectedLine("RecursionError")
	case doctree.Digits:
		d.Code, v.line = codeDigits, unexpectedLine("ValueError")
	case doctree.Size:
		d.Code, v.line = codeSize, unexpectedLine("MemoryError")
	default:
		d.Code, v.line, v.unexpected = codeSyntax, "spec: invalid json", false
	}
	w.violation(v, func() diag.Diagnostic { return d })
	return false
}

// document walks the whole tree.
func (w *walk) document() {
	s := w.Section(&w.doc.Root, "", format())
	if v := s.Text("schema_version"); v != SchemaVersion && stringAt(s, "schema_version") {
		w.refuse(s.PosOf("schema_version"), "schema_version", "must equal "+SchemaVersion, codeVersion,
			fmt.Sprintf("must be %q, got %s", SchemaVersion, w.Describe(s.Node("schema_version"))), "")
	}
	w.spec.CampaignID = s.Text("campaign_id")
	w.spec.Description = optional(s, "description")
	w.target(s.Sub("target"))
	w.seed(s.Sub("seed"))
	w.mutations(s.Sub("mutations"))
	w.execution(s.Sub("execution"))
	w.outputs(s.Sub("outputs"))
}

// Refusal is the reason why [Validate] rejects a document: one line, as existing tools print it,
// without a line end.
type Refusal struct {
	Line string
	// Unexpected means that existing tools do not reject such a document but fail on it: their
	// commands other than validate exit with 1, not 2.
	Unexpected bool
}

func (r *Refusal) Error() string { return r.Line }

// Validate checks a document as existing tools do: the first broken rule, in their order, wins. The
// warning is the line that they print for an accepted document, or empty; strict rejects a document
// with a warning. An error is always a [*Refusal].
func Validate(text []byte, fsys FS, strict bool) (spec *Spec, warning string, err error) {
	w := walk{fsys: fsys}
	if w.parse(text) {
		w.document()
	}
	if v := w.first; v != nil {
		return nil, "", &Refusal{Line: printable(v.line), Unexpected: v.unexpected}
	}
	if len(w.reserved) == 0 {
		return &w.spec, "", nil
	}
	list := strings.Join(seq.Map(w.reserved, func(p place) string { return p.path }), ", ")
	if strict {
		return nil, "", &Refusal{Line: "spec: reserved fields not implemented (strict): " + list}
	}
	return &w.spec, "warning: reserved fields not implemented: " + list, nil
}

// printable writes lone surrogates, which UTF-8 cannot encode, as Python's standard error does.
func printable(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if r, ok := jsontree.IsLone(s[i:]); ok {
			fmt.Fprintf(&b, `\u%04x`, r)
			i += 2
			continue
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
