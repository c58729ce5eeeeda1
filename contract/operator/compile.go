package operator

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/doctree"
	"github.com/thresh-dev/thresh/engine/mutator"
	"github.com/thresh-dev/thresh/engine/seq"
	"github.com/thresh-dev/thresh/engine/textop"
)

// Compile implements [campaign.Contract].
func (k *Contract) Compile(ctx context.Context, doc campaign.Spec, set campaign.Settings) ([]campaign.Any, diag.List) {
	c := &compiler{k: k, doc: doc, set: set, digest: sha256.New()}
	camp := c.compile(ctx)
	c.locate()
	if c.list.HasErrors() || camp == nil {
		return nil, c.list
	}
	return []campaign.Any{campaign.Erase[*state](camp)}, c.list
}

// compiler turns one document into a campaign.
type compiler struct {
	k      *Contract
	doc    campaign.Spec
	set    campaign.Settings
	list   diag.List
	digest hash.Hash
	tree   *doctree.Document // nil: the document is a file of seeds
}

// locate adds places to diagnostics that name only a key.
func (c *compiler) locate() {
	for i := range c.list {
		if d := &c.list[i]; c.tree != nil && d.Path != "" && d.Pos == (diag.Pos{File: c.doc.Path, Line: 1, Col: 1}) {
			at := c.tree.Root.At(d.Path).Pos
			d.Pos, d.Source = at.In(c.doc.Path), c.tree.Line(at.Line)
		}
	}
}

// part adds to the digest something that decides the cases.
func (c *compiler) part(data []byte) {
	var n [8]byte
	binary.LittleEndian.PutUint64(n[:], uint64(len(data)))
	c.digest.Write(n[:])
	c.digest.Write(data)
}

func (c *compiler) report(level diag.Level, code, path, format string, args ...any) {
	c.list = append(c.list, diag.Diagnostic{
		Code: "operator." + code, Level: level, Pos: diag.Pos{File: c.doc.Path, Line: 1, Col: 1}, Path: path, Message: fmt.Sprintf(format, args...),
	})
}

func (c *compiler) compile(ctx context.Context) *Campaign {
	spec, seedsHere := c.spec()
	if c.list.HasErrors() {
		return nil
	}
	c.part(c.doc.Data)
	if c.set.Seed != nil {
		spec.SeedBase.SetInt64(*c.set.Seed)
	}
	folders := seq.Map(spec.Operators, func(p string) string { return besideDocument(c.doc.Path, p) })
	folders = append(folders, c.set.Options[optOperators]...)
	switch n := c.set.Get(optChildren, ""); {
	case n != "" && spec.Testcases != nil:
		c.report(diag.Warning, "idle", "testcases", "--children has no effect: testcases names the children")
	case n != "":
		v, err := strconv.ParseInt(n, 10, 64)
		if err != nil || v < 1 || v > maxChildren {
			c.report(diag.Error, "option", "", "--children must be from 1 to %d, got %q", maxChildren, n)
			return nil
		}
		spec.Children = v
		spec.Rounds = int(min(int64(spec.Rounds), v))
	}
	c.policy(spec)
	c.part(fmt.Append(nil, spec.SeedBase, " ", spec.Children))

	plugins := LoadPlugins(ctx, folders, Disk{Read: c.read, List: c.set.List}, c.k.python)
	c.list = append(c.list, plugins.Spared()...)
	if plugins.HostErr != nil && c.set.Check {
		c.report(diag.Warning, "python", "operators", "Python operators are not checked: %v", plugins.HostErr)
	}
	var entries []mutator.Entry
	if spec.Builtins {
		entries = mutator.Builtins()
	}
	cfg := spec.Config()
	for _, e := range entries { // plug-ins enter the digest through their sources
		c.part([]byte(e.Meta.ID))
	}

	camp := &Campaign{document: c.doc.Path, spec: *spec, plugins: plugins, program: c.k.program, systems: c.k.systems, folders: folders, recordAll: c.set.Has(optRecord)}
	c.seeds(camp, seedsHere)
	if spec.Builtins && (spec.Edition3 || spec.Policy == mutator.Search || spec.names(mutator.Third())) {
		entries = mutator.Edition3()
		for _, e := range entries {
			c.part([]byte(e.Meta.ID))
		}
	} else if spec.Builtins && (spec.All || c.extended(camp)) {
		for _, e := range mutator.Extended() {
			entries = append(entries, e)
			c.part([]byte(e.Meta.ID))
		}
	}
	registry, twice := mutator.NewRegistry(Settled(slices.Concat(entries, plugins.Entries), cfg.Filter))
	c.list = append(c.list, twice...)
	c.testcases(camp)
	c.feedback(camp)
	if plugins.HostErr == nil { // all operators are known
		c.names(spec, registry)
	}
	if c.list.HasErrors() {
		return nil
	}
	cfg.Partners, cfg.Chain = PartnerTexts(camp.seeds), links(registry, spec.Chain)
	camp.base = mutator.New(registry, cfg)
	if plugins.HostErr == nil && !spec.Verbatim && spec.Attacker == nil {
		c.candidates(camp)
	}
	if spec.Oracle != nil {
		c.oracle(camp)
	}
	c.system(camp)
	c.attacker(camp)
	c.checks(camp)
	if c.list.HasErrors() {
		return nil
	}
	if spec.Verbatim && camp.plan == nil && camp.oracle == "" && spec.Verdicts == "" {
		c.report(diag.Error, "missing-key", "verbatim", "has no effect without a system, an oracle or verdicts: nothing would judge the seeds")
		return nil
	}
	if camp.spec.Policy == mutator.Search && camp.plan == nil && camp.oracle == "" {
		c.report(diag.Error, "missing-key", "policy", "cannot search without a system or an oracle: it learns from the verdict on each child")
		return nil
	}
	if camp.spec.Budget != nil && camp.plan == nil {
		c.report(diag.Error, "no-effect", "budget", "has no effect without system, whose calls it counts")
		return nil
	}
	camp.secrets = secrets(camp.spec.Judges)
	name := spec.Name
	if name == "" {
		name = strings.TrimSuffix(filepath.Base(c.doc.Path), filepath.Ext(c.doc.Path))
	}
	camp.id = campaign.Identity{Contract: c.k.Name(), Name: name, Digest: hex.EncodeToString(c.digest.Sum(nil))}
	return camp
}

