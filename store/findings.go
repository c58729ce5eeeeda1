package store

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
)

// FindingQuery picks findings of one run. The zero value but for RunID picks
// all of them.
type FindingQuery struct {
	RunID    string             // the whole name
	Contract string             // with Campaign: those of one campaign
	Campaign string             //
	Kind     string             // the contract's word for the class
	Severity *campaign.Severity // exactly this one
	Flaky    bool               // flaky ones alone
	New      bool               // new ones alone, see [FindingSummary]
	Text     string             // part of id, title, kind or campaign; letter case does not matter
	Limit    int                // at most so many; 0: no limit
	Offset   int                // leave out so many of the first
}

// FindingSummary is one line of a list of findings.
type FindingSummary struct {
	ID          string            `json:"id"`
	Fingerprint string            `json:"fingerprint"`
	Contract    string            `json:"contract"`
	Campaign    string            `json:"campaign"`
	Kind        string            `json:"kind"`
	Title       string            `json:"title"`
	Severity    campaign.Severity `json:"severity"`
	Cases       int64             `json:"cases"`
	Flaky       bool              `json:"flaky"`
	First       int64             `json:"first_case"`
	New         bool              `json:"new"` // no earlier run of the campaign has it, and there is one; the index tells
}

// finding is a finding of which no more is known.
func (f FindingSummary) finding() campaign.Finding {
	return campaign.Finding{
		ID: f.ID, Fingerprint: f.Fingerprint, Contract: f.Contract, Campaign: f.Campaign, Kind: f.Kind,
		Title: f.Title, Severity: f.Severity, Cases: f.Cases, Flaky: f.Flaky, First: f.First,
	}
}

// briefly is the finding with what its summary has alone.
func briefly(f campaign.Finding) campaign.Finding { return SummaryOf(f).finding() }

// SummaryOf is the line for a finding.
func SummaryOf(f campaign.Finding) FindingSummary {
	return FindingSummary{
		ID: f.ID, Fingerprint: f.Fingerprint, Contract: f.Contract, Campaign: f.Campaign, Kind: f.Kind,
		Title: f.Title, Severity: f.Severity, Cases: f.Cases, Flaky: f.Flaky, First: f.First,
	}
}

// FindingPage is a part of a list of findings, the gravest first, then by id.
type FindingPage struct {
	Total    int              `json:"total"` // that the query picks, whatever its limit
	Findings []FindingSummary `json:"findings"`
}

// isNew is whether no earlier run of a finding's campaign has it, though there
// is one.
const isNew = `(EXISTS (SELECT 1 FROM campaigns c JOIN runs e USING (run_id)
		WHERE c.contract = f.contract AND c.name = f.campaign AND e.created < r.created)
	AND NOT EXISTS (SELECT 1 FROM findings g JOIN runs e USING (run_id) WHERE g.finding_id = f.finding_id AND e.created < r.created))`

const findingWhere = ` FROM findings f JOIN runs r USING (run_id) WHERE f.run_id = @run AND (NOT @new OR ` + isNew + `)
	AND (@contract = '' OR f.contract = @contract) AND (@campaign = '' OR f.campaign = @campaign)
	AND (@kind = '' OR f.kind = @kind) AND (@severity < 0 OR f.severity = @severity) AND (NOT @flaky OR f.flaky)
	AND (@text = '' OR f.finding_id LIKE @text ESCAPE '\' OR f.title LIKE @text ESCAPE '\'
		OR f.kind LIKE @text ESCAPE '\' OR f.campaign LIKE @text ESCAPE '\')`

// Findings lists findings of a run that the index knows: of one that has ended,
// however. Those of a live run are told by [Store.Follow].
func (s *Store) Findings(q FindingQuery) (FindingPage, error) {
	page, err := s.findings(q)
	if err != nil {
		return page, diag.Environment("list the findings of run %s: %w", q.RunID, err)
	}
	return page, nil
}

