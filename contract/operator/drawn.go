package operator

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/doctree"
	"github.com/thresh-dev/thresh/engine/mutator"
	"github.com/thresh-dev/thresh/engine/seq"
	"github.com/thresh-dev/thresh/engine/textop"
)

// candidates warns about seeds without an operator and operators without a seed.
func (c *compiler) candidates(camp *Campaign) {
	units := camp.units
	if camp.picked != nil {
		units = nil
		for _, p := range camp.picked {
			units = append(units, camp.units[p.unit])
		}
	}
	count := make(map[kind]int)
	var order []kind
	for _, u := range units {
		k := kind{u.seed.Bucket, u.seed.Surface}
		if count[k] == 0 {
			order = append(order, k)
		}
		count[k]++
	}
	if camp.spec.Chain != nil {
		c.chained(camp, order)
		return
	}
	served := 0
	for _, k := range order {
		if camp.base.Candidates(k.bucket, k.surface) > 0 {
			served++
			continue
		}
		c.report(diag.Warning, "no-operator", "", "no operator serves bucket %s on surface %s: %d of %d seeds will be skipped", orAny(string(k.bucket)), orAny(string(k.surface)), count[k], len(units))
	}
	if camp.picked == nil { // a document that names its children is about those only
		c.idle(camp, units, order)
	}
	if served == 0 {
		c.report(diag.Error, "no-operator", "", "no operator serves any seed: nothing would be mutated")
	}
	c.refuseZeroWeights(camp, order)
}

// chained checks that the operators of a chain apply to the seeds.
func (c *compiler) chained(camp *Campaign, kinds []kind) {
	registry := camp.base.Registry()
	for i, step := range camp.spec.Chain {
		e := &registry.Entries()[registry.Find(step.Op)] // names found it
		fits := slices.ContainsFunc(kinds, func(k kind) bool {
			f := mutator.Filter{Bucket: k.bucket, Surface: k.surface, Controls: camp.spec.Constraints.KeepControls}
			return f.Allows(e.Meta)
		})
		if !fits {
			c.report(diag.Warning, "idle", fmt.Sprintf("chain[%d]", i), "%s always skips: %s", step.Op, whyIdle(e.Meta, &camp.spec, kinds))
		}
	}
}

// idle warns about requested operators, plug-ins or named ones, that no seed allows.
func (c *compiler) idle(camp *Campaign, units []unit, kinds []kind) {
	spec := &camp.spec
	seen := seq.SetOf(units, func(u unit) met { return meeting(u.seed, spec.Constraints.KeepControls) })
	for _, e := range idleOf(camp.base, seen) {
		pos, path := e.Source, ""
		if pos.File == "" {
			pos, path = diag.Pos{File: c.doc.Path, Line: 1, Col: 1}, doctree.ItemPath("select.include", slices.Index(spec.Include, e.Meta.ID))
		}
		c.list = append(c.list, diag.Diagnostic{
			Code: "operator.idle", Level: diag.Warning, Pos: pos, Path: path,
			Message: fmt.Sprintf("%s is never drawn: %s", e.Meta.ID, whyIdle(e.Meta, spec, kinds)),
		})
	}
}

// met holds the properties of a seed that determine its operators.
type met struct {
	kind
	controls bool
}

func meeting(seed *mutator.Seed, controls bool) met {
	if seed.Constraints != nil {
		controls = seed.Constraints.KeepControls
	}
	return met{kind{seed.Bucket, seed.Surface}, controls}
}

// idleOf returns the requested operators that none of these seeds allows.
func idleOf(m *mutator.Mutator, seeds map[met]bool) (list []*mutator.Entry) {
	allowed := m.Filter()
	entries := m.Registry().Entries()
	for i := range entries {
		e := &entries[i]
		if !allowed.Named(e.Meta.ID) || e.Kind == mutator.Builtin && !slices.Contains(allowed.Include, e.Meta.ID) {
			continue
		}
		drawn := false
		for s := range seeds {
			f := mutator.Filter{Bucket: s.bucket, Surface: s.surface, RiskMax: allowed.RiskMax, Controls: s.controls}
			drawn = drawn || f.Allows(e.Meta)
		}
		if !drawn {
			list = append(list, e)
		}
	}
	return list
}

