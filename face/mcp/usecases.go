package mcp

import (
	"context"

	"github.com/thresh-dev/thresh/app"
	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
)

// UseCases is what the server does for its clients. [app.Remote] implements it.
type UseCases interface {
	// Read and Compile are those of [campaign.ToolDesk].
	Read(path string, limit int64) ([]byte, error)
	Compile(ctx context.Context, d campaign.Draft) ([]campaign.Any, diag.List, error)
	// Check compiles a document and runs nothing. The result lists what is wrong with the document;
	// an error means that it could not be read.
	Check(ctx context.Context, d app.Draft) (app.Checked, error)
	// Start compiles a document and begins to run it. The run continues after ctx has ended.
	Start(ctx context.Context, d app.Draft) (campaign.Background, error)
	// Replay runs a stored finding again.
	Replay(ctx context.Context, finding string, job app.ReplayJob) (app.Replayed, error)
}

// desk is what the contracts' own tools work with.
type desk struct {
	UseCases
	s *Server
}

func (d desk) Start(ctx context.Context, x campaign.Draft) (campaign.Background, error) {
	return d.s.begin(ctx, app.Draft{Draft: x})
}

// begin begins a run that clients can follow.
func (s *Server) begin(ctx context.Context, d app.Draft) (campaign.Background, error) {
	r, err := s.cfg.Use.Start(ctx, d)
	if err != nil {
		return nil, err
	}
	s.runs.add(r)
	s.announce(r)
	return r, nil
}

// remote adapts [app.Remote] to the interface that the server and its tests use.
type remote struct{ *app.Remote }

func (r remote) Start(ctx context.Context, d app.Draft) (campaign.Background, error) {
	b, err := r.Remote.Start(ctx, d)
	if err != nil {
		return nil, err
	}
	return b, nil
}

// Over returns a client's use cases in the form that the server takes.
func Over(r *app.Remote) UseCases { return remote{r} }
