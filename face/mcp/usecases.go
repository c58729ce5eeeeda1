package mcp

import (
	"context"

	"github.com/thresh-dev/thresh/app"
)

// UseCases is what the server does for its clients; [app.Remote] does it.
type UseCases interface {
	// Read returns a file below the folder that clients may name files in. It
	// refuses files of more than limit bytes.
	Read(path string, limit int64) ([]byte, error)
	// Check compiles a document and runs nothing. What is wrong with it stands
	// in the answer; an error means that it could not be looked at.
	Check(ctx context.Context, d app.Draft) (app.Checked, error)
	// Start compiles a document and begins to run it. The run goes on after ctx
	// has ended.
	Start(ctx context.Context, d app.Draft) (Run, error)
	// Replay runs a stored finding again, times times.
	Replay(ctx context.Context, finding string, times int) (app.Replayed, error)
}

// Run is a run that was begun. It is safe for concurrent use.
type Run interface {
	ID() string
	// Done is closed once the run has ended and its record is stored.
	Done() <-chan struct{}
	// Changed is closed at the next change of what Status returns.
	Changed() <-chan struct{}
	// Stop ends the run early; what was run is kept.
	Stop()
	Status() app.Status
	// Findings are the findings so far, in the order in which they were met.
	Findings() []app.Seen
	// Explored is how far the first campaign that explores a model is; false if
	// there is none.
	Explored() (app.Exploration, bool)
}

// remote gives the runs of [app.Remote] as the interface that the server and its
// tests use.
type remote struct{ *app.Remote }

func (r remote) Start(ctx context.Context, d app.Draft) (Run, error) {
	b, err := r.Remote.Start(ctx, d)
	if err != nil {
		return nil, err
	}
	return b, nil
}

// Over returns the use cases of a client as the server takes them.
func Over(r *app.Remote) UseCases { return remote{r} }
