package rules

import (
	"fmt"
	"slices"
	"strings"
)

// suggestDistance is the greatest edit distance at which a name is offered as
// what was meant.
const suggestDistance = 2

// didYouMean offers the known name nearest to the given one, at most
// suggestDistance edits away; else it lists the names where they are few.
func didYouMean(given string, known []string) string {
	if best := nearest(given, known); best != "" {
		return fmt.Sprintf("did you mean %q?", best)
	}
	if len(known) == 0 || len(known) > 24 {
		return ""
	}
	return "known: " + strings.Join(known, ", ")
}

// nearest returns the known name with the smallest edit distance to the given
// one, the first of them on a tie; "" where none is near enough. Case does not
// count, and a name of two letters has no neighbours.
func nearest(given string, known []string) string {
	best, bestDistance := "", suggestDistance+1
	for _, k := range known {
		d := editDistance(strings.ToLower(given), strings.ToLower(k))
		if d < bestDistance && d < max(len(given), len(k))-1 {
			best, bestDistance = k, d
		}
	}
	return best
}

// editDistance counts insertions, deletions, substitutions and swaps of two
// neighbours (optimal string alignment).
func editDistance(a, b string) int {
	x, y := []rune(a), []rune(b)
	if n := len(x) - len(y); n > suggestDistance || n < -suggestDistance {
		return suggestDistance + 1
	}
	var before, last []int
	row := make([]int, len(y)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(x); i++ {
		before, last = last, row
		row = make([]int, len(y)+1)
		row[0] = i
		for j := 1; j <= len(y); j++ {
			cost := 1
			if x[i-1] == y[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
	}
	return row[len(y)]
}

// oneOf tells whether the text is among the options.
func oneOf[T ~string](text string, options []T) bool {
	return slices.Contains(options, T(text))
}

func names[T ~string](values []T) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = string(v)
	}
	return out
}

func sortedKeys[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}
