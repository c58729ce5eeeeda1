package shrink

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

func TestZZ(t *testing.T) {
	big := 1 << 20
	ins := map[string][]byte{
		"pairs":  bytes.Repeat([]byte("[]"), big/2),
		"deep":   []byte(strings.Repeat("[", big/2) + strings.Repeat("]", big/2)),
		"open":   bytes.Repeat([]byte("(["), big/2),
		"words":  bytes.Repeat([]byte("ab cd "), big/6),
		"quotes": bytes.Repeat([]byte(`\'"`), big/3),
		"tags":   bytes.Repeat([]byte(`<a b="c"><d/></a>`), big/17),
		"lt":     bytes.Repeat([]byte(`<a `), big/3),
		"noise":  noise(big),
		"nums":   bytes.Repeat([]byte(`12345,`), big/6),
	}
	for n, in := range ins {
		for _, mode := range []string{"len", "none", "mid"} {
			calls := 0
			start := time.Now()
			got, st := Bytes(context.Background(), in, func(b []byte) (bool, error) {
				if calls++; calls > 2000 {
					return false, errors.New("budget")
				}
				switch mode {
				case "len":
					return len(b) > len(in)/2, nil
				case "none":
					return calls == 1, nil
				}
				return bytes.Contains(b, in[len(in)/2-5:len(in)/2+3]) && bytes.Contains(b, in[:3]), nil
			})
			t.Log(n, mode, len(got), st.Tests, st.CacheHits, st.Err, time.Since(start).Milliseconds())
		}
	}
}
func TestZAvg(t *testing.T) {
}
