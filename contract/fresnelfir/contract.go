package fresnelfir

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/fresnelfir/ir"
	"github.com/thresh-dev/thresh/contract/fresnelfir/lang"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/doctree"
	"github.com/thresh-dev/thresh/port/dut"
	"github.com/thresh-dev/thresh/port/sut"
)

// Contract implements [campaign.Contract]. It runs modules through the opener it is given.
type Contract struct {
	open    dut.Opener
	systems sut.Opener // nil: systems cannot be explored
	sources sources
}

// New returns the contract FresnelFir IR.
func New(open dut.Opener) *Contract { return &Contract{open: open} }

// Name implements [campaign.Contract].
func (*Contract) Name() string { return "fresnelfir" }

// Summary implements [campaign.Contract].
func (*Contract) Summary() string {
	return "compare a system with its model, call by call (FresnelFir IR)"
}

// Detect implements [campaign.Contract]. It recognizes a JSON object with most of the format's ten
// sections, or with three sections that hardly any other format has, even if the rest cannot be
// read.
func (*Contract) Detect(s campaign.Spec) bool {
	if written(s.Path) {
		return true
	}
	text := bytes.TrimLeft(bytes.TrimPrefix(s.Data, []byte("\ufeff")), " \t\r\n")
	if !bytes.HasPrefix(text, []byte("{")) {
		return false
	}
	found, rare := 0, 0
	for _, key := range ir.Sections() {
		if !bytes.Contains(text, []byte(`"`+key+`"`)) {
			continue
		}
		found++
		switch key {
		case "entities", "refinements", "protocols", "effects", "generators", "bindings":
			rare++
		}
	}
	return found >= 7 || rare >= 3
}

// Names of the options.
const (
	optBudget  = "budget"
	optCapsule = "capsule"
	optModule  = "module"
	optWrites  = "writes"
)

// Options implements [campaign.Contract].
func (*Contract) Options() []campaign.Option {
	return []campaign.Option{
		{Name: optModule, Path: true, NoPath: "none", Usage: "the WebAssembly module to explore with the model, in place of bindings.entry; `FILE` or none for the model alone"},
		{Name: optSystem, Path: true, Usage: "test the system in this `FILE` instead of the one in the document"},
		{Name: optBudget, Usage: "explore `N` traversals instead of the number by the format's rule, which is at least 10000"},
		{Name: optCapsule, Path: true, Usage: "run only the traversal of the capsule in `FILE`, in this document"},
		{Name: optWrites, Bool: true, Usage: "let check try guesses on a system that runs elsewhere, with the calls of 200 traversals"},
	}
}

var (
	//go:embed starter/model.json
	starter []byte
	//go:embed starter/ticket.wasm
	starterModule []byte // written by package tools/modules/ticket
)

// Starter implements [campaign.Contract] with a model, and a module that has a bug.
func (*Contract) Starter(string) []campaign.File {
	return []campaign.File{{Name: "model.json", Data: bytes.Clone(starter)}, {Name: "ticket.wasm", Data: bytes.Clone(starterModule)}}
}

