package fault

// capture keeps the beginning of what is written to it.
type capture struct {
	kept  []byte
	limit int
	size  int64
}

func (c *capture) Write(b []byte) (int, error) {
	c.size += int64(len(b))
	if room := c.limit - len(c.kept); room > 0 {
		c.kept = append(c.kept, b[:min(room, len(b))]...)
	}
	return len(b), nil
}
