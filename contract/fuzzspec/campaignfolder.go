package fuzzspec

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"time"

	"github.com/thresh-dev/thresh/engine/jsontree"
)

// CampaignFolder is <work_root_base>/llmfuzz/campaigns/<campaign id>, which holds a campaign's case
// list and summary.
type CampaignFolder struct{ base, id string }

// NewCampaignFolder returns the folder of a campaign without making it. It rejects an id that could
// lead elsewhere.
func NewCampaignFolder(workRootBase, campaignID string) (CampaignFolder, error) {
	if err := CheckID("campaign id", campaignID); err != nil {
		return CampaignFolder{}, err
	}
	return CampaignFolder{base: NormalizePath(workRootBase), id: campaignID}, nil
}

// Dir returns the absolute path of the folder.
func (f CampaignFolder) Dir() string { return NormalizePath(f.base + "/llmfuzz/campaigns/" + f.id) }

func (f CampaignFolder) file(name string) string { return filepath.Join(f.Dir(), name) }

// CampaignInfo is the content of campaign.json.
type CampaignInfo struct {
	Created    time.Time
	SpecPath   string // as the user typed it
	SpecText   []byte
	StartIndex int64
}

// Begin makes the folder and its campaign.json. A folder that belongs to another document is an
// error; a folder of the same document is continued.
func (f CampaignFolder) Begin(info CampaignInfo) error {
	name := f.file("campaign.json")
	want := digest(info.SpecText)
	data, err := os.ReadFile(name)
	switch {
	case err == nil:
		got, _ := parseObject(data).Get("spec_sha256").Str()
		if got != want {
			return fmt.Errorf("begin campaign %s: its folder %s belongs to another document: spec_sha256 mismatch, %s there, %s now",
				f.id, f.Dir(), cmp.Or(got, "none"), want)
		}
		return nil
	case !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("begin campaign %s: %w", f.id, err)
	}
	if err := os.MkdirAll(f.file("triage"), 0o755); err != nil {
		return fmt.Errorf("begin campaign %s: make its folder: %w", f.id, err)
	}
	return f.replace("campaign.json", pretty(object{
		"campaign_id": f.id, "created_at_utc": stamp(info.Created), "spec_path": info.SpecPath,
		"spec_sha256": want, "start_index": info.StartIndex,
	}))
}

