package near

// What a reference must have before a near miss says something: shorter ones are near
// each other by chance.
const (
	oneEdit   = 6  // characters from which one edit is near
	twoEdits  = 12 // characters from which two are
	longest   = 40 // characters; longer references are compared for equality alone
	mostEdits = 2
)

// edits is how many edits still make a text of so many characters near another one.
func edits(characters int) int {
	switch {
	case characters < oneEdit || characters > longest:
		return 0
	case characters < twoEdits:
		return 1
	}
	return mostEdits
}

// Distance is the optimal string alignment distance of two texts, in edits: a character
// put in, left out or replaced, or two neighbours swapped, no part edited twice. More
// than most is most + 1. Boytsov, "Indexing methods for approximate dictionary
// searching", ACM JEA 16 (2011), §2.1, has the recurrence.
func Distance(a, b []rune, most int) int {
	if d := len(a) - len(b); d > most || -d > most {
		return most + 1
	}
	before, last, now := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range now {
		now[j] = j
	}
	for i := 1; i <= len(a); i++ {
		before, last, now = last, now, before
		now[0] = i
		for j := 1; j <= len(b); j++ {
			replaced := last[j-1]
			if a[i-1] != b[j-1] {
				replaced++
			}
			now[j] = min(replaced, last[j]+1, now[j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				now[j] = min(now[j], before[j-2]+1)
			}
		}
	}
	return min(now[len(b)], most+1)
}

// deletions calls each for the text and for every text that is left of it without up to
// most characters, some of them more than once. Two texts within that distance have one
// of these in common: the symmetric delete neighbourhood of SymSpell (Garbe 2012), after
// Mor and Fraenkel, "A hash code method for detecting and correcting spelling errors",
// CACM 25 (1982).
func deletions(text []rune, most int, each func([]rune)) {
	each(text)
	if most == 0 {
		return
	}
	rest := make([]rune, len(text)-1)
	for i := range text {
		if i > 0 && text[i] == text[i-1] {
			continue // the same text is left
		}
		copy(rest, text[:i])
		copy(rest[i:], text[i+1:])
		deletions(rest, most-1, each)
	}
}
