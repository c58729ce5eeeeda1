package glibm

import (
	"math"
	"sync"
)

const firstStep = 0x3fe6000000000000 // bits of the float64 at which the steps of Log begin

// inverse is 1/c for a number c near the middle of a step, and log c.
type inverse struct{ inverse, log float64 }

var inverses = sync.OnceValue(func() *[steps]inverse {
	table := new([steps]inverse)
	for i, v := range chosenInverses() {
		log, _ := splitAt(minusLog(v), ln2Bits)
		table[i] = inverse{v, log}
	}
	return table
})

// Log is the natural logarithm of x.
func Log(x float64) float64 {
	const (
		low, high = 0x1.ep-1, 0x1.109p0 // polynomial alone in between

		a0 = -0x1.0000000000001p-1
		a1 = 0x1.555555551305bp-2
		a2 = -0x1.fffffffeb4590p-3
		a3 = 0x1.999b324f10111p-3
		a4 = -0x1.55575e506c89fp-3
	)
	if x >= low && x < high {
		return logNearOne(x - 1)
	}
	if !(x > 0) || x > math.MaxFloat64 {
		return math.Log(x) // a matter of definition
	}
	k, i, z := octave(x, firstStep)
	t := &inverses()[i]
	r := math.FMA(z, t.inverse, -1)
	// k log 2 + log c + r, and what the sum has lost.
	w := math.FMA(k, ln2Head, t.log)
	hi := w + r
	lo := math.FMA(k, ln2Tail, w-hi+r)
	square := float64(r * r)
	cube := float64(r * square)
	p := math.FMA(math.FMA(r, a4, a3), square, math.FMA(a2, r, a1))
	return math.FMA(cube, p, math.FMA(square, a0, lo)) + hi
}

// logNearOne is the logarithm of 1+r for a small r.
func logNearOne(r float64) float64 {
	const (
		b0  = -0x1p-1
		b1  = 0x1.5555555555577p-2
		b2  = -0x1.ffffffffffdcbp-3
		b3  = 0x1.999999995dd0cp-3
		b4  = -0x1.55555556745a7p-3
		b5  = 0x1.24924a344de30p-3
		b6  = -0x1.fffffa4423d65p-4
		b7  = 0x1.c7184282ad6cap-4
		b8  = -0x1.999eb43b068ffp-4
		b9  = 0x1.78182f7afd085p-4
		b10 = -0x1.5521375d145cdp-4
	)
	square := float64(r * r)
	cube := float64(r * square)
	p := math.FMA(square, b9, math.FMA(b8, r, b7))
	p = math.FMA(cube, b10, p)
	p = math.FMA(p, cube, math.FMA(square, b6, math.FMA(b5, r, b4)))
	p = math.FMA(p, cube, math.FMA(square, b3, math.FMA(b2, r, b1)))
	// r - r*r/2 with the upper half of r, whose square is exact, and the rest.
	upper := math.FMA(-0x1p27, r, math.FMA(r, 0x1p27, r))
	lower := r - upper
	upperSquare := float64(upper * upper)
	hi := math.FMA(upperSquare, b0, r)
	lo := math.FMA(upperSquare, b0, r-hi)
	half := float64(b0 * lower)
	lo = math.FMA(half, upper+r, lo)
	return math.FMA(p, cube, lo) + hi
}

