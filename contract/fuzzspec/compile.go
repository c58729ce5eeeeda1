package fuzzspec

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io/fs"
	"math/big"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/bytemut"
	"github.com/thresh-dev/thresh/engine/textop"
)

// Compile implements [campaign.Contract].
func (k *Contract) Compile(_ context.Context, doc campaign.Spec, set campaign.Settings) ([]campaign.Any, diag.List) {
	s, list := decodeSettings(set)
	fsys := k.disk
	if set.Stored {
		fsys = keptFiles{fsys}
	}
	spec, found := Check(doc.Data, fsys, CheckOptions{
		File: doc.Path, Strict: set.Strict && !set.Stored, AllowExec: s.allowExec, Stdin: s.input != "file", ReadSeed: set.Read, Self: set.Self,
	})
	list = append(list, found...)
	if list.HasErrors() {
		return nil, list
	}
	fail := func(code, path, format string, args ...any) ([]campaign.Any, diag.List) {
		return nil, append(list, diag.Diagnostic{Code: code, Pos: diag.Pos{File: doc.Path}, Path: path, Message: fmt.Sprintf(format, args...)})
	}
	if s.seed != nil {
		spec.Mutations.RNGSeed = big.NewInt(*s.seed)
	}
	seed, err := set.Read(spec.Seed.Path)
	if err != nil {
		return fail("fuzzspec.seed-unreadable", "seed.path", "the seed cannot be read: %v", err)
	}
	if s.auto {
		s.choose(seed, set.Has(optDict) || set.Has(optCorpus) || set.Has(optGrammar))
	}
	// The evidence of a case states where the files were.
	for _, p := range []*string{&spec.Seed.Path, &spec.Target.WorkRootBase} {
		if filepath.IsAbs(*p) {
			continue
		}
		if *p, err = filepath.Abs(*p); err != nil {
			return fail("fuzzspec.seed-unreadable", "seed.path", "the folder of the document is not known: %v", err)
		}
	}
	exe, why := ResolveExecutable(fsys, set.Program(spec.Target.Command[0]), s.allowExec)
	if why != "" && !set.Stored {
		return fail("fuzzspec.command-executable", "target.command[0]", "%s", why)
	}
	plan, found := k.loadSystem(set)
	if list = append(list, found...); list.HasErrors() {
		return nil, list
	}
	program, open := "", k.open
	if plan != nil {
		program, open = "system "+plan.Digest, opener(k.systems, plan)
	} else {
		program, err = set.Digest(exe.Path)
	}
	if err != nil {
		return fail("fuzzspec.command-executable", "target.command[0]", "the program cannot be read: %v", err)
	}
	total := spec.Mutations.CaseCount()
	if s.start >= total {
		return fail("fuzzspec.option", "", "the first case is to be %d, but mutations.cases is %d", s.start, total)
	}
	count := total - s.start
	if s.count > count {
		list = append(list, diag.Diagnostic{
			Code: "fuzzspec.cases-available", Level: diag.Warning, Pos: diag.Pos{File: doc.Path}, Path: "mutations.cases",
			Message: fmt.Sprintf("asked for %d cases from case %d on, but the document plans %d in all: running %d", s.count, s.start, total, count),
		})
	} else if s.count > 0 {
		count = s.count
	}
	c := &Campaign{
		spec: spec, doc: doc, seed: seed, exe: exe, set: s, open: open, system: plan, start: s.start, count: count,
	}
	if c.set.campaignID == "" {
		c.set.campaignID = DefaultCampaignID(doc.Data, s.start)
	}
	twins, option, err := s.loadTwins(fsys, set)
	if err != nil {
		return fail("fuzzspec.option", "--"+option, "%v", err)
	}
	c.set.twin, c.set.also, c.set.cmplog = s.twin, s.also, s.cmplog
	h := sha256.New()
	part := func(b []byte) {
		var n [8]byte
		binary.LittleEndian.PutUint64(n[:], uint64(len(b)))
		h.Write(n[:])
		h.Write(b)
	}
	part(doc.Data)
	part(seed)
	part([]byte(program))
	part([]byte(s.fingerprint()))
	for _, sum := range twins {
		part([]byte(sum))
	}
	if s.deep {
		inputs, found := deepInputs(set)
		if list = append(list, found...); list.HasErrors() {
			return nil, list
		}
		for _, b := range slices.Concat(inputs.corpus, inputs.dictionary) {
			part(b)
		}
		if inputs.grammar != nil {
			part(inputs.rules)
		}
		part([]byte(bytemut.DeepVersion))
		if s.auto && !s.guided && slices.ContainsFunc(append(inputs.corpus, seed), func(b []byte) bool { return len(bytemut.Derived(b)) > 0 }) {
			part([]byte("derived-1"))
		}
		c.deep = &inputs
	}
	if s.text {
		if !utf8.Valid(seed) {
			return fail("fuzzspec.option", "--"+optMutators, "the text mutators need a seed that is UTF-8 text; reference and deep take any")
		}
		for _, o := range textop.Builtins() {
			part([]byte(o.Meta().ID))
		}
	}
	name := spec.CampaignID
	if strings.TrimSpace(name) == "" {
		name = c.set.campaignID
	}
	c.id = campaign.Identity{Contract: k.Name(), Name: name, Digest: hex.EncodeToString(h.Sum(nil))}
	if c.maker, err = newMaker(c); err != nil {
		return fail("fuzzspec.mutations", "mutations", "%v", err)
	}
	return []campaign.Any{campaign.Erase[*state](c)}, list
}

// keptFiles is the disk as a stored run sees it: the files that the document names were there when
// the run was made and are stored with it, so they count as present.
type keptFiles struct{ FS }

// Stat implements [FS].
func (k keptFiles) Stat(name string) (fs.FileInfo, error) {
	info, err := k.FS.Stat(name)
	if err != nil {
		return keptFile(name), nil
	}
	return info, nil
}

// Executable implements [FS].
func (k keptFiles) Executable(string) bool { return true }

// keptFile stands for a file that is in the store but no longer on disk: a regular, executable
// file.
type keptFile string

// Name implements [fs.FileInfo].
func (f keptFile) Name() string { return path.Base(string(f)) }

// Size implements [fs.FileInfo].
func (keptFile) Size() int64 { return 1 }

// Mode implements [fs.FileInfo].
func (keptFile) Mode() fs.FileMode { return 0o755 }

// ModTime implements [fs.FileInfo].
func (keptFile) ModTime() time.Time { return time.Time{} }

// IsDir implements [fs.FileInfo].
func (keptFile) IsDir() bool { return false }

// Sys implements [fs.FileInfo].
func (keptFile) Sys() any { return nil }
