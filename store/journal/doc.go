// Package journal is the file format of a run's journal: an append-only
// sequence of records, each with its own checksum. Whatever a crash, a full
// disk or a bad sector leaves behind, the whole records before it can be read.
//
// The format is Thresh's own:
//
//	file    = magic version record*
//	magic   = "THRESHJ"        version = one byte, Version
//	record  = length body crc
//	length  = uvarint, bytes of body, at least 2
//	body    = kind place? at (outcome | closing | data)
//	kind    = one byte, 1 to 127; bit 7 says that place is left out because
//	          it is that of the record before
//	place   = uvarint campaign, uvarint attempt, uvarint round
//	at      = zigzag varint, milliseconds since the record before
//	outcome = zigzag varint index (less the index of the outcome before, less
//	          one), uvarint microseconds, facts as campaign.AppendFacts
//	closing = uvarint index, uvarint cases that the campaign had before, uvarint
//	          microseconds, facts
//	data    = the rest of the body
//	crc     = CRC-32C of length and body, little endian
//
// A record of evidence holds the lowest and the highest index of its cases as
// uvarints and then, compressed by zstd, for each case uvarint campaign, attempt,
// index and number of attachments, followed by the attachments as name and
// content, each with its length before it. It precedes the outcomes of its cases.
//
// A record of kind chain holds the SHA-256 of all bytes before it. It begins each
// group of records that a writer flushes, so that no record can be removed or
// changed without changing all that follow. Files of version 1 have none.
//
// A run ends with its record in JSON. A long record is compressed by zstd and
// followed by a skippable frame with the uncompressed names of the blobs in it.
//
// Differences instead of absolute values make a passing case cost about 11 bytes.
// They do not reduce safety, since reading stops at the first record that is not
// whole. A length of 0 is never written: the zeros that some file systems leave
// after a crash are not records.
//
// The package works on io.ReaderAt and byte slices. It opens no file and
// imports the standard library and campaign only. Start reading at [Scanner].
package journal
