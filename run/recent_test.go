package run

import (
	"fmt"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/campaign"
)

// Of the latest cases, as many are kept as memory allows. Those that may have ended the
// system of a lane are of its round, lately executed, and by itself unless all lanes share it.
func TestRecentCases(t *testing.T) {
	own, other := &Caller{life: &campaign.Life{}}, &Caller{life: &campaign.Life{}}
	now := time.Now()
	own.began = now
	for size, most := range map[int]int{1: mostRecent, 1 << 20: recentBytes >> 20, recentBytes + 1: 1} {
		var r Recent
		for i := range mostRecent + 10 {
			r.add(executed{campaign.Case{Index: int64(i), Payload: make([]byte, size)}, own, now})
			sum := 0
			for _, x := range r.list {
				sum += len(x.at.Payload)
			}
			if n := len(r.list); n > most || n < min(i+1, most/2) || sum != r.size || r.list[n-1].at.Index != int64(i) || r.list[0].at.Index != int64(i-n+1) {
				t.Fatalf("payloads of %d bytes: after case %d: %d cases, %d bytes, counted %d", size, i, n, sum, r.size)
			}
			if size > 1 && i > 40 {
				break
			}
		}
	}
	for _, shared := range []bool{false, true} {
		own.life.Shared = shared
		var r Recent
		for i, x := range []executed{
			{campaign.Case{Round: 1}, own, now}, {campaign.Case{Round: 2}, own, now.Add(-oldest - time.Second)},
			{campaign.Case{Round: 2}, own, now}, {campaign.Case{Round: 2}, other, now}, {campaign.Case{Round: 2}, own, now.Add(-oldest)},
		} {
			x.at.Index = int64(i)
			r.add(x)
		}
		var got []int64
		for _, x := range r.take(own, 2) {
			got = append(got, x.at.Index)
		}
		want, left := "[2 4]", 1
		if shared {
			want, left = "[2 3 4]", 0
		}
		if fmt.Sprint(got) != want || len(r.list) != left || left > 0 && r.list[0].lane != other {
			t.Errorf("shared %v: %v, %+v left", shared, got, r.list)
		}
	}
}
