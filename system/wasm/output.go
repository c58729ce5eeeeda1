package wasm

// output keeps what a module writes, up to a limit; the rest is dropped.
type output struct {
	limit int
	data  []byte
}

func (o *output) write(b []byte) {
	o.data = append(o.data, b[:min(len(b), o.limit-len(o.data))]...)
}

func (o *output) clear() { o.data = o.data[:0] }

// take gives what was kept, as the caller's own.
func (o *output) take() []byte {
	if len(o.data) == 0 {
		return nil
	}
	b := append([]byte(nil), o.data...)
	o.clear()
	return b
}
