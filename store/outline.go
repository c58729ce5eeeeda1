package store

import (
	"cmp"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
)

// Outline returns a run's record without its findings, from the index alone:
// its cost does not grow with what the run found. The run is named as
// [Store.Record] takes it. Of a live run it says what is known at its start;
// [Store.Follow] tells the rest.
func (s *Store) Outline(ref string) (campaign.Record, error) {
	var rec campaign.Record
	id, err := s.resolveRun(ref)
	if err != nil {
		return rec, err
	}
	var body []byte
	err = s.db.QueryRow("SELECT body FROM outlines WHERE run_id = ?", id).Scan(&body)
	if err == nil {
		err = s.pack.unpack(body, &rec)
	}
	if err != nil {
		return rec, diag.Environment("read the outline of run %s: %w", id, err)
	}
	return rec, nil
}

// Run returns the line of one run, named in full.
func (s *Store) Run(id string) (RunSummary, error) {
	r, err := scanRun(s.db.QueryRow(runColumns+"WHERE r.run_id = ?", id))
	if err != nil {
		return r, diag.Environment("read the index of run %s: %w", id, err)
	}
	return r, nil
}

// SpecTrend is how one campaign, told by contract and name, has gone over its
// newest runs.
type SpecTrend struct {
	Contract string       `json:"contract"`
	Name     string       `json:"name"`
	Source   string       `json:"source"` // document, as the newest run named it
	Runs     int          `json:"runs"`   // in all; of one trend, those that are points
	Points   []TrendPoint `json:"points"` // oldest first
}

// TrendPoint is what one run says of a campaign.
type TrendPoint struct {
	RunID    string    `json:"run_id"`
	Created  time.Time `json:"created"`
	Verdict  string    `json:"verdict"` // of the campaign: "pass", "fail" or "error"; "" while running
	Cases    int64     `json:"cases"`
	Failed   int64     `json:"failed"`
	Findings int       `json:"findings"`
	Score    *float64  `json:"score,omitempty"`
}

// Trends returns the campaigns that were run last, each with at most so many
// points, and how many campaigns there are.
func (s *Store) Trends(limit, points int) (list []SpecTrend, total int, err error) {
	if list, total, err = s.trends(limit, points); err != nil {
		return nil, 0, diag.Environment("read the trends of the store %s: %w", s.dir, err)
	}
	return list, total, nil
}

func (s *Store) trends(limit, points int) ([]SpecTrend, int, error) {
	total := 0
	if err := s.db.QueryRow("SELECT count(*) FROM (SELECT DISTINCT contract, name FROM campaigns)").Scan(&total); err != nil {
		return nil, 0, err
	}
	rows, err := s.db.Query(`SELECT c.contract, c.name, count(DISTINCT c.run_id) FROM campaigns c JOIN runs r USING (run_id)
GROUP BY c.contract, c.name ORDER BY max(r.created) DESC, c.contract, c.name LIMIT ?`, limitOf(limit))
	if err != nil {
		return nil, 0, err
	}
	defer rows.Close()
	list := []SpecTrend{}
	for rows.Next() {
		var t SpecTrend
		if err := rows.Scan(&t.Contract, &t.Name, &t.Runs); err != nil {
			return nil, 0, err
		}
		list = append(list, t)
	}
	if err := cmp.Or(rows.Err(), rows.Close()); err != nil {
		return nil, 0, err
	}
	for i := range list {
		if err := s.trend(&list[i], points); err != nil {
			return nil, 0, fmt.Errorf("campaign %s %s: %w", list[i].Contract, list[i].Name, err)
		}
	}
	return list, total, nil
}

// Trend returns how one campaign has gone.
func (s *Store) Trend(contract, name string, points int) (SpecTrend, error) {
	t := SpecTrend{Contract: contract, Name: name}
	if err := s.trend(&t, points); err != nil {
		return t, diag.Environment("read the trend of campaign %s %s: %w", contract, name, err)
	}
	t.Runs = len(t.Points)
	return t, nil
}

func (s *Store) trend(t *SpecTrend, points int) error {
	rows, err := s.db.Query(`
SELECT r.run_id, r.created, r.status, max(c.source), sum(c.run), sum(c.fail), sum(c.error), min(c.score),
	(SELECT count(*) FROM findings f WHERE f.run_id = r.run_id AND f.contract = @contract AND f.campaign = @name)
FROM campaigns c JOIN runs r USING (run_id) WHERE c.contract = @contract AND c.name = @name
GROUP BY r.run_id`+newestFirst+" LIMIT @limit",
		sql.Named("contract", t.Contract), sql.Named("name", t.Name), sql.Named("limit", limitOf(points)))
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var p TrendPoint
		var created, errs int64
		var status, source string
		var score sql.NullFloat64
		if err := rows.Scan(&p.RunID, &created, &status, &source, &p.Cases, &p.Failed, &errs, &score, &p.Findings); err != nil {
			return err
		}
		p.Created = time.UnixMicro(created).UTC()
		if score.Valid {
			p.Score = &score.Float64
		}
		switch {
		case status == statusRunning:
		case p.Failed > 0:
			p.Verdict = "fail"
		case errs > 0 || p.Cases == 0:
			p.Verdict = "error"
		default:
			p.Verdict = "pass"
		}
		if t.Source == "" {
			t.Source = source
		}
		t.Points = append(t.Points, p)
	}
	slices.Reverse(t.Points)
	return rows.Err()
}
