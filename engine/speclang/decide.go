package speclang

// Decision says why an expression is not true: the part that decides, and the
// values of its operands.
type Decision struct {
	Part     string // as compact JSON
	Symbol   string
	Operands []Operand
}

// Operand is an operand of a decisive part.
type Operand struct {
	Form    string // as compact JSON
	Literal bool   // it is a literal value
	Value   Value
}

// Decide finds the part that makes the program's value false for a subject. It
// evaluates parts on their own, each within the limits, so it only inspects
// parts without variables of their own. ok is false if there is nothing to
// report: the value is true or missing, or no such part decides.
func (p *Program) Decide(subject Value, l Limits, h Host) (Decision, bool) {
	eval := func(f *Form) (Value, bool) {
		r := Compile(*f, p.options).Eval(subject, l, h)
		return r.Value, r.Err == nil
	}
	f := &p.form
	for f.Kind == Call && len(f.Items) > 1 {
		symbol, _ := f.Items[0].Value.Str()
		operands := f.Items[1:]
		next := (*Form)(nil)
		switch {
		case symbol == "and":
			for i := range operands {
				v, ok := eval(&operands[i])
				if !ok {
					return Decision{}, false
				}
				if !v.Truthy() {
					next = &operands[i]
					break
				}
			}
		case symbol == "or" && len(operands) == 1:
			next = &operands[0]
		case symbol == "if" && len(operands) == 3:
			v, ok := eval(&operands[0])
			if !ok {
				return Decision{}, false
			}
			if next = &operands[2]; v.Truthy() {
				next = &operands[1]
			}
		default:
			return decision(f, symbol, operands, eval)
		}
		if next == nil {
			return Decision{}, false
		}
		f = next
	}
	return Decision{}, false
}

func decision(f *Form, symbol string, operands []Form, eval func(*Form) (Value, bool)) (Decision, bool) {
	switch symbol {
	case "let", "fn", "call", "var":
		return Decision{}, false
	}
	if v, ok := eval(f); !ok || v.Truthy() {
		return Decision{}, false
	}
	d := Decision{Part: f.String(), Symbol: symbol}
	if a, b, ok := less(f); ok {
		operands = []Form{a, b}
	} else if symbol == "not" && len(operands) == 1 {
		if a, b, ok := less(&operands[0]); ok {
			operands = []Form{a, b}
		}
	}
	for i := range operands {
		v, ok := eval(&operands[i])
		if !ok {
			return Decision{}, false
		}
		d.Operands = append(d.Operands, Operand{Form: operands[i].String(), Literal: operands[i].Kind == Scalar, Value: v})
	}
	return d, true
}

// less returns a and b of a < b, as [Infix] compiles it.
func less(f *Form) (a, b Form, ok bool) {
	if symbol(f) != "regex_match" || len(f.Items) != 3 || symbol(&f.Items[1]) != "sub" || len(f.Items[1].Items) != 3 {
		return a, b, false
	}
	pattern, _ := f.Items[2].Value.Str()
	return f.Items[1].Items[1], f.Items[1].Items[2], Orders(pattern)
}

// symbol returns the function that a form calls.
func symbol(f *Form) string {
	if f.Kind != Call || len(f.Items) == 0 {
		return ""
	}
	s, _ := f.Items[0].Value.Str()
	return s
}
