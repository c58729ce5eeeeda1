package store

// ResolveRun is the id of the run that ref names: an id, a unique beginning of
// one, "latest" or "latest~N".
func (s *Store) ResolveRun(ref string) (string, error) { return s.resolveRun(ref) }
