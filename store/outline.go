package store

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/thresh-dev/thresh/campaign"
)

// An outline is a file beside a run's journal, made from it, so that a list of runs or a
// page about one run does not read journals:
//
//	outlineMagic, CRC-32 of the head, its length (4 bytes each, little-endian)
//	the head, JSON
//	the record without findings; the table of findings; each finding (compressed JSON)
//
// The run's writer writes it under another name and renames it. So does whoever finds
// that it is missing or does not match the journal.
const outlineMagic = "thresh outline 3\n"

// head is what lists of runs show of a run.
type head struct {
	RunSummary
	Record  string     `json:"record,omitempty"` // blob of the record; "": only the journal has it
	Journal int64      `json:"journal"`          // size of the journal that this was made from, in bytes
	Each    []outlined `json:"each"`             // the campaigns, in the order of the run
	IDs     []string   `json:"ids"`              // of the findings, the worst first
	Titles  []string   `json:"titles"`           // of the same findings, in this order
	Frame   int        `json:"frame"`            // bytes of the record without findings
	Table   int        `json:"table"`            // bytes of the table of findings
}

// outlined is one campaign of a run.
type outlined struct {
	Contract string          `json:"contract"`
	Name     string          `json:"name"`
	Source   string          `json:"source,omitempty"`
	Cases    campaign.Counts `json:"cases"`
	Score    *float64        `json:"score,omitempty"`
	Findings int             `json:"findings"`
	basis
}

// row is one finding in the table.
type row struct {
	FindingSummary
	At   int64 `json:"at"` // offset in the outline, after the table
	Size int   `json:"size"`
}

// encode makes the outline of a run from the first journal bytes of its journal.
func (p *projection) encode(pack *packer, journal int64) (*head, []byte, error) {
	rec := &p.rec
	if rec.Campaigns == nil {
		part := partial{man: p.manifest}
		rec.Campaigns = part.record(true).Campaigns
	}
	h := &head{RunSummary: RunSummary{
		RunID: p.manifest.RunID, Created: time.UnixMicro(p.manifest.Created.UnixMicro()).UTC(), Status: p.status, Verdict: rec.Verdict,
		Complete: rec.Complete, Stopped: rec.Stopped, Digest: rec.Digest, Command: p.manifest.Command, Seconds: rec.Environment.Seconds,
		Contracts: []string{}, Campaigns: []string{},
	}, Record: p.blob, Journal: journal, Each: []outlined{}, IDs: []string{}, Titles: []string{}}

	list := make(map[string]*campaign.Finding, len(rec.Findings)) // if two have one id, the later one counts
	for i := range rec.Findings {
		list[rec.Findings[i].ID] = &rec.Findings[i]
	}
	table := make([]row, 0, len(list))
	found := make(map[campaignKey]int)
	for i := range rec.Findings {
		f := &rec.Findings[i]
		if list[f.ID] != f {
			continue
		}
		table = append(table, row{FindingSummary: SummaryOf(*f)})
		found[campaignKey{f.Contract, f.Campaign}]++
	}
	slices.SortStableFunc(table, func(a, b row) int { return cmp.Compare(b.Severity, a.Severity) })
	var bodies []byte
	for i := range table {
		body, err := pack.pack(list[table[i].ID])
		if err != nil {
			return nil, nil, fmt.Errorf("encode finding %s of run %s: %w", table[i].ID, h.RunID, err)
		}
		table[i].At, table[i].Size = int64(len(bodies)), len(body)
		bodies = append(bodies, body...)
		h.IDs, h.Titles = append(h.IDs, table[i].ID), append(h.Titles, table[i].Title)
		if table[i].Flaky {
			h.Flaky++
		}
	}
	h.Findings = len(table)
	for i := range rec.Campaigns {
		c := &rec.Campaigns[i]
		h.Each = append(h.Each, outlined{c.Contract, c.Name, c.Source, c.Cases, c.Score, found[campaignKey{c.Contract, c.Name}], p.manifest.basis(c)})
		if !slices.Contains(h.Contracts, c.Contract) {
			h.Contracts = append(h.Contracts, c.Contract)
		}
		h.Campaigns = append(h.Campaigns, c.Name)
		h.Cases.Plus(c.Cases)
	}
	frame := *rec
	frame.RunID, frame.Findings = h.RunID, []campaign.Finding{}
	framed, err := pack.packRecord(&frame)
	if err != nil {
		return nil, nil, fmt.Errorf("encode the outline of run %s: %w", h.RunID, err)
	}
	tabled, err := pack.pack(table)
	if err != nil {
		return nil, nil, fmt.Errorf("encode the findings of run %s: %w", h.RunID, err)
	}
	h.Frame, h.Table = len(framed), len(tabled)
	text, err := json.Marshal(h)
	if err != nil {
		return nil, nil, fmt.Errorf("encode the outline of run %s: %w", h.RunID, err)
	}
	out := binary.LittleEndian.AppendUint32([]byte(outlineMagic), crc32.ChecksumIEEE(text))
	out = binary.LittleEndian.AppendUint32(out, uint32(len(text)))
	return h, slices.Concat(out, text, framed, tabled, bodies), nil
}

