package pyrand

import "math"

// Uniform returns a number between a and b: uniform(a, b).
func (r *Rand) Uniform(a, b float64) float64 {
	return a + float64((b-a)*r.Float64())
}

// Triangular returns a number between low and high, most often near mode:
// triangular(low, high, mode).
func (r *Rand) Triangular(low, high, mode float64) float64 {
	u := r.Float64()
	if high-low == 0 {
		return low
	}
	return triangular(u, low, high, (mode-low)/(high-low))
}

// TriangularMiddle is Triangular with the mode in the middle, like
// triangular(low, high): exactly there, whatever the rounding of (low+high)/2.
func (r *Rand) TriangularMiddle(low, high float64) float64 {
	return triangular(r.Float64(), low, high, 0.5)
}

// triangular returns the number for a uniform deviate u, and c, the part of the
// range below the mode.
func triangular(u, low, high, c float64) float64 {
	if u > c {
		u, c = 1-u, 1-c
		low, high = high, low
	}
	return low + float64((high-low)*math.Sqrt(u*c))
}

// Gauss returns a normally distributed number: gauss(mean, deviation). Numbers
// are made in pairs; the second one is kept for the next call.
func (r *Rand) Gauss(mean, deviation float64) float64 {
	z := r.pendingGauss
	if r.hasPending {
		r.hasPending = false
	} else {
		angle := float64(r.Float64() * (2 * math.Pi))
		radius := math.Sqrt(-2 * log(1-r.Float64()))
		sin, cos := sincos(angle)
		z = float64(cos * radius)
		r.pendingGauss, r.hasPending = float64(sin*radius), true
	}
	return mean + float64(z*deviation)
}

// Normal returns a normally distributed number by the method of Kinderman and
// Monahan: normalvariate(mean, deviation).
func (r *Rand) Normal(mean, deviation float64) float64 {
	magic := 4 * exp(-0.5) / math.Sqrt2
	for {
		u1 := r.Float64()
		u2 := 1 - r.Float64()
		z := float64(magic*(u1-0.5)) / u2
		if z*z/4 <= -log(u2) {
			return mean + float64(z*deviation)
		}
	}
}

// Exponential returns an exponentially distributed number with the given
// rate: expovariate(rate).
func (r *Rand) Exponential(rate float64) float64 {
	return -log(1-r.Float64()) / rate
}

// Gamma returns a gamma distributed number, with mean shape*scale:
// gammavariate(shape, scale). Like Python, it panics unless both are above 0,
// and if the shape is infinite, for which Python does not terminate.
func (r *Rand) Gamma(shape, scale float64) float64 {
	mustBePositive(shape > 0 && scale > 0 && shape <= math.MaxFloat64)
	switch {
	case shape > 1:
		return float64(r.gammaAbove(shape) * scale)
	case shape == 1:
		return float64(-log(1-r.Float64()) * scale)
	default:
		return float64(r.gammaBelow(shape) * scale)
	}
}

// gammaAbove is for a shape above 1: Cheng's method of 1977.
func (r *Rand) gammaAbove(shape float64) float64 {
	lambda := math.Sqrt(float64(2*shape) - 1)
	b := shape - log(4)
	c := shape + lambda
	accept := 1 + log(4.5)
	for {
		u := r.Float64()
		if u <= 1e-7 || u >= 0.9999999 {
			continue
		}
		u2 := 1 - r.Float64()
		v := log(u/(1-u)) / lambda
		x := float64(shape * exp(v))
		z := float64(u * u * u2)
		t := b + float64(c*v) - x
		if t+accept-float64(4.5*z) >= 0 || t >= log(z) {
			return x
		}
	}
}

// gammaBelow is for a shape below 1: the method GS of Ahrens and Dieter, 1974.
func (r *Rand) gammaBelow(shape float64) float64 {
	b := (math.E + shape) / math.E
	for {
		p := float64(b * r.Float64())
		var x float64
		if p <= 1 {
			x = pow(p, 1/shape)
		} else {
			x = -log((b - p) / shape)
		}
		u := r.Float64()
		if p > 1 && u <= pow(x, shape-1) || p <= 1 && u <= exp(-x) {
			return x
		}
	}
}

// Beta returns a beta distributed number from 0 to 1: betavariate(a, b). It
// panics as Gamma does.
func (r *Rand) Beta(a, b float64) float64 {
	x := r.Gamma(a, 1)
	if x == 0 {
		return 0
	}
	return x / (x + r.Gamma(b, 1))
}
