package store

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
)

// RunQuery picks runs. The zero value picks all.
type RunQuery struct {
	Contract string // runs with a campaign of this contract
	Campaign string // runs with a campaign of this name
	Verdict  string // "pass", "fail" or "error"
	Status   string // "running", "done", "interrupted" or "error"
	Text     string // part of the run's name, its campaigns, documents, command or findings' titles; letter case does not matter
	Limit    int    // at most so many; 0: no limit
	Offset   int    // leave out so many of the newest
}

// RunSummary is one line of a list of runs.
type RunSummary struct {
	RunID     string          `json:"run_id"`
	Created   time.Time       `json:"created"`
	Status    string          `json:"status"`  // "running", "done", "interrupted" or "error"
	Verdict   string          `json:"verdict"` // "pass", "fail", "error"; "" while running
	Complete  bool            `json:"complete"`
	Stopped   string          `json:"stopped,omitempty"`
	Digest    string          `json:"digest"`
	Command   []string        `json:"command"`
	Seconds   float64         `json:"seconds"`
	Contracts []string        `json:"contracts"` // each once, in the order of the campaigns
	Campaigns []string        `json:"campaigns"` // names
	Cases     campaign.Counts `json:"cases"`     // over all campaigns
	Findings  int             `json:"findings"`
	Flaky     int             `json:"flaky"` // of the findings
}

// runColumns are read by scanRun. The lists come as JSON, so names may hold
// anything.
const runColumns = `
SELECT r.run_id, r.created, r.status, r.verdict, r.complete, r.stopped, r.digest, r.command, r.seconds,
	(SELECT json_group_array(contract) FROM (SELECT contract FROM campaigns c WHERE c.run_id = r.run_id GROUP BY contract ORDER BY min(place))),
	(SELECT json_group_array(name) FROM (SELECT name FROM campaigns c WHERE c.run_id = r.run_id ORDER BY place)),
	(SELECT json_array(sum(planned), sum(run), sum(pass), sum(fail), sum(skip), sum(error)) FROM campaigns c WHERE c.run_id = r.run_id),
	(SELECT count(*) FROM findings f WHERE f.run_id = r.run_id),
	(SELECT count(*) FROM findings f WHERE f.run_id = r.run_id AND f.flaky)
FROM runs r
`

// newestFirst orders runs; the name decides between equal times, -10 after -9.
const newestFirst = " ORDER BY r.created DESC, length(r.run_id) DESC, r.run_id DESC"

type rowScanner interface{ Scan(...any) error }

func scanRun(row rowScanner) (RunSummary, error) {
	var r RunSummary
	var created int64
	var command, contracts, names, counts string
	err := row.Scan(&r.RunID, &created, &r.Status, &r.Verdict, &r.Complete, &r.Stopped, &r.Digest,
		&command, &r.Seconds, &contracts, &names, &counts, &r.Findings, &r.Flaky)
	if err != nil {
		return r, err
	}
	r.Created = time.UnixMicro(created).UTC()
	var sums [6]int64
	for _, list := range [...]struct {
		text string
		into any
	}{{command, &r.Command}, {contracts, &r.Contracts}, {names, &r.Campaigns}, {counts, &sums}} {
		if err := json.Unmarshal([]byte(list.text), list.into); err != nil {
			return r, fmt.Errorf("decode the index of run %s: %w", r.RunID, err)
		}
	}
	r.Cases = campaign.Counts{Planned: sums[0], Run: sums[1], Pass: sums[2], Fail: sums[3], Skip: sums[4], Error: sums[5]}
	return r, nil
}

// Runs lists runs, newest first. A run that no live process writes is never
// "running": it is what its journal says, "interrupted" as a rule.
func (s *Store) Runs(q RunQuery) ([]RunSummary, error) {
	runs, err := s.runs(q)
	if err != nil {
		return nil, diag.Environment("list the runs of the store %s: %w", s.dir, err)
	}
	return runs, nil
}

// runWhere picks what a query asks for; an empty parameter switches its
// condition off.
const runWhere = `WHERE (@contract = '' OR EXISTS (SELECT 1 FROM campaigns c WHERE c.run_id = r.run_id AND c.contract = @contract))
	AND (@campaign = '' OR EXISTS (SELECT 1 FROM campaigns c WHERE c.run_id = r.run_id AND c.name = @campaign AND (@contract = '' OR c.contract = @contract)))
	AND (@verdict = '' OR r.verdict = @verdict)
	AND (@status = '' OR r.status = @status)
	AND (@text = '' OR r.run_id LIKE @text ESCAPE '\'
		OR EXISTS (SELECT 1 FROM json_each(r.command) w WHERE w.value LIKE @text ESCAPE '\')
		OR EXISTS (SELECT 1 FROM campaigns c WHERE c.run_id = r.run_id AND (c.name LIKE @text ESCAPE '\' OR c.source LIKE @text ESCAPE '\'))
		OR EXISTS (SELECT 1 FROM findings f WHERE f.run_id = r.run_id AND (f.title LIKE @text ESCAPE '\' OR f.finding_id LIKE @text ESCAPE '\')))
`

func (q RunQuery) args() []any {
	return []any{
		sql.Named("contract", q.Contract), sql.Named("campaign", q.Campaign), sql.Named("verdict", q.Verdict),
		sql.Named("status", q.Status), sql.Named("text", likePart(q.Text)),
	}
}

// CountRuns is how many runs a query picks, whatever its limit and offset.
func (s *Store) CountRuns(q RunQuery) (n int, err error) {
	if err := s.db.QueryRow("SELECT count(*) FROM runs r "+runWhere, q.args()...).Scan(&n); err != nil {
		return 0, diag.Environment("count the runs of the store %s: %w", s.dir, err)
	}
	return n, nil
}

func (s *Store) runs(q RunQuery) ([]RunSummary, error) {
	if _, err := s.reconcile(false); err != nil {
		return nil, err
	}
	query := runColumns + runWhere + newestFirst + " LIMIT @limit OFFSET @offset"
	args := append(q.args(), sql.Named("limit", limitOf(q.Limit)), sql.Named("offset", max(0, q.Offset)))
	rows, err := s.db.Query(query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	runs := []RunSummary{}
	for rows.Next() {
		r, err := scanRun(rows)
		if err != nil {
			return nil, err
		}
		runs = append(runs, r)
	}
	return runs, rows.Err()
}
