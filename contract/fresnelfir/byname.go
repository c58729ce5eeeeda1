package fresnelfir

import (
	"slices"

	"github.com/thresh-dev/thresh/engine/choice"
)

// The meaning of a decision on a tape depends on its position: without an earlier action, later
// decisions mean something else, and the same number is another instance. To remove something, a
// traversal is therefore replayed by what its decisions name: for the same alternative the same
// branch, for the same choice the same instance.

// The topics of decisions. A topic combines a kind with a number within the kind.
const (
	topicStart     uint64 = iota // of the traversal as a whole
	topicRoot                    // a thread's protocol
	topicThread                  // the thread to act: a step begins
	topicBranch                  // the branch of an alternative
	topicMore                    // whether a repetition continues
	topicAttempt                 // whether to try something forbidden
	topicForbidden               // what to try
	topicPick                    // an instance
	topicPlain                   // a value; 0 is the plainest
	topicOther                   // whether an input is any value of a large domain, and which one

	topicBits  = 32
	topicAside = 1 << 63 // the decision belongs to an attempt
)

// setTopic sets the topic of the next decision.
func (t *traversal) setTopic(kind uint64, n int) { t.src.Topic = t.aside | kind<<topicBits | uint64(n) }

// named is a decision: its topic, and what it names (a branch, an instance or a value), whatever
// its position was.
type named struct{ topic, name uint64 }

func (d named) kind() uint64 { return d.topic &^ topicAside >> topicBits }

// script is the decisions of a traversal by name. The first scene is the start; each other scene is
// a step.
type script struct {
	scenes []scene
	births []choice.Span // by thread: the span of its decisions in the start
}

type scene struct {
	thread int
	list   []named
	made   [2]int // number of instances before and after
}

// clone returns a script whose decisions may be changed.
func (s *script) clone() *script {
	c := &script{scenes: slices.Clone(s.scenes), births: s.births}
	for i := range c.scenes {
		c.scenes[i].list = slices.Clone(c.scenes[i].list)
	}
	return c
}

// instances returns the number of instances at the end.
func (s *script) instances() int { return s.scenes[len(s.scenes)-1].made[1] }

// withoutStep returns the script without a step.
func (s *script) withoutStep(step int) *script {
	return &script{scenes: slices.Delete(slices.Clone(s.scenes), step, step+1)}
}

// withoutInstance returns the script without the steps that create or choose an instance.
func (s *script) withoutInstance(i int) *script {
	c := &script{scenes: s.scenes[:1:1]}
	for _, x := range s.scenes[1:] {
		made := x.made[0] <= i && i < x.made[1]
		if !made && !slices.ContainsFunc(x.list, func(d named) bool { return d.kind() == topicPick && d.name == uint64(i) }) {
			c.scenes = append(c.scenes, x)
		}
	}
	return c
}

// withoutThread returns the script without a thread. Its steps go to heir; -1: to nobody.
func (s *script) withoutThread(thread, heir int) *script {
	c := s.clone()
	start := &c.scenes[0].list
	(*start)[0].name-- // the number of threads is decided first
	*start = slices.Delete(*start, s.births[thread].From, s.births[thread].To)
	if heir < 0 {
		c.scenes = slices.DeleteFunc(c.scenes, func(x scene) bool { return x.thread == thread })
	}
	for i := range c.scenes {
		x := &c.scenes[i]
		if x.thread == thread || x.thread == heir && heir >= 0 {
			for k := range x.list {
				if heir >= 0 && x.list[k].kind() == topicMore {
					x.list[k].name = 1 // the heir has more to do than before
				}
			}
			x.thread = heir
		}
		if x.thread > thread {
			x.thread--
		}
	}
	return c
}

// withoutAttempt returns the script without the attempt that a decision begins.
func (s *script) withoutAttempt(i, k int) *script {
	c := s.withValue(i, k, 0)
	list := &c.scenes[i].list
	for k++; k < len(*list) && (*list)[k].topic&topicAside != 0; {
		*list = slices.Delete(*list, k, k+1)
	}
	return c
}

// withValue returns the script with another value.
func (s *script) withValue(i, k int, name uint64) *script {
	c := s.clone()
	c.scenes[i].list[k].name = name
	return c
}

// prompter replays a traversal from a script or a tape, and records the script of what happened.
type prompter struct {
	t     *traversal
	tape  []uint64 // the tape to follow; nil: follow the script
	of    *script
	gone  int // the script's thread that was removed; -1: none
	at    int // index of the scene
	left  []named
	names map[uint64]uint64 // maps instances of the script to the current ones
	now   script
}

// play runs a traversal.
func (p *prompter) play() {
	t := p.t
	p.names, p.now.scenes = map[uint64]uint64{}, []scene{{thread: -1}}
	if p.of != nil {
		p.left = slices.Clone(p.of.scenes[0].list)
	}
	t.src.Ask(p.answer)
	t.run()
	p.close()
	for _, from := range t.born {
		x := choice.Span{From: from, To: from}
		if i := slices.IndexFunc(t.src.Tape().Spans, func(x choice.Span) bool { return x.From == from }); i >= 0 {
			x = t.src.Tape().Spans[i]
		}
		p.now.births = append(p.now.births, x)
	}
}