func (s *Store) findings(q FindingQuery) (FindingPage, error) {
	page := FindingPage{Findings: []FindingSummary{}}
	severity := -1
	if q.Severity != nil {
		severity = int(*q.Severity)
	}
	args := []any{
		sql.Named("run", q.RunID), sql.Named("contract", q.Contract), sql.Named("campaign", q.Campaign), sql.Named("kind", q.Kind),
		sql.Named("severity", severity), sql.Named("flaky", q.Flaky), sql.Named("new", q.New), sql.Named("text", likePart(q.Text)),
	}
	if err := s.db.QueryRow("SELECT count(*)"+findingWhere, args...).Scan(&page.Total); err != nil {
		return page, err
	}
	rows, err := s.db.Query(`SELECT f.finding_id, f.fingerprint, f.contract, f.campaign, f.kind, f.title, f.severity, f.cases, f.flaky,
	coalesce((SELECT first_case FROM details d WHERE d.run_id = f.run_id AND d.finding_id = f.finding_id), 0), `+isNew+
		findingWhere+" ORDER BY f.severity DESC, f.finding_id LIMIT @limit OFFSET @offset",
		append(args, sql.Named("limit", limitOf(q.Limit)), sql.Named("offset", max(0, q.Offset)))...)
	if err != nil {
		return page, err
	}
	defer rows.Close()
	for rows.Next() {
		var f FindingSummary
		if err := rows.Scan(&f.ID, &f.Fingerprint, &f.Contract, &f.Campaign, &f.Kind, &f.Title, &f.Severity, &f.Cases, &f.Flaky, &f.First, &f.New); err != nil {
			return page, err
		}
		page.Findings = append(page.Findings, f)
	}
	return page, rows.Err()
}

// MarkNew tells of findings of a live run, which the index does not have yet,
// whether they are new.
func (s *Store) MarkNew(runID string, list []FindingSummary) error {
	if len(list) == 0 {
		return nil
	}
	err := s.markNew(runID, list)
	if err != nil {
		return diag.Environment("look for the findings of run %s in earlier runs: %w", runID, err)
	}
	return nil
}

func (s *Store) markNew(runID string, list []FindingSummary) error {
	asked, err := json.Marshal(list)
	if err != nil {
		return err
	}
	rows, err := s.db.Query(`WITH f AS (SELECT value->>'id' AS finding_id, value->>'contract' AS contract, value->>'campaign' AS campaign FROM json_each(@list))
		SELECT f.finding_id FROM f, runs r WHERE r.run_id = @run AND `+isNew, sql.Named("list", string(asked)), sql.Named("run", runID))
	if err != nil {
		return err
	}
	defer rows.Close()
	fresh := make(map[string]bool)
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return err
		}
		fresh[id] = true
	}
	for i := range list {
		list[i].New = fresh[list[i].ID]
	}
	return rows.Err()
}

