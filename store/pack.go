package store

import (
	"encoding/json"
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// packer makes values small for the index: JSON, compressed. Its coders are
// made when first needed.
type packer struct {
	once sync.Once
	enc  *zstd.Encoder
	dec  *zstd.Decoder
	err  error
}

func (p *packer) ready() error {
	p.once.Do(func() {
		if p.enc, p.err = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest)); p.err == nil {
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
