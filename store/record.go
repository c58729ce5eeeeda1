package store

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/store/blob"
)

// Finish writes the run's record: the last entry of its journal, a blob, and the
// run's outline. Status is "done", "interrupted" or "error"; at is the time
// since the run began.
func (w *Writer) Finish(rec campaign.Record, status string, at time.Duration) error {
	packed, text, err := w.packRecord(&rec)
	if err != nil {
		return err
	}
	if err := w.Append(Entry{Kind: KindEnd, Data: text, At: at}); err != nil {
		return err
	}
	return w.saveRecord(rec, status, packed)
}

// fewParts is how many campaigns and findings a record may have to be encoded in
// one piece.
const fewParts = 64

// packRecord encodes a record as a blob and as the data of its journal entry:
// the record's text or, if it is long, the blob's bytes and the uncompressed
// names of blobs in it.
func (w *Writer) packRecord(rec *campaign.Record) (p blob.Packed, text []byte, err error) {
	if len(rec.Campaigns)+len(rec.Findings) <= fewParts {
		if text, err = json.Marshal(rec); err == nil {
			p, err = w.store.blobs.Pack(text)
		}
	} else {
		var names nameSeeker
		p, err = w.store.blobs.PackFrom(func(to io.Writer) error { return writeRecord(io.MultiWriter(to, &names), rec) })
		text = append(p.Bytes(), names.frame()...)
	}
	if err != nil {
		return p, nil, environment(fmt.Errorf("encode the record of run %s: %w", w.id, err))
	}
	return p, text, nil
}

// nameSeeker collects what may be names of blobs in what is written to it.
type nameSeeker struct {
	digits []byte // the latest digits, without a gap
	found  []byte
}

// Write implements [io.Writer].
func (s *nameSeeker) Write(p []byte) (int, error) {
	for _, c := range p {
		if '0' <= c && c <= '9' || 'a' <= c && c <= 'f' {
			if len(s.digits) <= blob.IDLen {
				s.digits = append(s.digits, c)
			}
			continue
		}
		if len(s.digits) == blob.IDLen {
			s.found = append(append(s.found, s.digits...), '\n')
		}
		s.digits = s.digits[:0]
	}
	return len(p), nil
}

// frame returns the names in a frame that decompression skips.
func (s *nameSeeker) frame() []byte {
	const skippable = 0x184d2a50
	head := binary.LittleEndian.AppendUint32(nil, skippable)
	return append(binary.LittleEndian.AppendUint32(head, uint32(len(s.found))), s.found...)
}

func (w *Writer) saveRecord(rec campaign.Record, status string, packed blob.Packed) error {
	switch status {
	case statusDone, statusInterrupted, statusError:
	default:
		return fmt.Errorf("save the record of run %s: no status %q", w.id, status)
	}
	s := w.store
	s.wrote.Store(true)
	if err := s.blobs.PutPacked(packed); err != nil {
		return environment(err)
	}
	if err := w.flush(); err != nil { // the outline covers the journal up to here
		return err
	}
	w.io.Lock()
	size := w.off
	w.io.Unlock()
	p := projection{manifest: w.man, status: status, rec: rec, blob: packed.ID}
	_, data, err := p.encode(&s.pack, size)
	if err != nil {
		return environment(err)
	}
	// If it cannot be written, it is made again from the journal.
	_ = writeOutline(s.runPath(w.id, outlineFile), data)
	old := w.record
	w.record = packed.ID
	if old != "" && old != packed.ID {
		// A record names its run, so no other run can refer to its blob.
		return environment(s.blobs.Remove(old))
	}
	return nil
}

// writeRecord writes what [json.Marshal] makes of a record, one campaign or
// finding at a time, since the whole may take tens of megabytes.
func writeRecord(to io.Writer, rec *campaign.Record) error {
	frame := *rec
	frame.Campaigns, frame.Findings = nil, nil
	text, err := json.Marshal(frame)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(to) // keeps the first error
	if text, err = writeList(w, text, "campaigns", rec.Campaigns); err != nil {
		return err
	}
	if text, err = writeList(w, text, "findings", rec.Findings); err != nil {
		return err
	}
	_, _ = w.Write(text)
	return w.Flush()
}

// writeList writes a text up to the key of a list that is null in it, and then
// that list. It returns the rest of the text.
func writeList[T any](w *bufio.Writer, text []byte, key string, list []T) ([]byte, error) {
	name := []byte(`"` + key + `":`) // no string of the text contains this, since its quotes are escaped
	before, after, _ := bytes.Cut(text, append(name, "null"...))
	_, _ = w.Write(before)
	_, _ = w.Write(name)
	if list == nil {
		_, _ = w.WriteString("null")
		return after, nil
	}
	_ = w.WriteByte('[')
	for i := range list {
		if i > 0 {
			_ = w.WriteByte(',')
		}
		one, err := json.Marshal(&list[i])
		if err != nil {
			return nil, err
		}
		if _, err := w.Write(one); err != nil {
			return nil, err
		}
	}
	return after, w.WriteByte(']')
}

// readRecord decodes the record of a journal's last entry.
func readRecord(data []byte, rec *campaign.Record) error {
	if !blob.IsPacked(data) {
		return json.Unmarshal(data, rec)
	}
	z, err := zstd.NewReader(bytes.NewReader(data), zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true))
	if err != nil {
		return err
	}
	defer z.Close()
	return json.NewDecoder(z).Decode(rec)
}