func (f CampaignFolder) replace(name string, data []byte) error {
	return replaceFile(f.file(name), func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// CaseLine is one line of cases.jsonl.
type CaseLine struct {
	Time        time.Time
	CaseIndex   int64
	RunID       string
	ArtifactID  string // empty: none, as for a case that could not run
	InputSHA256 string
	Planned     bool   // a dry run: mode PLAN, verdict DRY_RUN, nothing executed
	Verdict     string // final: PASS, FAIL, TIMEOUT or BLOCKED
	Reason      string
	ExitCode    *int // nil: none
	Elapsed     time.Duration
	Signature   string // signature_v1; empty: the line has none
	Extra       map[string]any
}

// append writes the line. verdict_eval repeats the final verdict.
func (c *CaseLine) append(b []byte, campaignID string) []byte {
	optional := func(s string) any {
		if s == "" {
			return nil
		}
		return s
	}
	o := object{
		"ts_utc": stamp(c.Time), "campaign_id": campaignID, "case_index": c.CaseIndex, "run_id": c.RunID, "run_root": "runs/" + c.RunID,
		"artifact_id": optional(c.ArtifactID), "input_sha256": optional(c.InputSHA256), "mode": "EXEC",
		"verdict": c.Verdict, "reason": c.Reason, "runner_exit_code": nil, "timeout": c.Verdict == VerdictTimeout,
		"elapsed_seconds": seconds(c.Elapsed), "failure_record": "runs/" + c.RunID + "/" + fileRecord,
	}
	if c.ExitCode != nil {
		o["runner_exit_code"] = *c.ExitCode
	}
	switch {
	case c.Planned:
		o["mode"], o["verdict"], o["reason"], o["runner_exit_code"] = "PLAN", VerdictDryRun, "plan_only", nil
		o["timeout"], o["elapsed_seconds"] = false, 0.0
	case c.Signature != "":
		o["signature_v1"], o["verdict_eval"] = c.Signature, c.Verdict
	}
	n := tree(withExtra(o, c.Extra))
	return append(jsontree.Compact.Append(b, &n), '\n')
}

// verdict is the line's verdict as summaries count it.
func (c *CaseLine) verdict() string {
	if c.Planned {
		return VerdictDryRun
	}
	return c.Verdict
}

// Write replaces cases.jsonl and summary.json with all the lines of the campaign, in case order;
// requested is the number of cases asked for. Each file is replaced atomically. Case indices must
// increase: otherwise Write returns an error and changes nothing.
func (f CampaignFolder) Write(specText []byte, requested int64, now time.Time, lines iter.Seq[CaseLine]) error {
	s := summary{Counts: map[string]int{VerdictPass: 0, VerdictFail: 0, VerdictTimeout: 0, VerdictDryRun: 0, VerdictBlocked: 0}}
	err := replaceFile(f.file("cases.jsonl"), func(w io.Writer) error {
		out := bufio.NewWriterSize(w, 1<<16)
		var b []byte
		var last *int64
		for line := range lines {
			if last != nil && line.CaseIndex <= *last {
				return fmt.Errorf("case %d after case %d: cases must come once and in order", line.CaseIndex, *last)
			}
			index := line.CaseIndex
			last = &index
			s.add(&line)
			b = line.append(b[:0], f.id)
			if _, err := out.Write(b); err != nil {
				return err
			}
		}
		return out.Flush()
	})
	if err != nil {
		return fmt.Errorf("list the cases of campaign %s: %w", f.id, err)
	}
	return f.replace("summary.json", s.json(f.id, digest(specText), requested, now))
}

// summary sums up case lines.
type summary struct {
	Counts         map[string]int
	completed      int64
	started, ended time.Time
	firstFailure   *CaseLine
	hasLine        bool
}

func (s *summary) add(line *CaseLine) {
	s.completed++
	s.Counts[line.verdict()]++
	if !s.hasLine {
		s.started, s.hasLine = line.Time, true
	}
	s.ended = line.Time
	if v := line.verdict(); s.firstFailure == nil && (v == VerdictFail || v == VerdictTimeout) {
		kept := *line
		s.firstFailure = &kept
	}
}

func (s *summary) json(id, specSum string, requested int64, now time.Time) []byte {
	if !s.hasLine {
		s.started, s.ended = now, now
	}
	o := object{
		"campaign_id": id, "spec_sha256": specSum, "started_at_utc": stamp(s.started), "finished_at_utc": stamp(s.ended),
		"cases_total_requested": requested, "cases_completed": s.completed, "counts": s.Counts, "first_failure": nil,
	}
	if c := s.firstFailure; c != nil {
		o["first_failure"] = object{"case_index": c.CaseIndex, "run_id": c.RunID}
	}
	return pretty(o)
}

// ReadCases returns the content of cases.jsonl. It drops a last line that a crash left incomplete,
// and says so in the note.
func (f CampaignFolder) ReadCases() (lines []byte, note string, err error) {
	data, err := os.ReadFile(f.file("cases.jsonl"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, "", nil
	}
	if err != nil {
		return nil, "", fmt.Errorf("read the cases of campaign %s: %w", f.id, err)
	}
	start := bytes.LastIndexByte(data, '\n') + 1
	if last := data[start:]; len(last) > 0 && parseObject(last) == nil {
		return data[:start], fmt.Sprintf("%s: the last line was cut off in the middle (%d bytes); it is skipped", f.file("cases.jsonl"), len(last)), nil
	}
	return data, "", nil
}

// Triage groups the cases of the campaign and writes triage/triage.json and, on request,
// triage/triage.md and the top clusters in summary.json. A missing campaign is an error.
func (f CampaignFolder) Triage(o TriageOptions, markdown, patchSummary bool) (t Triage, note string, err error) {
	if info, err := os.Stat(f.Dir()); err != nil || !info.IsDir() {
		return t, "", fmt.Errorf("triage campaign %s: there is no folder %s", f.id, f.Dir())
	}
	in := TriageInput{CampaignID: f.id, Eval: f.eval}
	if in.Cases, note, err = f.ReadCases(); err != nil {
		return t, "", err
	}
	if in.Campaign, err = f.optional("campaign.json"); err != nil {
		return t, "", err
	}
	if in.Summary, err = f.optional("summary.json"); err != nil {
		return t, "", err
	}
	if err := os.MkdirAll(f.file("triage"), 0o755); err != nil {
		return t, "", fmt.Errorf("triage campaign %s: make its folder: %w", f.id, err)
	}
	t = TriageCampaign(in, o)
	err = f.replace("triage/triage.json", t.JSON)
	if markdown && err == nil {
		err = f.replace("triage/triage.md", t.Markdown)
	}
	if patchSummary && t.Summary != nil && err == nil {
		err = f.replace("summary.json", t.Summary)
	}
	return t, note, err
}

func (f CampaignFolder) optional(name string) ([]byte, error) {
	data, err := os.ReadFile(f.file(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("triage campaign %s: %w", f.id, err)
	}
	return data, nil
}

// eval finds the evaluation of a run below the campaign, or below the nearest folder above it that
// holds runs.
func (f CampaignFolder) eval(runID string) []byte {
	if CheckID("run id", runID) != nil {
		return nil
	}
	for dir := f.Dir(); ; dir = filepath.Dir(dir) {
		if info, err := os.Stat(filepath.Join(dir, "runs")); err == nil && info.IsDir() {
			data, err := os.ReadFile(filepath.Join(dir, "runs", runID, "llmfuzz", "eval.json"))
			if err == nil || dir != f.Dir() {
				return data // nil if it could not be read: the case stays unknown
			}
		}
		if dir == filepath.Dir(dir) {
			return nil
		}
	}
}
