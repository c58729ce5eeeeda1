package spectest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/doctree"
	"github.com/thresh-dev/thresh/engine/secret"
	"github.com/thresh-dev/thresh/port/sut"
)

// Compile implements [campaign.Contract]. A document becomes one campaign, or none if no case of it
// is selected.
func (k *Contract) Compile(ctx context.Context, spec campaign.Spec, set campaign.Settings) ([]campaign.Any, diag.List) {
	s, list := k.settings(set)
	if list.HasErrors() {
		for i := range list {
			list[i].Pos = diag.Pos{File: spec.Path}
		}
		return nil, list
	}
	doc := readDocument(spec, &k.readers)
	doc.systems.set, doc.systems.with = set, set.Get(optSystem, "")
	doc.split()
	credentials := secret.ScanLong(spec.Data, doc.release).Variables
	s = s.hiding(credentials)
	pages, wrong := doc.pages(s) // pages also reads the setup that the cases use
	c := k.campaign(doc, s)
	list, more := c.chooseAll(ctx)
	if len(c.torn) > 0 {
		if c.keeps != nil {
			k.kept.Add(-*c.keeps)
		}
		doc.join(c.torn)
		c = k.campaign(doc, s)
		list, more = c.chooseAll(ctx)
	}
	c.choosePages(pages)
	list = append(list, wrong...)
	if err := ctx.Err(); err != nil {
		return nil, diag.List{{Code: "spectest.interrupted", Pos: diag.Pos{File: spec.Path}, Message: err.Error()}}
	}
	c.shuffle()
	if c.keeps != nil {
		runtime.AddCleanup(c, func(n *int64) { k.kept.Add(-*n) }, c.keeps)
	}
	if p := doc.systems.list[doc.systems.with]; p != nil && doc.systems.used && p.faults.HasErrors() {
		return nil, p.faults // it concerns the whole run, not a case that names a system
	}
	list.Sort()
	list = slices.CompactFunc(list, func(a, b diag.Diagnostic) bool { return a.String() == b.String() }) // of one system file
	if list.HasErrors() {
		return nil, list
	}
	if more += len(list) - toldWarnings; more > 0 && !s.checking {
		last := list[toldWarnings]
		last.Code, last.Path, last.Hint = "spectest.more", "", "thresh check lists all"
		last.Message = diag.Plural(more, "more warning") + ", not shown"
		list = append(list[:toldWarnings], last)
	}
	if len(c.slots) == 0 {
		return nil, list
	}
	if doc.systems.with != "" && !doc.systems.used {
		list = append(list, diag.Diagnostic{Code: "spectest.option", Level: diag.Warning, Pos: diag.Pos{File: spec.Path}, Path: "--" + optSystem,
			Message: "has no effect: the run has no case of type system.call"})
	}
	c.id = campaign.Identity{Contract: k.Name(), Name: c.name, Digest: digest(spec.Data, set, credentials, doc.systems.all(), s.vars, doc.release)}
	return []campaign.Any{campaign.Erase[*state](c)}, list
}

// campaign returns the campaign of a document, still without cases.
func (k *Contract) campaign(doc *document, s *settings) *Campaign {
	return &Campaign{doc: doc, set: s, contract: k, name: doc.name}
}

// digest covers everything that decides the cases and their verdicts, except credential values.
func digest(data []byte, set campaign.Settings, credentials []string, systems []*sut.Plan, vars variables, release func()) string {
	h := sha256.New()
	fmt.Fprintf(h, "spectest 1\x00%d\x00", len(data))
	for _, piece := range pieces(data, release) {
		h.Write(piece)
	}
	options, _ := json.Marshal(secret.Unvalued(set.Options, optVar, credentials)) // strings alone; keys sorted
	h.Write(options)
	for _, name := range vars.names() {
		if g := vars[name]; g.file && (!g.secret || len(g.text()) < secret.Shortest) {
			fmt.Fprintf(h, "\x00var %s=%s", name, g.text())
		}
	}
	for _, p := range systems {
		fmt.Fprintf(h, "\x00system %s", p.Digest)
	}
	if set.Seed != nil {
		fmt.Fprintf(h, "\x00seed %d", *set.Seed)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// decoded is one case with its diagnostics.
type decoded struct {
	c                *Case
	idAt             doctree.Pos
	faults, warnings diag.List
}

// unreadable reports whether a fault means that the text cannot be parsed.
func unreadable(d diag.Diagnostic) bool {
	return d.Code == "spectest.syntax"
}

// decodeUnit decodes the cases of one unit.
func (d *document) decodeUnit(i int, s *settings) []decoded {
	var list []decoded
	if i >= d.units() { // a case made of console blocks
		return []decoded{{c: d.transcripts[i-d.units()], idAt: d.transcripts[i-d.units()].at}}
	}
	for _, e := range d.unit(i) {
		x := decoded{idAt: doctree.Pos{Line: e.from, Col: 1}}
		if id := e.node.Get("id"); id != nil {
			x.idAt = id.Pos
		}
		e.node = s.vars.fill(e.node)
		x.c, x.faults, x.warnings = decode(d, s, e)
		list = append(list, x)
	}
	return list
}

// toldWarnings is the number of warnings about a document that a run shows.
const toldWarnings = 50

// portionUnits is the number of blocks decoded at a time. Decoded cases of a long document are not
// all kept.
const portionUnits = 64

// decodeUnits decodes units, several in parallel.
func (d *document) decodeUnits(ctx context.Context, s *settings, from, to int) [][]decoded {
	units := make([][]decoded, to-from)
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(units)) {
		wg.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(units) {
					return
				}
				units[i] = d.decodeUnit(from+i, s)
			}
		})
	}
	wg.Wait()
	return units
}