// outline is an open outline.
type outline struct {
	*head
	from io.ReaderAt
	at   int64 // where the head ends
	pack *packer
}

var errOutline = errors.New("no whole outline")

// headRead is how many bytes of an outline are read first: most heads are shorter.
const headRead = 4 << 10

func readOutline(from io.ReaderAt, pack *packer) (*outline, error) {
	const fixed = len(outlineMagic) + 8
	buf := make([]byte, headRead)
	n, err := from.ReadAt(buf, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if buf = buf[:n]; n < fixed || string(buf[:len(outlineMagic)]) != outlineMagic {
		return nil, errOutline
	}
	sum, size := binary.LittleEndian.Uint32(buf[fixed-8:]), int64(binary.LittleEndian.Uint32(buf[fixed-4:]))
	text := buf[fixed:min(int64(n), int64(fixed)+size)]
	if int64(len(text)) < size {
		if text, err = io.ReadAll(io.NewSectionReader(from, int64(fixed), size)); err != nil {
			return nil, err
		}
	}
	o := &outline{head: new(head), from: from, at: int64(fixed) + size, pack: pack}
	if crc32.ChecksumIEEE(text) != sum || json.Unmarshal(text, o.head) != nil {
		return nil, errOutline
	}
	return o, nil
}

// part decodes the part at an offset from the end of the head.
func (o *outline) part(at int64, size int, v any) error {
	b := make([]byte, size)
	if _, err := o.from.ReadAt(b, o.at+at); err != nil && !(errors.Is(err, io.EOF) && size == 0) {
		return errors.Join(errOutline, err)
	}
	if err := o.pack.unpack(b, v); err != nil {
		return errors.Join(errOutline, err)
	}
	return nil
}

// frame returns the record without its findings.
func (o *outline) frame() (rec campaign.Record, err error) { return rec, o.part(0, o.Frame, &rec) }

// rows returns the table of findings.
func (o *outline) rows() (list []row, err error) {
	if o.Findings == 0 {
		return nil, nil
	}
	return list, o.part(int64(o.Frame), o.Table, &list)
}

func (o *outline) finding(r row) (f campaign.Finding, err error) {
	return f, o.part(int64(o.Frame+o.Table)+r.At, r.Size, &f)
}

// said encodes everything that an outline says about its run, independent of offsets and
// sizes.
func (o *outline) said() ([]byte, error) {
	h := *o.head
	h.Frame, h.Table = 0, 0
	rec, err := o.frame()
	if err != nil {
		return nil, err
	}
	rows, err := o.rows()
	if err != nil {
		return nil, err
	}
	for i, r := range rows {
		f, err := o.finding(r)
		if err != nil {
			return nil, err
		}
		rec.Findings = append(rec.Findings, f)
		rows[i].At, rows[i].Size = 0, 0
	}
	return json.Marshal([]any{h, rec, rows})
}

// CheckOutline compares the outline of a run, from which lists and pages are made, with
// its journal. An outline that is missing, or belongs to a journal of another size, is
// no error: it is made again when it is needed.
func (s *Store) CheckOutline(id string) error {
	f, err := os.Open(s.runPath(id, outlineFile))
	if err != nil {
		return nil
	}
	defer f.Close()
	kept, err := readOutline(f, &s.pack)
	if err != nil {
		return fmt.Errorf("the outline, from which lists are made, is damaged: delete %s to rebuild it", s.runPath(id, outlineFile))
	}
	if fi, err := os.Stat(s.runPath(id, journalFile)); err != nil || fi.Size() != kept.Journal {
		return err
	}
	p, err := s.projected(id, false)
	if err != nil {
		return err
	}
	_, data, err := p.encode(&s.pack, kept.Journal)
	if err != nil {
		return err
	}
	made, err := readOutline(bytes.NewReader(data), &s.pack)
	if err != nil {
		return err
	}
	want, err := made.said()
	if err != nil {
		return err
	}
	if got, err := kept.said(); err != nil || !bytes.Equal(got, want) {
		return fmt.Errorf("the outline, from which lists are made, differs from the journal: delete %s to rebuild it", s.runPath(id, outlineFile))
	}
	return nil
}

// writeOutline writes an outline beside its journal.
func writeOutline(path string, data []byte) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), unbornOutline)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // if this fails, it is removed with the run
	}
	return err
}

// withOutline calls read with the outline of a run, and makes the outline again if it
// cannot be read.
func (s *Store) withOutline(id string, read func(*outline) error) error {
	k, err := s.entryOf(id)
	if err != nil {
		return err
	}
	if err = k.open(s, read); !errors.Is(err, errOutline) && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if k, err = s.rebuild(id); err != nil {
		return err
	}
	return k.open(s, read)
}

func (k *entry) open(s *Store, read func(*outline) error) error {
	var from io.ReaderAt = bytes.NewReader(k.data)
	if k.data == nil {
		f, err := os.Open(s.runPath(k.RunID, outlineFile))
		if err != nil {
			return err
		}
		defer f.Close()
		from = f
	}
	o, err := readOutline(from, &s.pack)
	if err != nil {
		return err
	}
	return read(o)
}
