package spectest

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/jsontree"
	"github.com/thresh-dev/thresh/engine/speclang"
)

func evalCommand() campaign.Command {
	var expr, subject string
	var text, interactive bool
	budget := DefaultBudget()
	ms := int(budget.Time / time.Millisecond)
	c := campaign.Command{
		Use:     "eval (--expr JSON | -i) [--subject FILE|-]",
		Summary: "Evaluate a spec-lang expression",
		Long: `Eval evaluates one expression and prints {"value":…} or
{"error":{"category":…,"message":…}} with the steps that were taken and the nodes
that the expression has. An expression is a list in JSON, or as people write it,
where $ is the subject. With -i, lines of standard input are expressions; each is
shown as a list, with its value. The subject is JSON, null if none is given; with --text
it is the text itself. Every value is bounded as in a case.

Exit codes: 0 there is a value, 1 there is an error, 2 the expression or the
subject is not JSON, or the subject cannot be read.`,
		Example: `  thresh spectest eval -e '["add", 1, ["len", ["subject"]]]' --subject list.json
  thresh spectest eval -e '$.status == "paid"' --subject order.json
  thresh spectest eval -i --subject order.json
  echo text | thresh spectest eval -e '["contains", "ex"]' --text --subject -`,
		Run: func(_ context.Context, d campaign.Desk, _ []string) error {
			for name, n := range map[string]int{"max-steps": budget.Steps, "max-nodes": budget.Nodes, "max-literal-bytes": budget.LiteralBytes, "timeout-ms": ms + 1} {
				if n < 1 {
					return diag.Refused("--%s is too small", name)
				}
			}
			if (expr == "") != interactive || interactive && subject == "-" {
				return diag.Refused("give --expr, or -i, which reads expressions from standard input")
			}
			v, err := subjectOf(d, subject, text)
			if err != nil {
				return err
			}
			budget.Time = time.Duration(ms) * time.Millisecond
			if interactive {
				return (&evalSession{budget: budget, subject: v, out: d.Out(), err: d.Err()}).run(d.In())
			}
			form, _, err := readExpression(expr)
			if err != nil {
				return diag.WithHint(diag.Refused("--expr: %w", err), hintOf(err))
			}
			answer := Evaluate(form, v, budget)
			if _, err := fmt.Fprintf(d.Out(), "%s\n", answer.JSON); err != nil {
				return diag.Environment("writing to standard output: %w", err)
			}
			if answer.Failed {
				return diag.ExitError(diag.ExitFindings)
			}
			return nil
		},
	}
	c.Flags = func(fs campaign.Flags) {
		fs.StringVarP(&expr, "expr", "e", "", "the expression, as `JSON`, or as people write it: len($.list) == 3")
		fs.BoolVarP(&interactive, "interactive", "i", false, "read expressions from standard input, one a line, and show each value; :help says what else there is")
		fs.StringVar(&subject, "subject", "", "`FILE` that holds the subject, - for standard input")
		fs.BoolVar(&text, "text", false, "the subject is text, not JSON")
		fs.IntVar(&budget.Steps, "max-steps", budget.Steps, "budget of steps")
		fs.IntVar(&budget.Nodes, "max-nodes", budget.Nodes, "budget of nodes")
		fs.IntVar(&budget.LiteralBytes, "max-literal-bytes", budget.LiteralBytes, "budget of bytes of all strings in the expression")
		fs.IntVar(&ms, "timeout-ms", ms, "time limit in milliseconds (0: none)")
	}
	c.Declared = true
	return c
}

// subjectOf reads the subject of an expression.
func subjectOf(d campaign.Desk, file string, text bool) (speclang.Value, error) {
	var data []byte
	var err error
	switch file {
	case "":
		return speclang.NullValue(), nil
	case "-":
		data, err = io.ReadAll(io.LimitReader(d.In(), campaign.MaxDocument+1))
	default:
		data, err = d.Settings().Read(file)
	}
	if err != nil {
		return speclang.Value{}, diag.Refused("--subject %s: %s", file, diag.Reason(err))
	}
	if len(data) > campaign.MaxDocument {
		return speclang.Value{}, diag.Refused("--subject %s: larger than %d MiB", file, campaign.MaxDocument>>20)
	}
	if text {
		return speclang.StringValue(string(data)), nil
	}
	doc, err := jsontree.Parse(data, jsontree.Python())
	if err != nil {
		return speclang.Value{}, diag.WithHint(diag.Refused("--subject %s: %w", file, err), "--text reads the subject as it is")
	}
	return speclang.OfJSON(&doc.Root), nil
}

// Budget bounds the evaluation of one expression.
type Budget struct {
	speclang.Limits
	Time time.Duration // 0: no limit
}

// DefaultBudget returns the budget of a case that names none.
func DefaultBudget() Budget { return Budget{speclang.DefaultLimits(), defaultPredicateTime} }

// Evaluation is the result of an expression.
type Evaluation struct {
	JSON   []byte // {"value": V} or {"error": {"category": C, "message": M}}, plus "steps" and "nodes"
	Failed bool   // the result is an error
}

// Evaluate evaluates a spec-lang expression on a subject, outside any case.
func Evaluate(expr speclang.Form, subject speclang.Value, b Budget) Evaluation {
	p := speclang.Compile(expr, speclang.Options{})
	e := newEvaluator()
	e.c = &Case{limits: b.Limits, timeout: b.Time}
	r := e.eval(p, subject)
	out := fmt.Appendf(nil, `{"value":%s`, r.Value.JSON())
	if r.Err != nil {
		quoted := func(s string) string { return speclang.StringValue(s).JSON() }
		out = fmt.Appendf(nil, `{"error":{"category":%s,"message":%s}`, quoted(string(r.Err.Category)), quoted(r.Err.Message))
		if hint := r.Err.Advice(); hint != "" {
			out = fmt.Appendf(out[:len(out)-1], `,"hint":%s}`, quoted(hint))
		}
	}
	return Evaluation{JSON: fmt.Appendf(out, `,"steps":%d,"nodes":%d}`, r.Steps, p.Nodes), Failed: r.Err != nil}
}
