package run

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/store"
)

// root returns the hash of all outcomes and evidence for a record: the root of a
// Merkle tree over the root of the campaigns' outcomes and that of the evidence.
func root(outcomes *campaign.Tree, evidence []byte) string {
	var t campaign.Tree
	t.Add(outcomes.Root())
	t.Add(evidence)
	return hex.EncodeToString(t.Root())
}

// Verify folds the journal of a run again and reports where the run's record
// differs from the result. It executes nothing and changes nothing.
func Verify(j *store.Journal, rec *campaign.Record, campaigns []campaign.Any) (problems []string, err error) {
	differs := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	if len(rec.Campaigns) != len(campaigns) {
		differs("the record has %s, the documents %d", diag.Plural(int64(len(rec.Campaigns)), "campaign"), len(campaigns))
		return problems, nil
	}
	digest := sha256.New()
	var outcomes campaign.Tree
	var fails, errs int64
	for k, c := range campaigns {
		cr := &rec.Campaigns[k]
		id := c.Identity()
		if cr.Contract != id.Contract || cr.Name != id.Name || cr.Identity != id.Digest {
			differs("campaign %s: the record and the documents have different identities", id.Name)
		}
		state, err := FirstState(c, k, j)
		if errors.Is(err, ErrUntried) {
			if cr.Cases.Run > 0 {
				differs("campaign %s: the record counts %s, the journal has none", id.Name, diag.Plural(cr.Cases.Run, "case"))
			}
			continue
		}
		if err != nil {
			return problems, err
		}
		d := campaign.NewDigest(sha256.New(), id)
		counts := campaign.Counts{Planned: cr.Cases.Planned}
		w := &refold{c: c, state: state, number: -1, until: -1}
		for e := range firstOutcomes(j, k, cr.Cases.Executed()-cr.Cases.Closing) {
			if counts.Executed() == cr.Cases.Executed() {
				break
			}
			if err = w.add(e); err != nil {
				differs("campaign %s: %v", id.Name, err)
				break
			}
			if counts.Add(e.Outcome.Verdict); e.Kind == store.KindClosing {
				counts.Closing++
			}
			d.Case(campaign.Case{Round: e.Case.Round, Index: e.Case.Index}, &e.Outcome)
		}
		state = w.finish()
		var sum campaign.Summary
		if x, ok := campaign.As[campaign.Summarizer[any]](c); ok && err == nil {
			sum = x.Summarize(state)
		}
		if cr.Cases.Replaced > 0 {
			counts.Replace(sum.Replaced)
			counts.Planned = cr.Cases.Planned
		}
		if counts != cr.Cases {
			differs("campaign %s: the record counts %+v, the journal %+v", id.Name, cr.Cases, counts)
		}
		switch {
		case err != nil:
		case sum.Score != nil && (cr.Score == nil || *cr.Score != *sum.Score):
			differs("campaign %s: the record's score is not %v, as computed from the journal", id.Name, *sum.Score)
		case sum.Score == nil && cr.Score != nil:
			differs("campaign %s: the record has a score, the journal gives none", id.Name)
		case cr.ScoreInterval != nil && !equalJSON(sum.Interval, cr.ScoreInterval):
			differs("campaign %s: the record's score has a different interval than the one computed from the journal", id.Name)
		}
		if err == nil && !equalJSON(recorded(sum.Parts, cr.Parts), cr.Parts) {
			differs("campaign %s: the record's score has different parts than those computed from the journal", id.Name)
		}
		if f, ok := campaign.As[campaign.Figurer[any]](c); ok && err == nil && !equalJSON(f.Figures(state), cr.Figures) {
			differs("campaign %s: the record has different figures than those computed from the journal", id.Name)
		}
		digest.Write(d.Sum())
		outcomes.Add(d.Root())
		fails, errs = fails+counts.Fail, errs+counts.Error
	}
	if got := hex.EncodeToString(digest.Sum(nil)); got != rec.Digest {
		differs("the record's digest is %s, that of the journal %s", rec.Digest, got)
	}
	if r := rec.Environment.Root; r != "" && r != root(&outcomes, j.EvidenceRoot()) {
		differs("the record's root is not that of the journal's outcomes and evidence")
	}
	switch failed := fails > 0 || len(rec.Findings) > 0; {
	case failed != (rec.Verdict == "fail"):
		differs("the record's verdict is %s, with %s and %s", rec.Verdict, diag.Plural(fails, "failing case"), diag.Plural(int64(len(rec.Findings)), "finding"))
	case errs > 0 && rec.Verdict == "pass":
		differs("the record's verdict is pass, with %s without a result", diag.Plural(errs, "case"))
	}
	return problems, nil
}

// recorded clears the intervals that a record of an older version does not have.
func recorded(parts, kept []campaign.ScorePart) []campaign.ScorePart {
	for i := range parts {
		if i < len(kept) && kept[i].Interval == nil {
			parts[i].Interval = nil
		}
	}
	return parts
}

func equalJSON(a, b any) bool {
	x, err := json.Marshal(a)
	y, err2 := json.Marshal(b)
	return err == nil && err2 == nil && bytes.Equal(x, y)
}