// chosenInverses are those of the steps of Log. They were chosen by a search
// for numbers whose logarithm is near to one with few bits (math/log_data.c of
// ARM optimized-routines), so that they cannot be computed.
func chosenInverses() *[steps]float64 {
	return &[steps]float64{
		0x1.734f0c3e0de9fp0, 0x1.713786a2ce91fp0, 0x1.6f26008fab5a0p0, 0x1.6d1a61f138c7dp0,
		0x1.6b1490bc5b4d1p0, 0x1.69147332f0cbap0, 0x1.6719f18224223p0, 0x1.6524f99a51ed9p0,
		0x1.63356aa8f24c4p0, 0x1.614b36b9ddc14p0, 0x1.5f66452c65c4cp0, 0x1.5d867b5912c4fp0,
		0x1.5babccb5b90dep0, 0x1.59d61f2d91a78p0, 0x1.5805612465687p0, 0x1.56397cee76bd3p0,
		0x1.54725e2a77f93p0, 0x1.52aff42064583p0, 0x1.50f22dbb2bddfp0, 0x1.4f38f4734ded7p0,
		0x1.4d843cfde2840p0, 0x1.4bd3ec078a3c8p0, 0x1.4a27fc3e0258ap0, 0x1.4880524d48434p0,
		0x1.46dce1b192d0bp0, 0x1.453d9d3391854p0, 0x1.43a2744b4845ap0, 0x1.420b54115f8fbp0,
		0x1.40782da3ef4b1p0, 0x1.3ee8f5d57fe8fp0, 0x1.3d5d9a00b4ce9p0, 0x1.3bd60c010c12bp0,
		0x1.3a5242b75dab8p0, 0x1.38d22cd9fd002p0, 0x1.3755bc5847a1cp0, 0x1.35dce49ad36e2p0,
		0x1.34679984dd440p0, 0x1.32f5cceffcb24p0, 0x1.3187775a10d49p0, 0x1.301c8373e3990p0,
		0x1.2eb4ebb95f841p0, 0x1.2d50a0219a9d1p0, 0x1.2bef9a8b7fd2ap0, 0x1.2a91c7a0c1babp0,
		0x1.293726014b530p0, 0x1.27dfa5757a1f5p0, 0x1.268b39b1d3bbfp0, 0x1.2539d838ff5bdp0,
		0x1.23eb7aac9083bp0, 0x1.22a012ba940b6p0, 0x1.2157996cc4132p0, 0x1.201201dd2fc9bp0,
		0x1.1ecf4494d480bp0, 0x1.1d8f5528f6569p0, 0x1.1c52311577e7cp0, 0x1.1b17c74cb26e9p0,
		0x1.19e010c2c1ab6p0, 0x1.18ab07bb670bdp0, 0x1.1778a25efbcb6p0, 0x1.1648d354c31dap0,
		0x1.151b990275fddp0, 0x1.13f0ea432d24cp0, 0x1.12c8b7210f9dap0, 0x1.11a3028ecb531p0,
		0x1.107fbda8434afp0, 0x1.0f5ee0f4e6bb3p0, 0x1.0e4065d2a9fcep0, 0x1.0d244632ca521p0,
		0x1.0c0a77ce2981ap0, 0x1.0af2f83c636d1p0, 0x1.09ddb98a01339p0, 0x1.08cabaf52e7dfp0,
		0x1.07b9f2f4e28fbp0, 0x1.06ab58c358f19p0, 0x1.059eea5ecf92cp0, 0x1.04949cdd12c90p0,
		0x1.038c6c6f0ada9p0, 0x1.02865137932a9p0, 0x1.0182427ea7348p0, 0x1.008040614b195p0,
		0x1.fe01ff726fa1ap-1, 0x1.fa11cc261ea74p-1, 0x1.f6310b081992ep-1, 0x1.f25f63ceeadcdp-1,
		0x1.ee9c8039113e7p-1, 0x1.eae8078cbb1abp-1, 0x1.e741aa29d0c9bp-1, 0x1.e3a91830a99b5p-1,
		0x1.e01e009609a56p-1, 0x1.dca01e577bb98p-1, 0x1.d92f20b7c9103p-1, 0x1.d5cac66fb5ccep-1,
		0x1.d272caa5ede9dp-1, 0x1.cf26e3e6b2ccdp-1, 0x1.cbe6da2a77902p-1, 0x1.c8b266d37086dp-1,
		0x1.c5894bd5d5804p-1, 0x1.c26b533bb9f8cp-1, 0x1.bf583eeece73fp-1, 0x1.bc4fd75db96c1p-1,
		0x1.b951e0c864a28p-1, 0x1.b65e2c5ef3e2cp-1, 0x1.b374867c9888bp-1, 0x1.b094b211d304ap-1,
		0x1.adbe885f2ef7ep-1, 0x1.aaf1d31603da2p-1, 0x1.a82e63fd358a7p-1, 0x1.a5740ef09738bp-1,
		0x1.a2c2a90ab4b27p-1, 0x1.a01a01393f2d1p-1, 0x1.9d79f24db3c1bp-1, 0x1.9ae2505c7b190p-1,
		0x1.9852ef297ce2fp-1, 0x1.95cbaeea44b75p-1, 0x1.934c69de74838p-1, 0x1.90d4f2f6752e6p-1,
		0x1.8e6528effd79dp-1, 0x1.8bfce9fcc007cp-1, 0x1.899c0dabec30ep-1, 0x1.87427aa2317fbp-1,
		0x1.84f00acb39a08p-1, 0x1.82a49e8653e55p-1, 0x1.8060195f40260p-1, 0x1.7e22563e0a329p-1,
		0x1.7beb377dcb5adp-1, 0x1.79baa679725c2p-1, 0x1.77907f2170657p-1, 0x1.756cadbd6130cp-1,
	}
}
