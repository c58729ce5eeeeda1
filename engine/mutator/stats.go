package mutator

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// StatsVersion is the version of statistics files.
const StatsVersion = "operator_stats_by_bucket.v0.1"

// Judgement is a verdict in the terms of the statistics.
type Judgement uint8

// The judgements.
const (
	Unknown Judgement = iota
	Pass
	Fail
)

// ParseJudgement parses a verdict in any of the words that oracles use; any other
// word is Unknown.
func ParseJudgement(v any) Judgement {
	s, ok := v.(string)
	if !ok {
		return Unknown
	}
	switch strings.ToUpper(strings.TrimSpace(s)) {
	case "PASS", "OK", "SUCCESS", "TRUE", "1":
		return Pass
	case "FAIL", "NG", "ERROR", "FALSE", "0":
		return Fail
	}
	return Unknown
}

// Tally is what is known about one operator in one bucket.
type Tally struct {
	N, Pass, Fail, Unknown int64
	Scored                 int64   // verdicts that came with a score
	MeanScore              float64 // of those, each from 0 to 1
	Updated                float64 // epoch seconds of the last verdict
}

// PassRate returns Pass divided by Pass+Fail, or 0.
func (t *Tally) PassRate() float64 {
	if t.Pass+t.Fail == 0 {
		return 0
	}
	return float64(t.Pass) / float64(t.Pass+t.Fail)
}

// Stats counts verdicts by bucket and operator. The zero value is ready to use.
type Stats struct {
	tallies map[string]map[string]*Tally
}

// Report adds a verdict. score is the oracle's, clamped to 0..1; nil or NaN means
// that there is no score. at is in epoch seconds.
func (s *Stats) Report(bucket, op string, j Judgement, score *float64, at float64) {
	t := s.at(bucket, op)
	t.N++
	switch j {
	case Pass:
		t.Pass++
	case Fail:
		t.Fail++
	default:
		t.Unknown++
	}
	if score != nil && !math.IsNaN(*score) {
		v := min(max(*score, 0), 1)
		t.Scored++
		t.MeanScore += (v - t.MeanScore) / float64(t.Scored)
	}
	t.Updated = max(t.Updated, at)
}

func (s *Stats) at(bucket, op string) *Tally {
	if s.tallies == nil {
		s.tallies = make(map[string]map[string]*Tally)
	}
	if s.tallies[bucket] == nil {
		s.tallies[bucket] = make(map[string]*Tally)
	}
	t := s.tallies[bucket][op]
	if t == nil {
		t = new(Tally)
		s.tallies[bucket][op] = t
	}
	return t
}

// Get returns what is known about an operator in a bucket.
func (s *Stats) Get(bucket, op string) Tally {
	if t := s.tallies[bucket][op]; t != nil {
		return *t
	}
	return Tally{}
}

// Buckets returns the buckets that were reported, sorted.
func (s *Stats) Buckets() []string { return slices.Sorted(maps.Keys(s.tallies)) }

// Operators returns the operators that were reported in a bucket, sorted.
func (s *Stats) Operators(bucket string) []string {
	return slices.Sorted(maps.Keys(s.tallies[bucket]))
}

// statsFile and tallyFile define the file format.
type statsFile struct {
	SchemaVersion string                          `json:"schema_version"`
	GeneratedAt   float64                         `json:"generated_at"`
	Stats         map[string]map[string]tallyFile `json:"stats"`
}

type tallyFile struct {
	N         int64   `json:"n"`
	NPass     int64   `json:"n_pass"`
	NFail     int64   `json:"n_fail"`
	NUnknown  int64   `json:"n_unknown"`
	PassRate  float64 `json:"pass_rate"`
	NScore    int64   `json:"n_score"`
	AvgScore  float64 `json:"avg_oracle_score"`
	UpdatedTS float64 `json:"last_updated_ts"`
}

// Encode returns the statistics as a file of [StatsVersion]; at is epoch seconds.
func (s *Stats) Encode(at float64) ([]byte, error) {
	f := statsFile{SchemaVersion: StatsVersion, GeneratedAt: at, Stats: make(map[string]map[string]tallyFile)}
	for bucket, ops := range s.tallies {
		f.Stats[bucket] = make(map[string]tallyFile)
		for op, t := range ops {
			f.Stats[bucket][op] = tallyFile{t.N, t.Pass, t.Fail, t.Unknown, t.PassRate(), t.Scored, t.MeanScore, t.Updated}
		}
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(f); err != nil {
		return nil, fmt.Errorf("encoding statistics: %w", err)
	}
	return b.Bytes(), nil
}

// DecodeStats reads a statistics file. It ignores unknown fields, as the format
// demands; another version is refused.
func DecodeStats(data []byte) (*Stats, error) {
	var f statsFile
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, fmt.Errorf("reading statistics: %w", err)
	}
	if f.SchemaVersion != StatsVersion {
		return nil, fmt.Errorf("reading statistics: schema_version must be %q, got %s", StatsVersion, strconv.Quote(f.SchemaVersion))
	}
	s := new(Stats)
	for bucket, ops := range f.Stats {
		for op, t := range ops {
			if t.N < 0 || t.NPass < 0 || t.NFail < 0 || t.NUnknown < 0 || t.NScore < 0 || t.AvgScore < 0 || t.AvgScore > 1 {
				return nil, fmt.Errorf("reading statistics: stats.%s.%s: a count is negative or the mean score not from 0 to 1", bucket, op)
			}
			*s.at(bucket, op) = Tally{t.N, t.NPass, t.NFail, t.NUnknown, t.NScore, t.AvgScore, t.UpdatedTS}
		}
	}
	return s, nil
}

// Merge adds what is known about an operator in a bucket.
func (s *Stats) Merge(bucket, op string, more Tally) {
	t := s.at(bucket, op)
	t.N, t.Pass, t.Fail, t.Unknown = t.N+more.N, t.Pass+more.Pass, t.Fail+more.Fail, t.Unknown+more.Unknown
	if more.Scored > 0 {
		t.MeanScore += (more.MeanScore - t.MeanScore) * float64(more.Scored) / float64(t.Scored+more.Scored)
		t.Scored += more.Scored
	}
	t.Updated = max(t.Updated, more.Updated)
}