// close ends a scene. It maps the instances that the script's scene created to those created now,
// in order.
func (p *prompter) close() {
	last := &p.now.scenes[len(p.now.scenes)-1]
	last.made[1] = p.t.m.Instances()
	if p.of == nil || p.at >= len(p.of.scenes) {
		return
	}
	to := last.made[0]
	for i := p.of.scenes[p.at].made[0]; i < p.of.scenes[p.at].made[1] && to < last.made[1]; i++ {
		if p.at == 0 && i == p.gone {
			continue
		}
		p.names[uint64(i)] = uint64(to)
		to++
	}
}

// answer makes a decision.
func (p *prompter) answer(limit uint64) uint64 {
	t := p.t
	d := named{topic: t.src.Topic}
	kind := d.kind()
	if kind == topicThread {
		p.close()
		p.at++
		p.now.scenes = append(p.now.scenes, scene{made: [2]int{t.m.Instances(), 0}})
		if p.left = nil; p.of != nil && p.at < len(p.of.scenes) {
			p.left = slices.Clone(p.of.scenes[p.at].list)
		}
	}
	v := uint64(0)
	switch at := len(t.src.Tape().Values); {
	case p.of != nil && kind == topicThread:
		if p.at < len(p.of.scenes) {
			v = uint64(p.of.scenes[p.at].thread)
		}
	case p.of != nil:
		if i := slices.IndexFunc(p.left, func(x named) bool { return x.topic == d.topic }); i >= 0 {
			v = p.place(d.topic, p.left[i].name)
			p.left = slices.Delete(p.left, i, i+1)
		}
	case at < len(p.tape):
		v = p.tape[at]
	}
	if limit > 0 {
		v = min(v, limit-1)
	}
	if kind == topicPick || kind == topicBranch { // as choice.Source does
		for range t.weights {
			if t.weights[v] > 0 {
				break
			}
			v = (v + 1) % uint64(len(t.weights))
		}
	}
	scene := &p.now.scenes[len(p.now.scenes)-1]
	if kind == topicThread {
		scene.thread = int(v)
		for _, i := range t.alive { // as next does
			if i >= int(v) {
				scene.thread = i
				return v
			}
		}
		scene.thread = t.alive[0]
		return v
	}
	if d.name = v; kind == topicPick {
		d.name = uint64(p.choices()[v])
	} else if kind == topicForbidden {
		d.name = uint64(t.forbidden[v])
	}
	scene.list = append(scene.list, d)
	return v
}

func (p *prompter) choices() []int32 {
	n := uint32(p.t.src.Topic)
	return p.t.m.Choices(int(n>>8), int(n&255))
}

// place returns the index, among the current choices, of what a decision names.
func (p *prompter) place(topic, name uint64) uint64 {
	i := 0
	switch (named{topic: topic}).kind() {
	case topicPick:
		to, ok := p.names[name]
		if i = slices.Index(p.choices(), int32(to)); !ok {
			i = 0
		}
	case topicForbidden:
		i = slices.Index(p.t.forbidden, int(name))
	default:
		return name
	}
	return uint64(max(i, 0))
}

// byName removes everything unnecessary from the traversal of a tape: threads, instances, steps and
// attempts. It also tries plainer values. It stops when each remaining part is necessary by itself,
// and reports whether it changed anything.
func (r *reducer) byName(values []uint64) ([]uint64, bool) {
	p := &prompter{t: r.t, tape: values, gone: -1}
	if !r.stage(values, p.play) {
		return values, false
	}
	now, found := &p.now, false
	try := func(s *script, gone int) bool {
		p := &prompter{t: r.t, of: s, gone: gone}
		if r.err != nil || !r.stage(nil, p.play) {
			return false
		}
		if tape := r.t.src.Tape().Values; r.simpler(tape, values) && r.holds(tape) {
			values, now, found, r.weight = slices.Clone(tape), &p.now, true, r.weigh()
			return true
		}
		return false
	}
	for before := -1; before != r.changes; {
		before = r.changes
		for thread := len(now.births) - 1; thread >= 0 && len(now.births) > 1; thread-- {
			gone := -1
			if r.c.plan.actor >= 0 {
				gone = thread
			}
			for heir := -1; heir < len(now.births); heir++ {
				if heir != thread && try(now.withoutThread(thread, heir), gone) {
					break
				}
			}
		}
		for i := now.instances() - 1; i >= now.scenes[0].made[1]; i = min(i, now.instances()) - 1 {
			try(now.withoutInstance(i), -1)
		}
		for i := len(now.scenes) - 1; i > 0; i = min(i, len(now.scenes)) - 1 {
			try(now.withoutStep(i), -1)
		}
		for i := 0; i < len(now.scenes); i++ {
			for k := 0; i < len(now.scenes) && k < len(now.scenes[i].list); k++ {
				switch d := now.scenes[i].list[k]; {
				case d.name == 0:
				case d.kind() == topicAttempt:
					try(now.withoutAttempt(i, k), -1)
				case d.kind() == topicPlain || d.kind() == topicOther:
					_ = try(now.withValue(i, k, 0), -1) || d.name > 1 && try(now.withValue(i, k, d.name-1), -1)
				}
			}
		}
	}
	return values, found
}