// Compile implements [campaign.Contract].
func (k *Contract) Compile(_ context.Context, doc campaign.Spec, set campaign.Settings) (_ []campaign.Any, list diag.List) {
	defer func() { list = sourced(doc.Path, list) }()
	d, src, data, list := decode(&k.sources, doc.Path, doc.Data)
	if d != nil {
		list = append(list, ir.Check(d, src)...)
		list.Sort()
	}
	if d != nil && len(d.Protocols)+len(d.Generators) == 0 {
		list = append(list, src.Report(diag.Error, ir.At("$"), "nothing-to-explore", "must have a protocol or a generator: there is nothing to explore", ""))
	}
	strict := set.Strict && !set.Stored
	if strict {
		list.Strict()
	}
	if list.HasErrors() {
		return nil, list
	}
	vary(d)
	system, systemPath, found := k.systemOf(doc, d, src, set)
	if list = append(list, found...); list.HasErrors() {
		return nil, list
	}
	if set.Check {
		list = append(list, ir.Notes(d, src)...)
	}
	c := &Campaign{path: doc.Path, data: data, plan: newPlan(d), src: src, seed: d.Inputs.Seed, budget: max(Budget(d), leastTraversals), system: system}
	if written(doc.Path) {
		c.places = sync.OnceValue(func() map[string]diag.Pos { return src.Places() })
	}
	if system != nil {
		c.budget = max(Budget(d), leastOfSystems)
		c.touch = set.Get(optWrites, "") == "true"
	}
	if n := d.Exploration.Budget; n > 0 {
		c.budget = n
	}
	for _, f := range c.plan.space.faults {
		level := diag.Error
		if f.doubt && !strict {
			level = diag.Warning
		}
		list = append(list, src.Report(level, f.at, f.code, f.message, ""))
	}
	if set.Check {
		list = append(list, c.plan.linked(src)...)
	}
	list.Sort()
	if set.Seed != nil {
		c.seed = uint64(*set.Seed)
	}
	if text := set.Get(optBudget, ""); text != "" {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < 1 {
			list = append(list, diag.Diagnostic{Code: "fresnelfir.option", Pos: diag.Pos{File: doc.Path}, Message: fmt.Sprintf("--%s must be a number of traversals above 0, got %q", optBudget, text)})
		}
		c.budget = n
	}
	if list.HasErrors() {
		return nil, list
	}
	var tape []byte // from a file other than the document
	if path := set.Get(optCapsule, ""); path != "" {
		x, found := capsuleOf(path, doc, set)
		if list = append(list, found...); list.HasErrors() {
			return nil, list
		}
		d.Capsule, tape = x, x.Tape
	}
	if d.Capsule != nil {
		c.budget = 1
	}
	var code []byte
	path, why := systemPath, ""
	if system == nil {
		code, path, why, found = k.moduleOf(doc, d, set)
		if list = append(list, found...); list.HasErrors() {
			return nil, list
		}
	}
	c.modulePath = path
	if code != nil || system != nil {
		for i := range list {
			if list[i].Code == "fresnelfir."+ir.CodeArgument {
				list[i].Level = diag.Error
			}
		}
		if list.HasErrors() {
			return nil, list
		}
		c.module = newModule(c.plan, code, k.open, c.seed)
		if system != nil {
			c.parallel = d.Exploration.Mode == ir.Parallel
			for i, b := range c.module.places {
				c.module.plan.Bindings[i].At = src.Pos(b.Place.Within(b.key).Pos).String()
			}
			c.module.open = devices(k.systems, system, c.module.bound, c.parallel)
			c.module.forSystem()
			code = []byte(system.Digest)
		} else if found := c.module.inspect(c.plan, src, d.Bindings.Place.Within("entry")); len(found) > 0 {
			return nil, append(list, found...)
		}
	}
	c.unjudged = code == nil && system == nil && c.holdsAnyway()
	if c.unjudged && !slices.ContainsFunc(list, func(d diag.Diagnostic) bool { return d.Code == "fresnelfir.vacuous" }) {
		list = append(list, src.Report(diag.Warning, ir.At("$.properties"), "vacuous",
			"the model is explored without a system and has nothing that could fail: no property, no postcondition and no effect that could exceed a field's bounds",
			"write properties, or name the module"))
		if strict {
			list[len(list)-1].Level = diag.Error
		}
	}
	if list = append(list, c.apart(src)...); list.HasErrors() {
		return nil, list
	}
	c.alone = why
	c.enclosed = code != nil && why == enclosed
	c.id = campaign.Identity{Contract: k.Name(), Name: nameOf(doc.Path)}
	c.digest = sync.OnceValue(func() string { return withTexts(digest(data(), code, tape, c.seed, uint64(c.budget)), d) })
	return []campaign.Any{campaign.Erase[*state](c)}, list
}

// enclosed says that the module is in the document's capsule.
const enclosed = "it is inside the capsule"

// maxModule is the largest size of a module, in bytes.
const maxModule = 64 << 20

// holdsAnyway reports whether a model explored alone cannot fail: its answers, refusals and
// observers are compared only with a module.
func (c *Campaign) holdsAnyway() bool {
	d := c.plan.doc
	return len(d.Properties) == 0 && !c.plan.exceeds && !c.plan.program.Bounded() &&
		!slices.ContainsFunc(d.Generators, func(g *ir.Generator) bool { return g.Postcondition != nil })
}