// extended reports whether the document needs operators that others do not draw: it has
// conversations, or names such an operator.
func (c *compiler) extended(camp *Campaign) bool {
	return camp.talks() || camp.spec.names(mutator.Extended())
}

// talks reports whether a case may consist of several messages.
func (c *Campaign) talks() bool {
	return slices.ContainsFunc(c.units, func(u unit) bool { return u.seed.Surface == textop.Conversation })
}

// names reports whether a chain or the included operators contain the full id of an operator in a
// list.
func (s *Spec) names(list []mutator.Entry) bool {
	return slices.ContainsFunc(list, func(e mutator.Entry) bool {
		return slices.Contains(s.Include, e.Meta.ID) || slices.ContainsFunc(s.Chain, func(x Step) bool { return x.Op == e.Meta.ID })
	})
}

// spec decodes the document; a file of seeds uses the defaults.
func (c *compiler) spec() (spec *Spec, seedsHere bool) {
	if !isSpec(c.doc.Data) && isSeeds(c.doc.Data) {
		s := defaults()
		s.Seeds = []string{c.doc.Path}
		return &s, true
	}
	spec, found := Decode(c.doc.Path, c.doc.Data)
	c.list = append(c.list, found...)
	if spec != nil {
		c.tree = spec.doc
	}
	return spec, false
}

// read reads a file that decides the cases.
func (c *compiler) read(path string) ([]byte, error) {
	data, err := c.set.Read(path)
	if err == nil {
		c.part(data)
	}
	return data, err
}

