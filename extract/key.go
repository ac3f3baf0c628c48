package extract

import (
	"strconv"

	"github.com/recon-batch/recon-batch/rules"
)

// keyPart makes the canonical text of one part of a key.
type keyPart struct {
	field        *fieldReader
	steps        *normaliser // text fields
	placeholders map[string]bool
	nullable     bool
}

// keyState says what a key part, or a whole key, is worth.
type keyState uint8

const (
	keyFilled keyState = iota
	keyEmpty           // nothing there, or a declared placeholder (V2)
	keyBroken          // unreadable or ambiguous: links nothing, nullable or not
)

// text returns the canonical text of the part. The result may share memory with the
// record.
func (p *keyPart) text(vals []value) ([]byte, keyState) {
	v := &vals[p.field.index]
	if v.null {
		return nil, keyEmpty
	}
	if !v.plain() || v.worn {
		return nil, keyBroken
	}
	t := v.text
	if p.field.kind == kindText {
		t = p.steps.apply(t)
	} else {
		t = p.field.canonical(v)
	}
	if len(t) == 0 || len(p.placeholders) > 0 && (p.placeholders[string(t)] || p.placeholders[string(v.text)]) {
		return nil, keyEmpty
	}
	return t, keyFilled
}

// key makes the canonical key of one pass, or the record id. One belongs to one
// goroutine.
type key struct {
	parts    []keyPart
	identity bool
	same     *key // of a pass by groups: the parts in which its rows agree; nil
}

// newKey compiles a key from its product fields.
func newKey(fields []*fieldReader, index func(string) int, identity bool, parts ...rules.KeyPart) *key {
	k := &key{identity: identity}
	for _, p := range parts {
		f := fields[index(p.Operations)]
		kp := keyPart{field: f, steps: f.steps, nullable: p.Nullable}
		if len(f.field.Placeholders) > 0 {
			kp.placeholders = map[string]bool{}
			for _, t := range f.field.Placeholders {
				kp.placeholders[t] = true
			}
		}
		k.parts = append(k.parts, kp)
	}
	return k
}

// text returns the canonical key; ok is false where it links nothing (V2). A
// single part is its own text. Several parts, or one that may be empty, are
// encoded so that no two lists of parts give one text: each filled part as
// <bytes>:<text>, an empty nullable one as "-" (V1: joined as parts, never glued).
// A key all of whose parts are empty is empty. buf is scratch memory.
func (k *key) text(buf []byte, vals []value) (t []byte, ok bool) {
	if len(k.parts) == 1 && !k.parts[0].nullable {
		t, state := k.parts[0].text(vals)
		return t, state == keyFilled
	}
	filled := false
	out := buf
	for i := range k.parts {
		p := &k.parts[i]
		t, state := p.text(vals)
		switch {
		case state == keyFilled:
			out = strconv.AppendInt(out, int64(len(t)), 10)
			out = append(append(out, ':'), t...)
			filled = true
		case state == keyEmpty && p.nullable:
			out = append(out, '-')
		default:
			return nil, false
		}
	}
	return out, filled
}

// looksScientific tells texts such as 1.23E+22, which spreadsheets make of long
// numbers: as a key they have lost their last digits. Spreadsheets write the sign;
// without it the text may as well be a hexadecimal number.
func looksScientific(t []byte) bool {
	i, digits := 0, 0
	for ; i < len(t) && (t[i] >= '0' && t[i] <= '9' || t[i] == '.'); i++ {
		if t[i] != '.' {
			digits++
		}
	}
	if digits == 0 || i >= len(t)-1 || t[i] != 'E' && t[i] != 'e' {
		return false
	}
	if i++; t[i] != '+' {
		return false
	}
	return isNumeric(t[i+1:])
}
