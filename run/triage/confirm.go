package triage

import (
	"bytes"
	"context"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/thresh-dev/thresh/campaign"
)

// Execute runs one case cold, which defines the right result.
type Execute func(ctx context.Context, c campaign.Case) (campaign.Outcome, error)

// Confirmation is the result of running a finding's case again.
type Confirmation struct {
	Rerun    campaign.Rerun
	Outcome  campaign.Outcome // of the first re-run that showed the finding, with varying words of its evidence masked; otherwise of the last re-run
	Slowest  time.Duration
	Observed []string // other fingerprints that were seen instead
}

// Flaky reports whether the finding did not show in every re-run.
func (c Confirmation) Flaky() bool { return c.Rerun.Same < c.Rerun.Tried || c.Rerun.Tried == 0 }

// unanswered counts a re-run without a result, which says nothing about the finding.
func (c *Confirmation) unanswered(o campaign.Outcome) {
	c.Rerun.Errors++
	if c.Rerun.Tried == 0 {
		c.Outcome = o
	}
}

// Confirm runs a case n times and counts how often it fails with the same fingerprint. For a
// finding of nondeterminism, which no single outcome shows, it counts the outcomes that differ from
// that of one additional execution.
func Confirm(ctx context.Context, exec Execute, contract string, c campaign.Case, fingerprint string, n int) (Confirmation, error) {
	if fingerprint == Nondeterminism(contract) {
		return disagree(ctx, exec, c, n)
	}
	var conf Confirmation
	err := conf.again(ctx, exec, c, n, func(o campaign.Outcome) {
		conf.Slowest = max(conf.Slowest, o.Elapsed)
		if Shows(contract, fingerprint, &o) {
			if conf.Rerun.Same++; conf.Rerun.Same > 1 {
				conf.Outcome.Evidence = mergeStable(conf.Outcome.Evidence, o.Evidence)
			} else {
				conf.Outcome = o
			}
			return
		}
		if o.Verdict == campaign.VerdictFail {
			conf.Observed = append(conf.Observed, Fingerprint(contract, &o))
		}
		if conf.Rerun.Same == 0 {
			conf.Outcome = o
		}
	})
	return conf, err
}

// again executes a case n times and counts those that have a result.
func (conf *Confirmation) again(ctx context.Context, exec Execute, c campaign.Case, n int, each func(campaign.Outcome)) error {
	for range n {
		o, err := exec(ctx, c)
		if err != nil {
			return err
		}
		if o.Verdict == campaign.VerdictError {
			conf.unanswered(o)
			continue
		}
		conf.Rerun.Tried++
		each(o)
	}
	return nil
}

// disagree runs a case once, then n more times, and counts the outcomes that differ from the first
// one.
func disagree(ctx context.Context, exec Execute, c campaign.Case, n int) (conf Confirmation, err error) {
	if conf.Outcome, err = exec(ctx, c); err != nil {
		return conf, err
	}
	if conf.Outcome.Verdict == campaign.VerdictError {
		conf.unanswered(conf.Outcome)
		return conf, nil
	}
	first := conf.Outcome.AppendFacts(nil)
	err = conf.again(ctx, exec, c, n, func(o campaign.Outcome) {
		if !bytes.Equal(first, o.AppendFacts(nil)) {
			conf.Rerun.Same++
		}
	})
	return conf, err
}

// Shows reports whether an outcome shows the finding again. Any failure shows the group of all
// failures that were not distinguished.
func Shows(contract, fingerprint string, o *campaign.Outcome) bool {
	return o.Verdict == campaign.VerdictFail &&
		(fingerprint == Overflow || Fingerprint(contract, o) == fingerprint)
}

// varies replaces what differs between two runs of the same case: process ids, clocks, addresses.
// With it, the evidence of equal runs is equal.
const varies = "<varies>"

// mergeStable merges the evidence of two occurrences of a finding. It masks words that differ,
// except in recorded answers, which are needed for a replay. Texts whose words do not align stay as
// in first.
func mergeStable(first, again []campaign.Attachment) []campaign.Attachment {
	out := make([]campaign.Attachment, len(first))
	for i, a := range first {
		out[i] = a
		for _, b := range again {
			if a.Name != campaign.RecordedAttachment && b.Name == a.Name && !bytes.Equal(a.Data, b.Data) {
				out[i].Data = mergeWords(a.Data, b.Data)
			}
		}
	}
	return out
}

func mergeWords(a, b []byte) []byte {
	var out []byte
	whole := a
	for len(a) > 0 && len(b) > 0 {
		wa, wb := word(a), word(b)
		isWord := isWordByte(a)
		if isWord != isWordByte(b) || !isWord && !bytes.Equal(a[:wa], b[:wb]) {
			return whole
		}
		if bytes.Equal(a[:wa], b[:wb]) {
			out = append(out, a[:wa]...)
		} else {
			out = append(out, varies...)
		}
		a, b = a[wa:], b[wb:]
	}
	if len(a) > 0 || len(b) > 0 {
		return whole
	}
	return out
}

// word returns the length of the run of word characters, or of other characters, at the start of b.
func word(b []byte) int {
	first := isWordByte(b)
	n := 0
	for n < len(b) && isWordByte(b[n:]) == first {
		_, size := utf8.DecodeRune(b[n:])
		n += size
	}
	return n
}

func isWordByte(b []byte) bool {
	r, _ := utf8.DecodeRune(b)
	return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) || r == utf8.RuneError
}