// seeds reads all seeds.
func (c *compiler) seeds(camp *Campaign, here bool) {
	spec := &camp.spec
	first := make(map[string]diag.Pos)
	for i, name := range spec.Seeds {
		path, data := besideDocument(c.doc.Path, name), c.doc.Data
		if here {
			path = c.doc.Path
		} else {
			var err error
			if data, err = c.read(path); err != nil {
				c.report(diag.Error, "seeds-unreadable", fmt.Sprintf("seeds[%d]", i), "%s cannot be read: %s", path, cause(err))
				continue
			}
		}
		r := NewSeedReader(strings.NewReader(string(data)), path, "", spec.Buckets...)
		r.Constraints = spec.Constraints
		for {
			seed, err := r.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if list, ok := errors.AsType[diag.List](err); ok {
				if c.list = append(c.list, list...); len(c.list) > 1000 {
					return
				}
				continue
			}
			if err != nil {
				c.report(diag.Error, "seeds-unreadable", fmt.Sprintf("seeds[%d]", i), "%v", err)
				break
			}
			pos := diag.Pos{File: path, Line: r.line, Col: 1}
			if at, taken := first[seed.ID]; taken {
				c.list = append(c.list, diag.Diagnostic{Code: "operator.seed-twice", Pos: pos, Message: fmt.Sprintf("the seed at %[2]s has the id %[1]q too: ids must be unique", seed.ID, at)})
				continue
			}
			first[seed.ID] = pos
			seed.Ordinal = int64(len(camp.seeds))
			if spec.Surface != "" {
				seed.Surface, seed.SurfaceTag = spec.Surface, ""
			}
			camp.seeds = append(camp.seeds, *seed)
		}
		c.list = append(c.list, r.Warnings()...)
		if n := r.Blocked(); n > 0 {
			c.list = append(c.list, diag.Diagnostic{Code: "operator.seed-blocked", Level: diag.Warning, Pos: diag.Pos{File: path, Line: 1, Col: 1}, Message: fmt.Sprintf("records with is_mutable false: %d are not mutated", n)})
		}
	}
	if len(camp.seeds) == 0 && !c.list.HasErrors() {
		c.report(diag.Error, "no-seeds", "seeds", "there is no seed in %s", strings.Join(spec.Seeds, ", "))
	}
	buckets := spec.Buckets
	for i := range camp.seeds {
		if len(buckets) == 0 {
			camp.units = append(camp.units, unit{seed: &camp.seeds[i], prefix: camp.seeds[i].ID})
			continue
		}
		for _, b := range buckets {
			s := camp.seeds[i]
			if s.Bucket != b {
				s.Bucket, s.BucketTag = b, ""
			}
			u := unit{seed: &s, prefix: s.ID}
			if len(buckets) > 1 {
				u.prefix += ":" + string(b)
			}
			camp.units = append(camp.units, u)
		}
	}
}

// testcases finds the children that the document names.
func (c *compiler) testcases(camp *Campaign) {
	of := make(map[string]int, len(camp.units))
	prefixes := make([]string, len(camp.units))
	for i, u := range camp.units {
		of[u.prefix], prefixes[i] = i, u.prefix
	}
	for i, id := range camp.spec.Testcases {
		prefix, child, _ := parseTestcase(id) // already checked
		u, ok := of[prefix]
		if !ok {
			c.list = append(c.list, diag.Diagnostic{
				Code: "operator.testcase", Pos: diag.Pos{File: c.doc.Path, Line: 1, Col: 1}, Path: fmt.Sprintf("testcases[%d]", i),
				Message: fmt.Sprintf("there is no seed %q for %q", prefix, id), Hint: diag.DidYouMean(prefix, prefixes),
			})
			continue
		}
		camp.picked = append(camp.picked, pick{int32(u), child})
	}
}

// feedback reads statistics and verdicts.
func (c *compiler) feedback(camp *Campaign) {
	if name := camp.spec.Stats; name != "" {
		var err error
		camp.recalled, err = ReadStats(besideDocument(c.doc.Path, name), c.read)
		if err != nil {
			c.report(diag.Error, "stats", "stats", "%s: %s", name, cause(err))
		}
	}
	if name := camp.spec.Verdicts; name != "" {
		path := besideDocument(c.doc.Path, name)
		data, err := c.read(path)
		if err != nil {
			c.report(diag.Error, "verdicts", "verdicts", "%s cannot be read: %s", path, cause(err))
			return
		}
		verdicts, found := DecodeVerdicts(path, data)
		c.list = append(c.list, found...)
		camp.verdicts = make(map[string]Verdict, len(verdicts))
		for _, v := range verdicts {
			if v.Testcase == "" {
				c.report(diag.Warning, "verdicts", "verdicts", "a verdict in %s names no testcase_id: it belongs to no child here", path)
				continue
			}
			if at, twice := camp.verdicts[v.Testcase]; twice && at.Judgement != v.Judgement {
				c.report(diag.Warning, "verdicts", "verdicts", "%s has verdicts on %s that contradict each other: the last one counts", path, v.Testcase)
			}
			camp.verdicts[v.Testcase] = v
		}
		c.matched(camp, path)
	}
}

