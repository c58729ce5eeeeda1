package forkline

import (
	"testing"
	"time"
)

func TestWatchdogBitesUntilContent(t *testing.T) {
	bites := make(chan int, 10)
	w := NewWatchdog(func(times int) time.Duration {
		bites <- times
		if times < 2 {
			return time.Millisecond
		}
		return 0
	})
	defer w.Close()
	for range 3 {
		w.Start(time.Millisecond)
		for want := range 3 {
			if got := <-bites; got != want {
				t.Fatalf("bite %d, want %d", got, want)
			}
		}
		if !w.Stop() {
			t.Error("Stop does not report the overdue wait")
		}
	}
}

// A wait that is overdue is bitten whatever the waits before it were allowed.
func TestWatchdogShorterWait(t *testing.T) {
	bites := make(chan int, 1)
	w := NewWatchdog(func(times int) time.Duration { bites <- times; return 0 })
	defer w.Close()
	w.Start(time.Hour)
	if w.Stop() {
		t.Error("a wait of no time is overdue")
	}
	w.Start(time.Millisecond)
	<-bites
	w.Stop()
}

func TestWatchdogLeavesWaitsInTimeAlone(t *testing.T) {
	bites := make(chan int, 100)
	w := NewWatchdog(func(times int) time.Duration { bites <- times; return 0 })
	defer w.Close()
	for range 2000 {
		w.Start(time.Minute)
		w.Stop()
	}
	w.fires = time.Time{}
	w.look() // the timer fires between two waits
	w.Start(time.Minute)
	w.look() // and within one that is not overdue
	if w.Stop() || len(bites) > 0 {
		t.Error("a wait that ended in time was bitten")
	}
}

func TestWatchdogAllocatesNothing(t *testing.T) {
	w := NewWatchdog(func(int) time.Duration { return 0 })
	defer w.Close()
	w.Start(time.Minute)
	if n := testing.AllocsPerRun(100, func() { w.Start(time.Minute); w.Stop() }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
