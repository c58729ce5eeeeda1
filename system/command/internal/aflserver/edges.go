package aflserver

import "encoding/binary"

// bucket is AFL's class of a count: 1, 2, 3, 4 to 7, 8 to 15, 16 to 31, 32 to
// 127 and more.
var bucket = func() (table [256]uint8) {
	for count := range table {
		switch {
		case count <= 2:
			table[count] = uint8(count)
		case count == 3:
			table[count] = 4
		case count < 8:
			table[count] = 8
		case count < 16:
			table[count] = 16
		case count < 32:
			table[count] = 32
		case count < 128:
			table[count] = 64
		default:
			table[count] = 128
		}
	}
	return table
}()

// appendEdges appends the edges that counts are not zero for, as
// edge<<8|bucket, ascending. The length of counts is a multiple of 32.
//
// Entry 0 is no edge: the instrumentation sets it so that a client sees that
// it is alive.
func appendEdges(dst []uint32, counts []byte) []uint32 {
	for at := 0; at < len(counts); at += 32 {
		block := counts[at : at+32 : at+32]
		if binary.LittleEndian.Uint64(block)|binary.LittleEndian.Uint64(block[8:])|
			binary.LittleEndian.Uint64(block[16:])|binary.LittleEndian.Uint64(block[24:]) == 0 {
			continue
		}
		for i, c := range block {
			if c != 0 && at+i != 0 {
				dst = append(dst, uint32(at+i)<<8|uint32(bucket[c]))
			}
		}
	}
	return dst
}
