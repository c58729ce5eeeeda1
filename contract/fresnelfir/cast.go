package fresnelfir

import (
	"slices"

	"github.com/thresh-dev/thresh/contract/fresnelfir/ir"
	"github.com/thresh-dev/thresh/contract/fresnelfir/model"
	"github.com/thresh-dev/thresh/engine/choice"
	"github.com/thresh-dev/thresh/engine/seq"
)

// Instances that the harness creates itself: actors, and instances that generators ask for.

// instance creates an instance and sets all of its fields. links are the domains from which some
// fields are drawn. Fields that actions change begin with their default or else the simplest value,
// because the module knows no other. The remaining fields are drawn.
func (t *traversal) instance(entity int, links []int) int32 {
	t.linked = slices.DeleteFunc(append(t.linked[:0], links...), func(d int) bool { return d < 0 })
	alike := t.chooseAlike(links)
	if len(t.linked) > 0 {
		like := t.likely()
		if alike && t.wanted == nil {
			t.same = append(t.same[:0], t.in.row...)
			like = t.same
		}
		t.in.draw(&t.src, t.m, t.linked, like)
		t.seen.input(t.in.row)
	}
	if len(t.drew) < len(links) {
		t.drew = make([]uint64, len(links))
	}
	i := t.m.Create(entity)
	t.versions[entity]++
	for k, f := range t.p.doc.Entities[entity].Fields {
		switch {
		case len(links) > 0 && links[k] >= 0:
			t.m.Set(i, k, t.m.Input(links[k]))
		case t.p.moves[entity][k]:
			if t.m.Get(i, k).Kind == model.Unset {
				t.m.Set(i, k, t.fieldValue(i, k, f, 0))
			}
		default:
			n, v := fieldValues(f), uint64(0)
			t.setTopic(topicPlain, entity<<16|k<<8|2)
			switch {
			case alike:
				v = t.src.Prefer(t.drew[k], n)
			case len(f.Texts) > 0:
				v = t.src.Skewed(n) // the plain values, which come first, are as likely as all variants together
			default:
				v = t.src.Draw(n)
			}
			if len(links) > 0 {
				t.drew[k] = v
			}
			t.m.Set(i, k, t.fieldValue(i, k, f, v))
		}
	}
	if t.trace != nil {
		t.trace.noteCreated(t.m, i)
	}
	return i
}

// chooseAlike decides whether an actor is to be like the one before it. Otherwise, two actors with
// the same rare rights would be too rare.
func (t *traversal) chooseAlike(links []int) bool {
	return len(links) > 0 && len(t.born) > 1 && choice.Key(t.row, 5)&1 == 0 &&
		!slices.ContainsFunc(t.linked, func(d int) bool { return t.in.row[d] < 0 })
}

func (p *plan) compileMoves() {
	set := map[[2]string]bool{}
	for _, e := range p.doc.Effects {
		for _, s := range e.Sets {
			for _, k := range p.targets(s.Var, s.Field) {
				set[k] = true
			}
		}
	}
	for _, e := range p.doc.Entities {
		p.makes = append(p.makes, slices.ContainsFunc(p.doc.Effects, func(x *ir.Effect) bool { return x.Creates != nil && x.Creates.Entity == e.Name }))
		moves := seq.Map(e.Fields, func(f *ir.Field) bool { return set[[2]string{e.Name, f.Name}] })
		p.moves = append(p.moves, moves)
	}
}

// likely returns a row of the covering array or, half of the time, nil: rows alone would never give
// the same values twice in a row.
func (t *traversal) likely() []int {
	if t.wanted != nil {
		return t.wanted.row
	}
	if t.in.unlikely {
		return nil
	}
	rows := t.p.space.rows
	t.row = choice.Key(t.row)
	if len(rows) == 0 || t.row&1 == 1 {
		return nil
	}
	return rows[t.row>>1%uint64(len(rows))]
}

// fieldValues returns how many values the harness may give a field of an instance. For wide
// integers these are 0, or the value nearest to it, and the ends of the range.
func fieldValues(f *ir.Field) uint64 {
	switch f.Type {
	case ir.Bool:
		return 2
	case ir.Enum:
		return uint64(len(f.Values))
	case ir.Int:
		if low, high, small := smallRange(f); small {
			return uint64(high-low) + 1
		}
		return 3
	case ir.String:
		return max(uint64(len(f.Texts)), 1)
	}
	return 1
}

func smallRange(f *ir.Field) (low, high int64, small bool) {
	if f.Min == nil || f.Max == nil {
		return 0, 0, false
	}
	return *f.Min, *f.Max, uint64(*f.Max)-uint64(*f.Min) < maxValues
}

// fieldValue returns value v of those that a field of instance i may get.
func (t *traversal) fieldValue(i int32, field int, f *ir.Field, v uint64) model.Value {
	switch f.Type {
	case ir.Bool:
		if v == 1 {
			return model.True
		}
		return model.False
	case ir.Enum:
		x, _ := t.p.program.Symbol(f.Values[v])
		return x
	case ir.Int:
		if low, high, small := smallRange(f); small {
			return model.Number(ir.Integer(low, high, v))
		}
		zero := int64(0)
		if f.Min != nil {
			zero = max(zero, *f.Min)
		}
		if f.Max != nil {
			zero = min(zero, *f.Max)
		}
		switch {
		case v == 1 && f.Min != nil:
			return model.Number(*f.Min)
		case v == 2 && f.Max != nil:
			return model.Number(*f.Max)
		}
		return model.Number(zero)
	case ir.Ref:
		if e := t.p.program.Entity(f.Entity); len(t.m.Live(e)) > 0 {
			return model.Identity(t.m.Live(e)[0])
		}
	}
	if x := t.m.Get(i, field); x.Kind != model.Unset {
		return x // the id
	}
	text := ""
	if len(f.Texts) > 0 {
		text = f.Texts[v]
	}
	x, _ := t.p.program.Symbol(text)
	return x
}
