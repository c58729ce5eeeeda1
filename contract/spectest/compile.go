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
	"strings"
	"sync"
	"sync/atomic"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/yamltree"
)

// Compile implements [campaign.Contract]. A document becomes one campaign, or
// none if no case of it is asked for.
func (k *Contract) Compile(ctx context.Context, spec campaign.Spec, set campaign.Settings) ([]campaign.Any, diag.List) {
	s, list := decodeSettings(set, k.getenv)
	s.shared = &k.shared
	if list.HasErrors() {
		for i := range list {
			list[i].Pos = diag.Pos{File: spec.Path}
		}
		return nil, list
	}
	doc := newDocument(spec.Path, spec.Data)
	c := k.campaign(doc, s)
	list = doc.quotes()
	ids := make(map[string]int)
	for first := 0; first < doc.units(); first += portionUnits {
		units := doc.decodeUnits(ctx, s, first, min(first+portionUnits, doc.units()))
		if err := ctx.Err(); err != nil {
			return nil, diag.List{{Code: "spectest.interrupted", Pos: diag.Pos{File: spec.Path}, Message: err.Error()}}
		}
		list = append(list, c.choose(first, units, ids)...)
	}
	c.shuffle()
	kept := c.kept
	runtime.AddCleanup(c, func(n int64) { kept.Add(-n) }, c.keeps)
	list.Sort()
	if list.HasErrors() {
		return nil, list
	}
	if more := len(list) - toldWarnings; more > 0 && !s.checking {
		last := list[toldWarnings]
		last.Code, last.Path, last.Hint = "spectest.more", "", "thresh check tells all"
		last.Message = fmt.Sprintf("%d warnings from here on are not shown", more)
		list = append(list[:toldWarnings], last)
	}
	if len(c.slots) == 0 {
		return nil, list
	}
	c.id = campaign.Identity{Contract: k.Name(), Name: c.name, Digest: digest(spec.Data, set)}
	return []campaign.Any{campaign.Erase[*state](c)}, list
}

// campaign is the campaign of a document, without cases.
func (k *Contract) campaign(doc *document, s *settings) *Campaign {
	return &Campaign{
		doc: doc, set: s, targets: k.targets, environ: k.environ, name: doc.name, kept: &k.kept,
		place: sync.OnceValues(func() (*place, error) { return locate(doc.path, s.root) }),
	}
}

// digest is over all that decides the cases and how they are judged.
func digest(data []byte, set campaign.Settings) string {
	h := sha256.New()
	fmt.Fprintf(h, "spectest 1\x00%d\x00", len(data))
	h.Write(data)
	options, _ := json.Marshal(set.Options) // strings alone; keys sorted
	h.Write(options)
	if set.Seed != nil {
		fmt.Fprintf(h, "\x00seed %d", *set.Seed)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// decoded is one case with what is to be said about it.
type decoded struct {
	c                *Case
	idAt             yamltree.Pos
	faults, warnings diag.List
}

// decodeUnit decodes the cases of one block, or of a whole file.
func (d *document) decodeUnit(i int, s *settings) []decoded {
	var list []decoded
	for _, e := range d.unit(i) {
		x := decoded{idAt: yamltree.Pos{Line: e.from, Col: 1}}
		if id := e.node.Get("id"); id != nil {
			x.idAt = id.Pos
		}
		x.c, x.faults, x.warnings = decode(d, s, e)
		list = append(list, x)
	}
	return list
}

// toldWarnings is how many warnings about a document a run shows.
const toldWarnings = 50

// portionUnits is how many blocks are decoded before it is looked at what they
// say: what is decoded is not kept for all of a long document.
const portionUnits = 256

// decodeUnits decodes units, several at a time.
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

// retained is how many cases stay decoded, over all documents. Beyond it a case
// that has a block of its own is decoded again when it is run: memory is bounded
// by the text of the documents, not by what it means.
const retained = 2000

// choose selects the cases to run and says what is wrong with them. A run goes
// on with the faulty ones: they fail, with the reason. A check refuses them,
// unless they are there to be faulty.
func (c *Campaign) choose(first int, units [][]decoded, ids map[string]int) diag.List {
	var list diag.List
	for u, cases := range units {
		for i, x := range cases {
			c.written++
			if !c.set.takes(c.name, c.written, x.c) {
				continue
			}
			list = append(list, x.warnings...)
			if c.set.checking && !x.c.expectsSchema() {
				list = append(list, x.faults...)
			}
			if line, twice := ids[x.c.ID]; twice && x.c.ID != "" {
				p := c.doc.problem(x.idAt, "duplicate-id", "id", fmt.Sprintf("the id %s is used twice", x.c.ID), fmt.Sprintf("the first is on line %d", line))
				if !c.set.checking {
					p.Level = diag.Warning
				}
				list = append(list, p)
			} else {
				ids[strings.Clone(x.c.ID)] = x.idAt.Line // not with the block that it is a part of
			}
			if c.set.checking && x.c.fault == nil {
				list = append(list, c.selfMatches(x.c)...)
			}
			s := slot{unit: int32(first + u), item: int32(i)}
			if len(cases) > 1 || c.kept.Load() < retained {
				s.c = x.c
				c.keeps++
				c.kept.Add(1)
			}
			c.slots = append(c.slots, s)
		}
	}
	return list
}

// shuffle puts the cases into the order that --shuffle asks for.
func (c *Campaign) shuffle() {
	if c.set.shuffle {
		r := rand.New(rand.NewPCG(uint64(c.set.seed), 0x5bec7e57)) // the order must be the same for ever
		r.Shuffle(len(c.slots), func(i, j int) { c.slots[i], c.slots[j] = c.slots[j], c.slots[i] })
	}
}

// expectsSchema reports whether the case is there to be refused.
func (c *Case) expectsSchema() bool {
	e := c.expect
	return e != nil && e.Status == "fail" && c.fault != nil && e.Category == c.fault.Category
}

// unit is the entries of one block of a Markdown document, or of a data file.
func (d *document) unit(i int) []entry {
	if d.format != "md" {
		return d.read(0, len(d.text), 1, max(d.lines.count, 1))
	}
	b := d.found[i]
	first, last := d.lineOf(b.open), d.lineOf(b.open)
	if b.end > b.start {
		last = d.lineOf(b.end - 1)
	}
	if !b.closed {
		p := d.problem(yamltree.Pos{Line: first, Col: 1}, "unclosed-block", "", "the block is never closed", "close it with a fence of the same characters, at least as long")
		return []entry{{from: first, to: last, fault: &p}}
	}
	return d.read(b.start, b.end, first, last+1)
}

// units is how many there are.
func (d *document) units() int {
	if d.format != "md" {
		return 1
	}
	return len(d.found)
}

// quotes takes blocks that stand in a quotation out of the document and tells
// of them: they are no part of what it says itself.
func (d *document) quotes() diag.List {
	var list diag.List
	for _, b := range d.quoted {
		p := d.problem(yamltree.Pos{Line: d.lineOf(b.open), Col: 1}, "quoted-block", "", "a block in a quotation is not run", "")
		p.Level = diag.Warning
		list = append(list, p)
	}
	return list
}

// partition parts blocks that stand in a quotation from the others.
func partition(list []block) (found, quoted []block) {
	for _, b := range list {
		if b.quoted {
			quoted = append(quoted, b)
		}
	}
	return slices.DeleteFunc(list, func(b block) bool { return b.quoted }), quoted
}