// retained is the number of cases that stay decoded, over all documents. Any other case with its
// own block is decoded again when it runs, so the text of the documents bounds memory, not the
// decoded form.
const retained = 512

// idKey is a hash of an id, to save memory when there are very many.
type idKey [16]byte

func keyOf(id string) idKey {
	sum := sha256.Sum256([]byte(id))
	return idKey(sum[:len(idKey{})])
}

// chooseAll decodes the cases of the document and selects those to run. more is the number of
// warnings beyond the returned ones.
func (c *Campaign) chooseAll(ctx context.Context) (list diag.List, more int) {
	var omitted omissions
	list = append(c.doc.passedOver(&omitted), c.link(ctx)...)
	ids := make(map[idKey]int32)
	for first := 0; first < c.doc.units() && ctx.Err() == nil; first += portionUnits {
		units := c.doc.decodeUnits(ctx, c.set, first, min(first+portionUnits, c.doc.units()))
		list = append(list, c.choose(first, units, ids)...)
		if most := 20 * toldWarnings; len(list) > most && !c.set.checking {
			more += len(list) - most
			list = list[:most]
		}
		list = omitted.firstOf(list)
		c.doc.release()
	}
	list = append(list, c.chainUp()...)
	if omitted.errors+omitted.warnings > 0 {
		list = append(list, omitted.summary(c.doc.path))
	}
	return list, more
}

// omissions counts diagnostics that are not listed, so that memory stays bounded.
type omissions struct{ errors, warnings int }

// firstOf keeps the first errors and the first warnings of a list.
func (o *omissions) firstOf(list diag.List) diag.List {
	if len(list) <= 2*mostFaults {
		return list
	}
	var errors, warnings int
	return slices.DeleteFunc(list, func(x diag.Diagnostic) bool {
		if x.Level == diag.Error {
			if errors++; errors > mostFaults {
				o.errors++
			}
			return errors > mostFaults
		}
		if warnings++; warnings > mostFaults {
			o.warnings++
		}
		return warnings > mostFaults
	})
}

// summary reports the number of omitted diagnostics; it precedes the list.
func (o *omissions) summary(path string) diag.Diagnostic {
	x := diag.Diagnostic{Code: "spectest.more", Level: diag.Warning, Pos: diag.Pos{File: path}}
	x.Message = fmt.Sprintf("%s and %s more are not listed", diag.Plural(o.errors, "error"), diag.Plural(o.warnings, "warning"))
	if o.errors > 0 {
		x.Level = diag.Error
	}
	return x
}

