package ir_test

import (
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/contract/fresnelfir/ir"
)

// What a condition is that depends on nothing.
func TestConstant(t *testing.T) {
	yes, no := &ir.Expr{Op: ir.LitBool, Bool: true}, &ir.Expr{Op: ir.LitBool}
	field := &ir.Expr{Op: ir.FieldOf, Var: "v", Text: "f"}
	number := func(n int64) *ir.Expr { return &ir.Expr{Op: ir.LitInt, Int: n} }
	text := func(s string) *ir.Expr { return &ir.Expr{Op: ir.LitString, Text: s} }
	of := func(op ir.Op, args ...*ir.Expr) *ir.Expr { return &ir.Expr{Op: op, Args: args} }
	const unknown = "unknown"
	for i, c := range []struct {
		e    *ir.Expr
		want string
	}{
		{nil, "true"}, {yes, "true"}, {no, "false"}, {field, unknown},
		{of(ir.Not, yes), "false"}, {of(ir.Not, no), "true"}, {of(ir.Not, field), unknown},
		{of(ir.And, yes, yes), "true"}, {of(ir.And, field, no), "false"}, {of(ir.And, yes, field), unknown},
		{of(ir.Or, no, no), "false"}, {of(ir.Or, field, yes), "true"}, {of(ir.Or, field, no), unknown},
		{of(ir.Implies, no, field), "true"}, {of(ir.Implies, yes, no), "false"}, {of(ir.Implies, yes, yes), "true"}, {of(ir.Implies, field, yes), "true"},
		{of(ir.Implies, field, no), unknown}, {of(ir.Implies, yes, field), unknown},
		{of(ir.Eq, text("a"), text("a")), "true"}, {of(ir.Eq, text("a"), text("b")), "false"}, {of(ir.Neq, text("a"), text("b")), "true"}, {of(ir.Neq, yes, yes), "false"},
		{of(ir.Eq, yes, no), "false"}, {of(ir.Eq, number(1), number(1)), "true"}, {of(ir.Eq, number(1), number(2)), "false"}, {of(ir.Eq, number(0), no), "false"},
		{of(ir.Eq, field, number(1)), unknown}, {of(ir.Lt, number(1), field), unknown}, {of(ir.Forall, yes), unknown},
	} {
		v, ok := ir.Constant(c.e)
		got := unknown
		if ok {
			got = map[bool]string{true: "true", false: "false"}[v]
		}
		if got != c.want {
			t.Errorf("%d: %s, want %s", i, got, c.want)
		}
	}
	for op, want := range map[ir.Op]string{ir.Lt: "x..", ir.Lte: "xx.", ir.Gt: "..x", ir.Gte: ".xx", ir.Eq: ".x.", ir.Neq: "x.x"} {
		got := ""
		for n := range int64(3) {
			v, _ := ir.Constant(of(op, number(n), number(1)))
			got += map[bool]string{true: "x", false: "."}[v]
		}
		if got != want {
			t.Errorf("%s of 0, 1 and 2 with 1: %s, want %s", op, got, want)
		}
	}
}

// How a document is read where its words do not say it.
func TestNotes(t *testing.T) {
	text := small(map[string]string{
		"entities": `{
  "User": {"fields": {"id": {"type": "string"}, "name": {"type": "string"}}},
  "Order": {"fields": {"id": {"type": "string"}, "paid": {"type": "bool", "default": false}, "count": {"type": "int", "min": 0, "max": 9}}}}`,
		"functions": `{
  "settled": {"classification": "derived", "params": [{"name": "o", "type": "Order"}], "returns": "bool", "body": ["field", "o", "paid"]},
  "is_paid": {"classification": "observer", "params": [{"name": "o", "type": "Order"}], "binding": "is_paid", "returns": "bool"},
  "other": {"classification": "observer", "params": [{"name": "o", "type": "Order"}], "binding": "other", "returns": "bool", "models": "settled"}}`,
		"protocols": `{"main": {"root": {"type": "call", "action": "pay"}}}`,
		"effects":   `{"pay": {"creates": {"entity": "Order", "assign": "order", "defaults": {}}, "sets": []}}`,
		"inputs":    `{"domains": {"order_id": {"type": "bool"}, "order_paid": {"type": "bool"}}, "constraints": [], "coverage": {"targets": [], "seed": 1, "reproducible": true}}`,
		"bindings": `{"runtime": "wasm", "entry": "m.wasm", "actions": {"pay": {"function": "pay", "args": ["order_id", "order_paid", "order_count", "order_id"], "returns": null, "mutates": true,
  "idempotent": false, "reads": [], "writes": ["Order"]}}, "event_hooks": {"mode": "function_intercept", "observe": [], "capture": []}}`,
	})
	doc, src, list := ir.Decode("model.json", []byte(text))
	if list = append(list, ir.Check(doc, src)...); list.HasErrors() {
		t.Fatal(list)
	}
	var got []string
	for _, d := range ir.Notes(doc, src) {
		got = append(got, d.String())
	}
	const want = `model.json:3:3: note: $.entities.User: each actor is a User, which Thresh makes: it is the only entity that can: no action creates it
model.json:3:23: note: $.entities.User.fields.id: a string field called id is the identity of each User: unique, unless an effect sets it
model.json:4:24: note: $.entities.Order.fields.id: a string field called id is the identity of each Order: unique, unless an effect sets it
model.json:8:3: note: $.functions.is_paid: is compared with settled, the only derived function with its parameters and type; "models" names another
model.json:18:100: note: $.bindings.actions.pay.args[0]: is the handle of order, not the input order_id
model.json:18:112: note: $.bindings.actions.pay.args[1]: is the field paid of order, not the input order_paid`
	if s := strings.Join(got, "\n"); s != want {
		t.Errorf("got\n%s", s)
	}
}
