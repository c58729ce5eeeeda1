package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// machine describes the machine and its load in one line.
func machine() string {
	model, kernel, load := "", "", "unknown"
	if info, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		_, rest, _ := strings.Cut(string(info), "model name\t: ")
		model, _, _ = strings.Cut(rest, "\n")
	}
	if release, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		kernel = strings.TrimSpace(string(release))
	}
	if avg, err := os.ReadFile("/proc/loadavg"); err == nil {
		if f := strings.Fields(string(avg)); len(f) >= 3 {
			load = strings.Join(f[:3], " ")
		}
	}
	return fmt.Sprintf("%s: %s/%s %s, %d × %s, %s, load %s", time.Now().UTC().Format(time.DateTime), runtime.GOOS, runtime.GOARCH, kernel,
		runtime.NumCPU(), model, runtime.Version(), load)
}

// load is the processor time that the machine has spent, in ticks of 10 ms.
type load struct{ busy, total float64 }

// readLoad reads /proc/stat; without it, the load is zero.
func readLoad() load {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return load{}
	}
	line, _, _ := strings.Cut(string(text), "\n")
	return parseLoad(line)
}

// parseLoad reads the line "cpu user nice system idle iowait irq softirq steal".
func parseLoad(line string) load {
	var l load
	fields := strings.Fields(line)
	if len(fields) < 9 {
		return l
	}
	for i, f := range fields[1:9] {
		n, err := strconv.ParseFloat(f, 64)
		if err != nil {
			return load{}
		}
		l.total += n
		if i != 3 && i != 4 {
			l.busy += n
		}
	}
	return l
}

// foreign is the share of all processors that other processes used between two samples; own is this
// bench's use.
func (l load) foreign(later load, own time.Duration) (share float64, ok bool) {
	total := later.total - l.total
	if total <= 0 {
		return 0, false
	}
	const tick = 10 * time.Millisecond
	return max((later.busy-l.busy-float64(own)/float64(tick))/total, 0), true
}
