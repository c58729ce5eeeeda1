package lock

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"time"
)

// processStart returns when this process was started, according to the kernel,
// or now if that cannot be read.
func processStart() time.Time {
	stat, err1 := os.ReadFile("/proc/self/stat")
	uptime, err2 := os.ReadFile("/proc/uptime")
	if err1 != nil || err2 != nil {
		return time.Now()
	}
	// The second field, the command in parentheses, may hold anything; the
	// start time is field 22, in ticks of 1/100 s since boot.
	after := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	up := strings.Fields(string(uptime))
	if len(after) < 20 || len(up) == 0 {
		return time.Now()
	}
	ticks, err1 := strconv.ParseInt(after[19], 10, 64)
	seconds, err2 := strconv.ParseFloat(up[0], 64)
	if err1 != nil || err2 != nil {
		return time.Now()
	}
	const tick = 10 * time.Millisecond
	age := time.Duration(seconds*float64(time.Second)) - time.Duration(ticks)*tick
	return time.Now().Add(-age)
}
