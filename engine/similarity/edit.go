package similarity

// EditDistance is the number of letters that have to be put in, taken out or
// changed to make one text of the other (Levenshtein).
func EditDistance(a, b string) int {
	x, y := []rune(a), []rune(b)
	row := make([]int, len(y)+1)
	for j := range row {
		row[j] = j
	}
	for i := range x {
		corner := row[0]
		row[0] = i + 1
		for j := range y {
			cost := 1
			if x[i] == y[j] {
				cost = 0
			}
			corner, row[j+1] = row[j+1], min(corner+cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(y)]
}

// EditRatio is 1 minus the distance in parts of the longer text; two empty texts
// are equal.
func EditRatio(a, b string) float64 {
	longer := max(len([]rune(a)), len([]rune(b)))
	if longer == 0 {
		return 1
	}
	return 1 - float64(EditDistance(a, b))/float64(longer)
}
