package main

import (
	"context"
	engine "github.com/thresh-dev/thresh/port/process"
	"time"
)

// contest is a target with its contenders, which are compared with one of them.
type contest struct {
	name       string
	base       *contender // nil: there is nothing to compare with
	contenders []contender
}

// contender is one way to run a target many times.
type contender struct {
	name string
	// pilot is the number of cases, per worker, that measure its speed first.
	pilot int64
	run   func(ctx context.Context, workers int, cases int64) (burst, error)
}

// burst is the result of running some cases without a break. Together with a burst of only a few
// cases, the difference gives the speed after set-up.
type burst struct {
	cases   int64
	seconds float64 // by the contender's own clock
	cpu     time.Duration

	few    int64 // cases of the smaller burst; 0: there was none
	setup  float64
	fewCPU time.Duration
}

// rate is cases per second, for all workers together.
func (b burst) rate() float64 { return perSecond(b.cases, b.seconds) }

// steady is the rate after set-up.
func (b burst) steady() float64 { return perSecond(b.cases-b.few, b.seconds-b.setup) }

// cpuMicros is processor time per case: of the tool, of the target and of the kernel on their
// behalf.
func (b burst) cpuMicros() float64 {
	if b.cases <= b.few {
		return 0
	}
	return float64((b.cpu - b.fewCPU).Microseconds()) / float64(b.cases-b.few)
}

func perSecond(cases int64, seconds float64) float64 {
	if seconds <= 0 {
		return 0
	}
	return float64(cases) / seconds
}

// contests lists the comparisons that are possible on this machine.
func contests(l *lab) []contest {
	var all []contest
	if reader := l.programs.reader; reader != "" {
		target := []string{reader, inputWord}
		c := contest{name: "static C", base: l.loop(target)}
		c.contenders = append(c.contenders,
			l.thresh("spawn", process{argv: target, pilot: 200}),
			l.thresh("zygote", process{argv: target, pilot: 200}),
		)
		c.contenders = append(c.contenders, l.peers(target)...)
		all = append(all, c)
	}
	if jq := l.programs.jq; jq != "" {
		target := []string{jq, "-c", ".", inputWord}
		// Exit code 2 means not JSON, as most mutations are.
		cold, warm := process{argv: target, okExit: "2", pilot: 50}, process{argv: target, okExit: "2", pilot: 300}
		all = append(all, contest{name: "jq", base: l.loop(target), contenders: []contender{
			l.thresh("spawn", cold),
			l.thresh("zygote", warm),
		}})
	}
	if persistent := l.programs.persistent; persistent != "" {
		all = append(all, contest{name: "persistent C", base: l.aflPersistent(persistent), contenders: []contender{
			l.executorAlone(engine.AFL, process{argv: []string{persistent}, pilot: 4000}),
			l.thresh("afl", process{argv: []string{persistent}, pilot: 4000}),
		}})
	}
	return all
}

// inputWord stands for the path of the input in a target's command line.
const inputWord = "@@"
