package scan

import (
	"fmt"
	"reflect"
	"testing"
)

// Texts are masked wherever they stand, but for those that are left.
func TestWalk(t *testing.T) {
	type inner struct{ Note, Digest string }
	type outer struct {
		Text   string
		List   []inner
		Point  *string
		Words  map[string]string
		Number int64
		secret string
	}
	const card, shown = "4111111111111111", "411111******1111"
	p := card
	x := outer{Text: card, List: []inner{{card, card}, {"plain", card}}, Point: &p, Words: map[string]string{"a": card}, Number: 4111111111111111, secret: card}
	n := Walk(reflect.ValueOf(&x).Elem(), func(_ reflect.Value, f *reflect.StructField) bool { return f != nil && f.Name == "Digest" })
	got := fmt.Sprint(x.Text, x.List, *x.Point, x.Words, x.Number, x.secret)
	want := fmt.Sprint(shown, []inner{{shown, card}, {"plain", card}}, shown, map[string]string{"a": shown}, 4111111111111111, card)
	if got != want || n != (Counts{Card: 4}) {
		t.Errorf("got  %s %v\nwant %s", got, n, want)
	}
}
