package speclang

import "slices"

// Asks reports whether the program looks at its subject or at the world. One
// that does not says the same of everything.
func (p *Program) Asks() bool { return p.form.asks() }

func (f *Form) asks() bool {
	if f.Kind != Call || len(f.Items) == 0 {
		return false
	}
	symbol, _ := f.Items[0].Value.Str()
	i := slices.IndexFunc(builtins[:], func(b builtin) bool { return b.symbol == symbol })
	return symbol == "subject" || symbol == "path_exists" || i >= 0 && builtins[i].subject && len(f.Items) == builtins[i].operands ||
		slices.ContainsFunc(f.Items, func(x Form) bool { return x.asks() })
}
