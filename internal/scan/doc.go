// Package scan finds card numbers, IBANs and secrets in free text, and masks them.
//
// It looks for what has a check of its own, so that ordinary numbers stay as they are:
//
//	cards    13 to 19 digits of a known issuer range and its lengths, with a right check
//	         digit (ISO/IEC 7812-1, Luhn), in one block or in blocks of at least four
//	         with a blank or a dash between: 411111******1111
//	IBANs    the length that the country has, and the check digits (ISO 13616, mod 97):
//	         DE89…3000
//	tokens   keys of the common providers by their prefix, JSON web tokens, bearer
//	         tokens, password=… and its like, the password of a URL, private keys:
//	         the prefix and "…"
//
// What it cannot tell: a number of 16 digits of an issuer's range whose last digit fits by
// chance, which is one of ten, is taken for a card. So nothing that rows are joined by may
// be masked where a machine reads it. And a card number that is written in another way, such as digit
// by digit, in words or inside of a longer word, is not found.
//
// All patterns are those of RE2, or loops that look at a byte a bounded number of times.
package scan
