package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"

	"github.com/thresh-dev/thresh/campaign"
)

// packWindow is how far back compression looks; the encoder keeps twice that much
// memory.
const packWindow = 512 << 10

// packer compresses values for outlines, as JSON. Its coders are made when first
// needed.
type packer struct {
	once sync.Once
	enc  *zstd.Encoder
	dec  *zstd.Decoder
	err  error
}

func (p *packer) ready() error {
	p.once.Do(func() {
		if p.enc, p.err = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(packWindow)); p.err == nil {
			p.dec, p.err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
		}
	})
	return p.err
}

func (p *packer) pack(v any) ([]byte, error) {
	if err := p.ready(); err != nil {
		return nil, err
	}
	data, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return p.enc.EncodeAll(data, nil), nil
}

// packRecord is pack for a record, which may have very many campaigns.
func (p *packer) packRecord(rec *campaign.Record) ([]byte, error) {
	if len(rec.Campaigns)+len(rec.Findings) <= fewParts {
		return p.pack(rec)
	}
	var b bytes.Buffer
	enc, err := zstd.NewWriter(&b, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(packWindow))
	if err != nil {
		return nil, err
	}
	if err := errors.Join(writeRecord(enc, rec), enc.Close()); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func (p *packer) unpack(b []byte, v any) error {
	if err := p.ready(); err != nil {
		return err
	}
	data, err := p.dec.DecodeAll(b, nil)
	if err != nil {
		return fmt.Errorf("expand: %w", err)
	}
	return json.Unmarshal(data, v)
}