// likePart is a pattern for what holds text; "" for no text.
func likePart(text string) string {
	if text == "" {
		return ""
	}
	return "%" + strings.NewReplacer(`\`, `\\`, "%", `\%`, "_", `\_`).Replace(text) + "%"
}

// limitOf is a limit as SQLite takes it; it has a word of its own for none.
func limitOf(n int) int {
	if n > 0 {
		return n
	}
	return -1
}

// FindingOf returns one finding of a run, both named in full, without reading
// the rest of the run's record. Of a live run it is what its journal says now.
func (s *Store) FindingOf(runID, id string) (campaign.Finding, error) {
	var f campaign.Finding
	var body []byte
	err := s.db.QueryRow("SELECT body FROM details WHERE run_id = ? AND finding_id = ?", runID, id).Scan(&body)
	if errors.Is(err, sql.ErrNoRows) {
		return s.journalledFinding(runID, id)
	}
	if err == nil {
		err = s.pack.unpack(body, &f)
	}
	if err != nil {
		return f, diag.Environment("read finding %s of run %s: %w", id, runID, err)
	}
	return f, nil
}

// journalledFinding is the last word of a run's journal on a finding.
func (s *Store) journalledFinding(runID, id string) (f campaign.Finding, err error) {
	j, err := s.OpenJournal(runID)
	if err != nil {
		return f, err
	}
	defer j.Close()
	for e, err := range j.Entries() {
		if err != nil {
			break // what is before the damage counts
		}
		if e.Kind != KindFinding {
			continue
		}
		var said struct {
			Settled *campaign.Finding `json:"settled"`
		}
		if json.Unmarshal(e.Data, &said) == nil && said.Settled != nil && said.Settled.ID == id {
			f = *said.Settled
		}
	}
	if f.ID == "" {
		return f, noSuch("finding", id, runID, nil)
	}
	return f, nil
}

// Sighting is what one run says of a finding.
type Sighting struct {
	RunID   string    `json:"run_id"`
	Created time.Time `json:"created"`
	Status  string    `json:"status"` // of the run
	Seen    bool      `json:"seen"`
	Told    bool      `json:"told"`  // the run ran the case that shows the finding elsewhere first, and so can tell
	Cases   int64     `json:"cases"` // failing cases of the finding
	Flaky   bool      `json:"flaky"`
}

// History returns what the newest runs of a finding's campaign say of it,
// newest first.
func (s *Store) History(f campaign.Finding, limit int) ([]Sighting, error) {
	list, err := s.sightings(f, limit)
	if err != nil {
		return nil, diag.Environment("read the history of finding %s: %w", f.ID, err)
	}
	return list, nil
}

func (s *Store) sightings(f campaign.Finding, limit int) ([]Sighting, error) {
	rows, err := s.db.Query(`
SELECT r.run_id, r.created, r.status, f.finding_id IS NOT NULL, r.complete AND min(c.run) > @first AND sum(c.error) = 0,
	coalesce(f.cases, 0), coalesce(f.flaky, 0)
FROM campaigns c JOIN runs r USING (run_id) LEFT JOIN findings f ON f.run_id = r.run_id AND f.finding_id = @id
WHERE c.contract = @contract AND c.name = @campaign GROUP BY r.run_id`+newestFirst+" LIMIT @limit",
		sql.Named("first", f.First), sql.Named("id", f.ID), sql.Named("contract", f.Contract),
		sql.Named("campaign", f.Campaign), sql.Named("limit", limitOf(limit)))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	list := []Sighting{}
	for rows.Next() {
		var x Sighting
		var created int64
		if err := rows.Scan(&x.RunID, &created, &x.Status, &x.Seen, &x.Told, &x.Cases, &x.Flaky); err != nil {
			return nil, err
		}
		x.Created = time.UnixMicro(created).UTC()
		list = append(list, x)
	}
	return list, rows.Err()
}

// indexParts keeps a record's parts.
func (s *Store) indexParts(tx *sql.Tx, id string, rec *campaign.Record) error {
	outline := *rec
	outline.RunID, outline.Findings = id, []campaign.Finding{}
	body, err := s.pack.packRecord(&outline)
	if err == nil {
		_, err = tx.Exec("INSERT INTO outlines VALUES (?,?)", id, body)
	}
	if err != nil {
		return fmt.Errorf("index the outline of run %s: %w", id, err)
	}
	put, err := tx.Prepare("INSERT OR REPLACE INTO details VALUES (?,?,?,?)")
	if err != nil {
		return fmt.Errorf("index the findings of run %s: %w", id, err)
	}
	defer put.Close()
	for i := range rec.Findings {
		f := &rec.Findings[i]
		body, err := s.pack.pack(f)
		if err == nil {
			_, err = put.Exec(id, f.ID, f.First, body)
		}
		if err != nil {
			return fmt.Errorf("index finding %s of run %s: %w", f.ID, id, err)
		}
	}
	return nil
}
