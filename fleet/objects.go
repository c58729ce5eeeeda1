package fleet

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
)

const objectSubject = prefix + ".object."

// partBytes is how many bytes of an object one message carries.
const partBytes = 512 << 10

// put offers an object under its name, which contains the digest of its content, until it is
// dropped or the link is closed.
func (l *Link) put(name string, data []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.objects == nil {
		if _, err := l.nc.Subscribe(objectSubject+"*", l.giveObject); err != nil {
			return fmt.Errorf("offer an object of %d bytes to the fleet: %w", len(data), err)
		}
		l.objects = make(map[string][]byte)
	}
	l.objects[name] = data
	return nil
}

func (l *Link) drop(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.objects, name)
}

// giveObject answers with the size of an object and a part of it.
func (l *Link) giveObject(m *nats.Msg) {
	l.mu.Lock()
	data, there := l.objects[strings.TrimPrefix(m.Subject, objectSubject)]
	l.mu.Unlock()
	from, err := strconv.Atoi(string(m.Data))
	if !there || err != nil || from < 0 || from > len(data) {
		return // another member may have it
	}
	part := binary.LittleEndian.AppendUint64(nil, uint64(len(data)))
	_ = m.Respond(append(part, data[from:min(from+partBytes, len(data))]...)) // if it is lost, the reader asks again
}

// get fetches an object from whoever has it. It waits as long as its patience if nobody does.
func (l *Link) get(ctx context.Context, name string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, l.patience)
	defer cancel()
	data := []byte{}
	for {
		try, stop := context.WithTimeout(ctx, 5*time.Second)
		m, err := l.nc.RequestWithContext(try, objectSubject+name, strconv.AppendInt(nil, int64(len(data)), 10))
		stop()
		if err == nil && len(m.Data) < 8 {
			err = errors.New("malformed part")
		}
		if err == nil {
			size := binary.LittleEndian.Uint64(m.Data)
			if data = append(data, m.Data[8:]...); uint64(len(data)) >= size {
				return data, nil
			}
			if size <= maxBundle && len(m.Data) > 8 {
				continue
			}
			return nil, fmt.Errorf("fetch object %s of the fleet: it has %d bytes, and a part of %d", name, size, len(m.Data)-8)
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("fetch object %s of the fleet: %w", name, err)
		case <-time.After(250 * time.Millisecond):
		}
	}
}
