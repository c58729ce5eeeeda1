package fuzzspec

import (
	"path/filepath"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/bytemut"
)

// noFacts are the facts of a target that was not probed.
var noFacts campaign.Facts

// deepInput is what the deep mutators use besides the seed.
type deepInput struct {
	corpus     [][]byte
	dictionary [][]byte
	grammar    *bytemut.Grammar // nil: none
	rules      []byte           // its text
}

// maxTokenLevel accepts tokens of an AFL dictionary at any level.
const maxTokenLevel = 1 << 30

// deepInputs reads the dictionaries and further seeds that were requested and returns every fault
// in them.
func deepInputs(set campaign.Settings) (deepInput, diag.List) {
	var in deepInput
	var list diag.List
	unreadable := func(option, path string, err error) {
		list = append(list, diag.Diagnostic{
			Code: "fuzzspec.option", Pos: diag.Pos{File: path}, Path: "--" + option, Message: "cannot be read: " + err.Error(),
		})
	}
	for _, path := range set.Options[optDict] {
		data, err := set.Read(path)
		if err != nil {
			unreadable(optDict, path, err)
			continue
		}
		entries, found := bytemut.ParseDictionary(path, data)
		list = append(list, found...)
		in.dictionary = append(in.dictionary, bytemut.Tokens(entries, maxTokenLevel)...)
	}
	for _, path := range set.Options[optGrammar] {
		var err error
		if in.rules, err = set.Read(path); err != nil {
			unreadable(optGrammar, path, err)
			continue
		}
		var found diag.List
		in.grammar, found = bytemut.ParseGrammar(path, in.rules)
		list = append(list, found...)
	}
	for _, dir := range set.Options[optCorpus] {
		names, err := set.List(dir)
		if err != nil {
			unreadable(optCorpus, dir, err)
			continue
		}
		if len(names) == 0 {
			list = append(list, diag.Diagnostic{
				Code: "fuzzspec.option", Pos: diag.Pos{File: dir}, Path: "--" + optCorpus, Message: "the folder holds no file to start from",
			})
		}
		for _, name := range names {
			path := filepath.Join(dir, name)
			data, err := set.Read(path)
			if err != nil {
				unreadable(optCorpus, path, err)
				continue
			}
			in.corpus = append(in.corpus, data)
		}
	}
	return in, list
}

// deepMaker makes cases with the deep mutators, from every input of the corpus.
type deepMaker struct {
	deep   *bytemut.Deep
	guided bool
}

func newDeepMaker(c *Campaign) maker {
	m := &c.spec.Mutations
	p := bytemut.DeepParams{MaxOps: -1, Dictionary: c.deep.dictionary, Grammar: c.deep.grammar, Derived: c.set.auto}
	if m.OpsGiven {
		p.MaxOps = int(min(m.OpLimit(), 1<<20))
	}
	if limit, ok := m.ByteLimit(); ok {
		p.MaxBytes = limit
	}
	return deepMaker{bytemut.NewDeep(append([][]byte{c.seed}, c.deep.corpus...), p, m.RNGSeed), c.set.guided}
}

func (m deepMaker) lane() laneMaker { return &deepLane{deepMaker: m} }

type deepLane struct {
	deepMaker
	buf bytemut.Buffer
}

func (l *deepLane) input(from bytemut.Pool, index int64) []byte {
	if l.guided {
		return l.deep.GuidedCase(from, index, &l.buf)
	}
	return l.deep.CaseOf(from.Inputs, index, &l.buf)
}

func (l *deepLane) log() []byte { return bytemut.AppendLog(nil, l.buf.Ops()) }

func (m deepMaker) parent(from bytemut.Pool, index int64) int {
	if m.guided {
		return m.deep.GuidedParent(from, index)
	}
	return m.deep.ParentOf(len(from.Inputs), index)
}