// Idle warns about the requested operators that no seed of the stream allowed; file stands for the
// seeds.
func (s *Stream) Idle(m *mutator.Mutator, file string) diag.List {
	spec := Spec{RiskMax: m.Filter().RiskMax}
	var kinds []kind
	for x := range s.met {
		if !slices.Contains(kinds, x.kind) {
			kinds = append(kinds, x.kind)
		}
		spec.Constraints.KeepControls = spec.Constraints.KeepControls || x.controls
	}
	if len(kinds) == 0 {
		return nil
	}
	slices.SortFunc(kinds, func(a, b kind) int {
		return cmp.Or(cmp.Compare(a.bucket, b.bucket), cmp.Compare(a.surface, b.surface))
	})
	var list diag.List
	for _, e := range idleOf(m, s.met) {
		pos := e.Source
		if pos.File == "" {
			pos = diag.Pos{File: file}
		}
		list = append(list, diag.Diagnostic{
			Code: "operator.idle", Level: diag.Warning, Pos: pos,
			Message: fmt.Sprintf("%s was never drawn: %s", e.Meta.ID, whyIdle(e.Meta, &spec, kinds)),
		})
	}
	return list
}

// whyIdle explains why no seed allows an operator.
func whyIdle(m *textop.Meta, spec *Spec, kinds []kind) string {
	switch {
	case spec.RiskMax != "" && m.Risk.Rank() > spec.RiskMax.Rank():
		return fmt.Sprintf("its risk is %s, and the most allowed is %s", m.Risk, spec.RiskMax)
	case m.Controls && !spec.Constraints.KeepControls:
		return "its children contain control characters, which the constraints remove (keep_controls)"
	}
	var buckets, surfaces []string
	serves, accepts := false, false
	for _, k := range kinds {
		serves = serves || k.bucket == "" || m.Serves(k.bucket)
		accepts = accepts || k.surface == "" || m.Accepts(k.surface)
		if b := orAny(string(k.bucket)); !slices.Contains(buckets, b) {
			buckets = append(buckets, b)
		}
		if s := orAny(string(k.surface)); !slices.Contains(surfaces, s) {
			surfaces = append(surfaces, s)
		}
	}
	var why []string
	if !serves || accepts {
		why = append(why, fmt.Sprintf("its bucket_tags are %s, and those of the seeds %s", strings.Join(m.BucketTags, ", "), strings.Join(buckets, ", ")))
	}
	if !accepts || serves {
		why = append(why, fmt.Sprintf("its surface_compat is %s, and that of the seeds %s", strings.Join(m.SurfaceTags, ", "), strings.Join(surfaces, ", ")))
	}
	return strings.Join(why, "; ")
}

// refuseZeroWeights rejects weights that leave some seeds without an operator.
func (c *compiler) refuseZeroWeights(camp *Campaign, kinds []kind) {
	spec := &camp.spec
	if spec.Policy != mutator.Weighted {
		return
	}
	registry := camp.base.Registry()
	for _, k := range kinds {
		f := camp.base.Filter()
		f.Bucket, f.Surface, f.Controls = k.bucket, k.surface, spec.Constraints.KeepControls
		list := registry.Select(f)
		weighs := func(op int) bool { return spec.Weights.Of(k.bucket, registry.Entries()[op].Meta.ID) > 0 }
		if len(list) > 0 && !slices.ContainsFunc(list, weighs) {
			c.report(diag.Error, "weights", "weights", "every operator for bucket %s on surface %s has the weight 0: none could be drawn", orAny(string(k.bucket)), orAny(string(k.surface)))
		}
	}
	for b := range spec.Weights {
		if b != "" && !slices.ContainsFunc(kinds, func(k kind) bool { return k.bucket == b }) {
			c.list = append(c.list, diag.Diagnostic{
				Code: "operator.weight-idle", Level: diag.Warning, Pos: diag.Pos{File: c.doc.Path, Line: 1, Col: 1}, Path: "weights." + string(b),
				Message: "has no effect: no seed is in this bucket",
			})
		}
	}
}

func orAny(s string) string {
	if s == "" {
		return "(any)"
	}
	return s
}
