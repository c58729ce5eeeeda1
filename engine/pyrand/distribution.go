package pyrand

import "math"

// Uniform returns a number between a and b: uniform(a, b).
func (r *Rand) Uniform(a, b float64) float64 {
	return a + float64((b-a)*r.Float64())
}

// Triangular returns a number between low and high that lies most often near
// mode: triangular(low, high, mode).
func (r *Rand) Triangular(low, high, mode float64) float64 {
	u := r.Float64()
	if high == low {
		return low
	}
	c := (mode - low) / (high - low)
	if u > c {
		u, c = 1-u, 1-c
		low, high = high, low
	}
	return low + float64((high-low)*math.Sqrt(u*c))
}

// Gauss returns a normally distributed number: gauss(mean, deviation). Numbers
// are made in pairs; the second of a pair is kept for the next call.
func (r *Rand) Gauss(mean, deviation float64) float64 {
	z := r.pendingGauss
	if r.hasPending {
		r.hasPending = false
	} else {
		angle := r.Float64() * (2 * math.Pi)
		radius := math.Sqrt(-2 * logarithm(1-r.Float64()))
		sin, cos := sinCos(angle)
		z = cos * radius
		r.pendingGauss, r.hasPending = sin*radius, true
	}
	return mean + float64(z*deviation)
}

// Normal returns a normally distributed number by the method of Kinderman and
// Monahan: normalvariate(mean, deviation).
func (r *Rand) Normal(mean, deviation float64) float64 {
	magic := 4 * math.Exp(-0.5) / math.Sqrt2
	for {
		u1 := r.Float64()
		u2 := 1 - r.Float64()
		z := float64(magic*(u1-0.5)) / u2
		if z*z/4 <= -logarithm(u2) {
			return mean + float64(z*deviation)
		}
	}
}

// Exponential returns an exponentially distributed number with the given
// rate: expovariate(rate).
func (r *Rand) Exponential(rate float64) float64 {
	return -logarithm(1-r.Float64()) / rate
}
