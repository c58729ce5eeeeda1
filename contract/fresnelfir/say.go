package fresnelfir

import (
	"fmt"
	"strings"

	"github.com/thresh-dev/thresh/contract/fresnelfir/ir"
	"github.com/thresh-dev/thresh/engine/seq"
)

// join lists words: "a, b and c".
func join(list []string, last string) string {
	if len(list) < 2 {
		return strings.Join(list, "")
	}
	return strings.Join(list[:len(list)-1], ", ") + " " + last + " " + list[len(list)-1]
}

var verbs = [...]string{
	ir.Eq: "is", ir.Neq: "is not", ir.Lt: "is less than", ir.Lte: "is at most", ir.Gt: "is more than", ir.Gte: "is at least",
	ir.Add: "plus", ir.Sub: "minus", ir.Mul: "times", ir.Div: "divided by", ir.Mod: "modulo",
}

// describeExpr describes an expression in words. Ambiguous parts are in parentheses.
func describeExpr(e *ir.Expr) string {
	if e == nil {
		return "nothing"
	}
	switch e.Op {
	case ir.LitBool:
		return map[bool]string{true: "true", false: "false"}[e.Bool]
	case ir.LitInt:
		return fmt.Sprint(e.Int)
	case ir.LitString:
		return fmt.Sprintf("%q", e.Text)
	case ir.FieldOf:
		if e.Var == "self" {
			return "its " + e.Text
		}
		if e.Input {
			return "the input " + e.Text
		}
		return e.Var + "'s " + e.Text
	case ir.And, ir.Or:
		return junction(e)
	case ir.Not:
		if e.Args[0].Op == ir.FieldOf {
			return describeExpr(e.Args[0]) + " does not hold"
		}
		return "it is not so that " + operand(e.Args[0])
	case ir.Implies:
		return "if " + operand(e.Args[0]) + ", then " + operand(e.Args[1])
	case ir.Forall:
		return fmt.Sprintf("for every %s %s: %s", e.Over, e.Var, condition(e.Args[0]))
	case ir.Exists:
		if always(e.Args[0]) {
			return "there is " + a(e.Over) + " " + e.Over
		}
		return fmt.Sprintf("there is %s %s %s such that %s", a(e.Over), e.Over, e.Var, condition(e.Args[0]))
	case ir.Derived:
		return fmt.Sprintf("%s(%s)", e.Text, strings.Join(e.Names, ", "))
	case ir.Observer:
		return fmt.Sprintf("the module's %s(%s)", e.Text, strings.Join(e.Names, ", "))
	case ir.Is:
		return refined(e)
	case ir.If:
		return fmt.Sprintf("%s if %s, else %s", part(e.Args[1]), operand(e.Args[0]), part(e.Args[2]))
	case ir.Min, ir.Max:
		return fmt.Sprintf("the %s of %s and %s", map[ir.Op]string{ir.Min: "least", ir.Max: "greatest"}[e.Op], part(e.Args[0]), part(e.Args[1]))
	case ir.Sum:
		return fmt.Sprintf("the sum of %s over every %s %s", part(e.Args[0]), e.Over, e.Var)
	case ir.Count:
		if always(e.Args[0]) {
			return "the number of instances of " + e.Over
		}
		return fmt.Sprintf("the number of instances %s of %s such that %s", e.Var, e.Over, condition(e.Args[0]))
	case ir.Old:
		return part(e.Args[0]) + " before"
	}
	return comparison(e)
}

func always(e *ir.Expr) bool {
	v, constant := ir.Constant(e)
	return constant && v
}

func refined(e *ir.Expr) string {
	who := e.Var
	if who == "self" {
		who = "it"
	}
	with := seq.Map(e.With, func(w ir.Argument) string { return w.Param + " being " + w.Var })
	if len(with) == 0 {
		return who + " is " + e.Text
	}
	return who + " is " + e.Text + ", " + join(with, "and")
}

// comparison describes a comparison. Comparing a condition with true or false becomes "holds" or
// "does not hold".
func comparison(e *ir.Expr) string {
	x, y := e.Args[0], e.Args[1]
	if y.Op == ir.LitBool && (e.Op == ir.Eq || e.Op == ir.Neq) {
		if y.Bool == (e.Op == ir.Eq) {
			return part(x) + " holds"
		}
		return part(x) + " does not hold"
	}
	if (e.Op == ir.Eq || e.Op == ir.Neq) && (truth(x) || truth(y)) {
		link := " exactly if "
		if e.Op == ir.Neq {
			link = " or else "
		}
		return operand(x) + link + operand(y)
	}
	return part(x) + " " + verbs[e.Op] + " " + part(y)
}

// truth reports whether an expression can only be true or false.
func truth(e *ir.Expr) bool { return nested(e) || e.Op == ir.Is }

func junction(e *ir.Expr) string {
	list := seq.Map(e.Args, operand)
	return join(list, e.Op.String())
}

// condition describes an expression that is true or false.
func condition(e *ir.Expr) string {
	if e != nil && e.Op == ir.FieldOf {
		return describeExpr(e) + " holds"
	}
	return describeExpr(e)
}

// operand describes a condition inside another one.
func operand(e *ir.Expr) string {
	if e.Op == ir.FieldOf || e.Op == ir.Not && e.Args[0].Op == ir.FieldOf {
		return condition(e)
	}
	return part(e)
}

// part describes an operand.
func part(e *ir.Expr) string {
	switch e.Op {
	case ir.LitBool, ir.LitInt, ir.LitString, ir.FieldOf, ir.Derived, ir.Observer, ir.Is:
		return describeExpr(e)
	case ir.Eq, ir.Neq, ir.Lt, ir.Lte, ir.Gt, ir.Gte:
		if !nested(e.Args[0]) && !nested(e.Args[1]) {
			return describeExpr(e)
		}
	}
	return "(" + describeExpr(e) + ")"
}

func nested(e *ir.Expr) bool { return e.Op >= ir.Eq && e.Op <= ir.Exists }

// rule describes a temporal rule.
func rule(r *ir.Rule) string {
	switch r.Kind {
	case ir.Before:
		return "before " + trigger(r.Trigger) + ", " + condition(r.Expr)
	case ir.Never:
		return trigger(r.Trigger) + " never happens" + scope(r.Same)
	}
	if r.Then != nil {
		return "after " + trigger(r.Trigger) + ", " + trigger(r.Then.Trigger) + " never happens" + scope(r.Then.Same)
	}
	return "from " + trigger(r.Trigger) + " on, " + condition(r.Expr)
}

func scope(same string) string {
	if same == "" {
		return ""
	}
	return " to the same " + same
}

// trigger describes the actions that a rule is about.
func trigger(t ir.Trigger) string {
	switch {
	case t.Action != "":
		return t.Action
	case t.Tag != "":
		return "any " + t.Tag + " action"
	case t.Writes != "":
		return "any action that writes " + a(t.Writes) + " " + t.Writes
	}
	return "any action that reads " + a(t.Reads) + " " + t.Reads
}