// moduleOf reads the module: the one named by --module, else the document's entry, below the
// document's folder. path is where it looks. Without a module the model is explored alone, for the
// reason why.
func (k *Contract) moduleOf(doc campaign.Spec, d *ir.Document, set campaign.Settings) (code []byte, path, why string, list diag.List) {
	fail := func(code, format string, args ...any) ([]byte, string, string, diag.List) {
		return nil, "", "", diag.List{{Code: "fresnelfir." + code, Pos: diag.Pos{File: doc.Path}, Path: "$.bindings.entry", Message: fmt.Sprintf(format, args...)}}
	}
	asked := set.Get(optModule, "")
	path = asked
	switch {
	case asked == "none":
		return nil, "", "the run uses no module", nil
	case asked != "":
	case k.open == nil || set.Read == nil:
		return nil, "", "this program cannot run modules", nil
	case d.Bindings.Entry == "":
		return nil, "", "the document names no module", nil
	case capsuleModule(d) != nil && !filepath.IsLocal(d.Bindings.Entry):
		return capsuleModule(d), d.Bindings.Entry, enclosed, nil
	case !filepath.IsLocal(d.Bindings.Entry):
		return fail("entry", "must be a path below the document's folder, got %q; name a module elsewhere with --%s", d.Bindings.Entry, optModule)
	default:
		path = filepath.Join(filepath.Dir(doc.Path), d.Bindings.Entry)
	}
	b, err := set.Read(path)
	switch {
	case err != nil && errors.Is(err, fs.ErrNotExist) && asked == "" && capsuleModule(d) != nil:
		return capsuleModule(d), path, enclosed, nil
	case err != nil && (asked != "" || !errors.Is(err, fs.ErrNotExist)):
		return fail("module-unread", "the module %s cannot be read: %v", path, err)
	case err != nil:
		return nil, "", "there is no module at " + path, nil
	case len(b) > maxModule:
		return fail("module-size", "the module %s has %d bytes; at most %d are allowed", path, len(b), maxModule)
	}
	return b, path, "", nil
}

// nameOf returns a campaign's name: the document's file name without its extension, because
// documents have no name of their own.
func nameOf(path string) string {
	base := filepath.Base(path)
	if name, ok := strings.CutSuffix(base, lang.Suffix); ok {
		return name
	}
	return strings.TrimSuffix(base, filepath.Ext(base))
}

// exploration is the version of the generation of cases. It changes when the same seed gives other
// cases.
const exploration = "fresnelfir exploration 3"

func digest(doc, code, tape []byte, numbers ...uint64) string {
	h := sha256.New()
	h.Write([]byte(exploration))
	for _, n := range numbers {
		var b [8]byte
		binary.LittleEndian.PutUint64(b[:], n)
		h.Write(b[:])
	}
	sum := sha256.Sum256(doc)
	h.Write(sum[:])
	h.Write(code)
	h.Write(tape)
	return hex.EncodeToString(h.Sum(nil))
}

// leastTraversals is how many traversals a campaign makes if the format's rule, which gives a
// minimum, asks for fewer. They are fast, and a few hundred are too few for faults that need
// several actions in a row.
const leastTraversals = 10000

// Limits of the budget's rule.
const (
	leastBudget = 100
	mostBudget  = 1_000_000
	mostInputs  = 1000
)

// Budget returns the minimum number of traversals (iterations) of a document: the product of its
// numbers of entities, effects, protocols, inputs (1000 at most) and coverage targets. Each factor
// except the first is at least 1. The result is at least 100 and at most a million, which is the
// limit of the format's engine.
func Budget(d *ir.Document) int64 {
	inputs := uint64(1)
	for _, x := range d.Inputs.Domains {
		n := min(max(x.Size(), 1), mostInputs)
		inputs = min(inputs*n, mostInputs)
	}
	total := int64(1)
	for _, n := range []int{len(d.Entities), max(len(d.Effects), 1), max(len(d.Protocols), 1), int(inputs), max(len(d.Inputs.Targets), 1)} {
		total = min(total*int64(n), mostBudget)
	}
	return max(total, leastBudget)
}

var (
	_ campaign.Contract = (*Contract)(nil)
	_ campaign.Chooser  = (*Contract)(nil)
)

// Formats implements [campaign.Formatted].
func (*Contract) Formats() []campaign.Format {
	return []campaign.Format{{
		Name: "fresnelfir", Summary: "a FresnelFir IR model (JSON)",
		Schema: func() []byte { return doctree.Schema("fresnelfir.ir", ir.Format()) },
		Keys:   func() string { return doctree.Tables(ir.Format()) },
		Example: func() campaign.File {
			return campaign.File{Name: "example" + lang.Suffix, Data: bytes.Clone(lang.Example)}
		},
	}}
}
