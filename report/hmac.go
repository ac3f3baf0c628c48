package report

import "crypto/sha256"

// hmacPads returns the key XORed with the inner and the outer pad of HMAC
// (RFC 2104 §2); a key longer than a block is hashed first.
func hmacPads(key []byte) (inner, outer []byte) {
	if len(key) > sha256.BlockSize {
		h := sha256.Sum256(key)
		key = h[:]
	}
	inner, outer = make([]byte, sha256.BlockSize), make([]byte, sha256.BlockSize)
	copy(inner, key)
	copy(outer, key)
	for i := range inner {
		inner[i] ^= 0x36
		outer[i] ^= 0x5c
	}
	return inner, outer
}