// choose selects the cases to run and returns their diagnostics. A run continues with faulty cases:
// they fail with the reason. A check refuses them, unless they are expected to be faulty.
func (c *Campaign) choose(first int, units [][]decoded, ids map[idKey]int32) diag.List {
	var list diag.List
	for u, cases := range units {
		unit, before := int32(first+u), len(c.slots)
		for i, x := range cases {
			c.written++
			id := keyOf(x.c.ID)
			line, twice := ids[id]
			if twice = twice && x.c.ID != ""; twice {
				c.repeat(slot{unit, int32(i)}, id)
			} else {
				ids[id] = int32(x.idAt.Line)
			}
			if slices.ContainsFunc(x.faults, unreadable) && c.doc.isPart(int(unit)) {
				c.markDependent(c.doc.blockOf(unit))
			}
			ch := c.chained[slot{unit, int32(i)}]
			taken := c.set.matches(x.c)
			if ch != nil {
				ch.note(slot{unit, int32(i)}, x.c, taken)
			} else if taken = taken && c.set.inShard(c.name, c.written); !taken {
				continue
			}
			c.doc.systems.used = c.doc.systems.used || x.c.Type == typeSystem
			list = append(list, x.warnings...)
			if c.set.checking && !x.c.expectsSchema() {
				list = append(list, x.faults...)
			}
			if twice {
				p := c.doc.problem(x.idAt, "duplicate-id", "id", fmt.Sprintf("the id %s is used twice", x.c.ID), fmt.Sprintf("the first is on line %d", line))
				if !c.set.checking {
					p.Level = diag.Warning
				}
				list = append(list, p)
			}
			if x.c.fault == nil {
				list = append(list, c.vacuous(x.c)...)
			}
			if c.set.checking && x.c.fault == nil {
				list = append(list, c.selfMatches(x.c)...)
			}
			if ch == nil {
				c.slots = append(c.slots, slot{unit, int32(i)})
			}
		}
		if len(c.slots) > before && (len(cases) > 1 || c.contract.kept.Load() < retained) {
			if c.held == nil {
				c.held, c.keeps = make(map[int32][]decoded), new(int64)
			}
			c.held[unit] = cases
			*c.keeps += int64(len(cases))
			c.contract.kept.Add(int64(len(cases)))
		}
	}
	return list
}

// repeat numbers a case whose id is used above: it is a finding of its own.
func (c *Campaign) repeat(at slot, id idKey) {
	if c.repeats == nil {
		c.repeats, c.uses = make(map[slot]int), make(map[idKey]int)
	}
	c.uses[id]++
	c.repeats[at] = c.uses[id] + 1
}

// choosePages selects the cases made of transcripts, after all others. A faulty one is refused
// before anything runs, because its commands may have effects that matter.
func (c *Campaign) choosePages(cases []*Case) {
	c.doc.transcripts = cases
	for i, cs := range cases {
		if c.written++; c.set.matches(cs) && c.set.inShard(c.name, c.written) {
			c.slots = append(c.slots, slot{unit: int32(c.doc.units() + i)})
		}
	}
}

// shuffle orders the cases as --shuffle asks.
func (c *Campaign) shuffle() {
	if c.set.shuffle {
		r := rand.New(rand.NewPCG(uint64(c.set.seed), 0x5bec7e57)) // the order of a seed must never change
		r.Shuffle(len(c.slots), func(i, j int) { c.slots[i], c.slots[j] = c.slots[j], c.slots[i] })
	}
}

// expectsSchema reports whether the case expects its own schema fault.
func (c *Case) expectsSchema() bool {
	e := c.expect
	return e != nil && e.Status == "fail" && c.fault != nil && e.Category == c.fault.Category
}

// passedOver warns about blocks that do not run: blocks in a quotation are not part of the document
// itself, others only resemble blocks of cases.
func (d *document) passedOver(omitted *omissions) diag.List {
	var list diag.List
	for _, b := range d.passed {
		list = omitted.firstOf(list)
		at := doctree.Pos{Line: d.lineOf(b.open), Col: 1}
		p := d.problem(at, "quoted-block", "", "a block in a quotation is not run", "")
		if b.resemblesSpecTest() {
			p = d.problem(at, "near-block", "", "the block is not run: its fence lacks one of the words yaml and spec-test", "```yaml spec-test opens a block of cases")
		}
		p.Level = diag.Warning
		if b.later() {
			p = d.problem(at, "later-dialect", "", "the block is of the contract-spec dialect, which data-contracts has used since Spec-Test v1: thresh does not run it",
				"run it with the tools of data-contracts, or write its cases as ```yaml spec-test blocks: id, type, and assert with must, can and cannot")
			if len(d.found) > 0 {
				p.Level = diag.Warning
			}
		}
		list = append(list, p)
	}
	return list
}

// dialect reports whether the document has blocks of the later dialect.
func (d *document) dialect() bool {
	return slices.ContainsFunc(d.passed, block.later)
}

// partition separates blocks that do not run from the others.
func partition(list []block) (found, passed []block) {
	found = list[:0]
	for _, b := range list {
		if b.quoted || b.resemblesSpecTest() {
			passed = append(passed, b)
		} else {
			found = append(found, b)
		}
	}
	return found, passed
}