// matched checks that the verdicts belong to children of the document.
func (c *compiler) matched(camp *Campaign, path string) {
	camp.own = make(map[string]*mutator.Seed, len(camp.units))
	for _, u := range camp.units {
		camp.own[u.prefix] = u.seed
	}
	var strange []string
	for id := range camp.verdicts {
		if prefix, _, ok := parseTestcase(id); !ok || camp.own[prefix] == nil {
			strange = append(strange, id)
		}
	}
	slices.Sort(strange)
	switch {
	case len(strange) == len(camp.verdicts):
		c.report(diag.Error, "verdicts", "verdicts", "no verdict in %s belongs to a child of the seeds: nothing would be judged", path)
	case len(strange) > 0:
		c.report(diag.Warning, "verdicts", "verdicts", "%d of %d verdicts in %s belong to no child of the seeds, such as %q",
			len(strange), len(camp.verdicts), path, strange[0])
	}
}

// names checks that the operators that the document names exist.
func (c *compiler) names(spec *Spec, r *mutator.Registry) {
	for _, list := range []struct {
		field    string
		patterns []string
	}{{"select.include", spec.Include}, {"select.exclude", spec.Exclude}} {
		for i, p := range list.patterns {
			f := mutator.Filter{Include: []string{p}, Controls: true}
			if len(r.Select(f)) == 0 {
				c.list = append(c.list, diag.Diagnostic{
					Code: "operator.pattern-idle", Level: diag.Warning, Pos: diag.Pos{File: c.doc.Path, Line: 1, Col: 1}, Path: fmt.Sprintf("%s[%d]", list.field, i),
					Message: fmt.Sprintf("%q matches no operator", p), Hint: diag.DidYouMean(p, r.IDs()),
				})
			}
		}
	}
	for i, step := range spec.Chain {
		if id := step.Op; r.Find(id) < 0 {
			c.list = append(c.list, diag.Diagnostic{
				Code: "operator.chain", Pos: diag.Pos{File: c.doc.Path, Line: 1, Col: 1}, Path: fmt.Sprintf("chain[%d]", i),
				Message: fmt.Sprintf("there is no operator %q", id), Hint: diag.DidYouMean(id, r.IDs()),
			})
		}
	}
	for b, factors := range spec.Weights {
		for id := range factors {
			if r.Find(id) < 0 {
				c.list = append(c.list, diag.Diagnostic{
					Code: "operator.weight-idle", Level: diag.Warning, Pos: diag.Pos{File: c.doc.Path, Line: 1, Col: 1}, Path: "weights." + string(b) + "." + id,
					Message: fmt.Sprintf("there is no operator %q", id), Hint: diag.DidYouMean(id, r.IDs()),
				})
			}
		}
	}
	slices.SortStableFunc(c.list, func(a, b diag.Diagnostic) int { // maps have no order
		if a.Code == "operator.weight-idle" && b.Code == a.Code {
			return strings.Compare(a.Path, b.Path)
		}
		return 0
	})
}

// oracle finds the program and makes it part of the campaign's identity, together with the files in
// its command.
func (c *compiler) oracle(camp *Campaign) {
	folder, err := filepath.Abs(filepath.Dir(c.doc.Path))
	if err != nil {
		c.report(diag.Error, "oracle", "oracle", "the document's folder cannot be found: %v", err)
		return
	}
	camp.folder = inFolder(folder, camp.spec.Oracle.Folder)
	if camp.spec.Oracle.Folder != "" && !c.set.Stored {
		if _, err := c.set.List(camp.folder); err != nil {
			c.report(diag.Error, "oracle", "oracle.folder", "%s cannot be read: %s", camp.folder, cause(err))
		}
	}
	camp.spec.Oracle.Command = c.set.Programs(camp.spec.Oracle.Command)
	name := camp.spec.Oracle.Command[0]
	paths := []string{inFolder(folder, name)}
	if !strings.ContainsRune(name, filepath.Separator) {
		for _, dir := range filepath.SplitList(oracleFolders) {
			paths = append(paths, filepath.Join(dir, name))
		}
	}
	for _, p := range paths {
		sum, err := c.set.Digest(p)
		if err != nil {
			continue
		}
		c.part([]byte(sum))
		camp.oracle = p
		for _, a := range camp.spec.Oracle.Command[1:] {
			if sum, err := c.set.Digest(inFolder(camp.folder, a)); err == nil {
				c.part([]byte(sum))
			}
		}
		return
	}
	c.report(diag.Error, "oracle", "oracle.command[0]", "there is no program %s", strings.Join(paths, " or "))
}
