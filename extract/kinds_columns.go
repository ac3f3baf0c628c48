package extract

import (
	"fmt"
	"slices"

	"github.com/recon-batch/recon-batch/rules"
)

// makeHeader settles the columns under which the records are known.
func (k *kindReader) makeHeader(empty bool) error {
	add := func(name string) {
		if _, ok := k.place[name]; !ok {
			k.place[name] = len(k.header)
			k.header = append(k.header, name)
		}
	}
	if k.t.Column != "" && (k.t.Field > 0 || len(k.t.Kinds) > 1 || k.t.Kinds[0].Kind != "") {
		add(k.t.Column)
		k.inFile[k.t.Column] = true
	}
	open := empty // a names line may still come
	for _, kind := range k.order {
		if kind.As != rules.RoleRecord {
			continue
		}
		if kind.columns == nil {
			open = true
		}
		for _, c := range kind.columns {
			add(c)
		}
	}
	for _, kind := range k.order {
		for _, c := range kind.Carry {
			kind.carries = append(kind.carries, len(k.carried))
			add(c.Column)
			k.inFile[c.Column] = true
			k.carried = append(k.carried, carriedCell{kind: kind, at: k.place[c.Column]})
		}
	}
	for _, kind := range k.order {
		if kind.As == rules.RoleRecord {
			if err := k.checkCarried(kind); err != nil {
				return err
			}
		}
	}
	// Header lines above the first record were read before there was a place for
	// what they carry.
	for _, c := range k.early {
		k.carry(c.kind, c.fields)
	}
	k.early = nil
	if !open {
		if _, err := bindHeader(k.header, k.rule, k.need, k.name); err != nil {
			return err
		}
	}
	for _, c := range k.need {
		if c.name != "" {
			add(c.name)
		}
	}
	if len(k.header) > k.lim.Columns {
		return overLimit(k.name, "columns", int64(k.lim.Columns))
	}
	k.rec.Cells = make([]Cell, len(k.header))
	for _, kind := range k.order {
		if kind.columns != nil {
			k.placeFields(kind)
		}
	}
	return nil
}

// placeFields says where the fields of a kind of record go.
func (k *kindReader) placeFields(kind *lineKind) {
	kind.to, kind.outside = kind.to[:0], false
	for _, c := range kind.columns {
		at, ok := k.place[c]
		if !ok {
			at, kind.outside = -1, true
		}
		kind.to = append(kind.to, at)
	}
}

// setColumns takes the names of the columns of a kind, as declared or as a names
// line has them.
func (k *kindReader) setColumns(kind *lineKind, found []string) error {
	if len(found) > k.lim.Columns {
		return overLimit(k.name, "columns", int64(k.lim.Columns))
	}
	found = slices.Clone(found)
	if f := k.t.Field; f > 0 && f <= len(found) {
		found[f-1] = k.t.Column
	}
	var here []neededColumn // the needed ones that this kind has
	for _, c := range k.need {
		if slices.ContainsFunc(found, func(n string) bool { return headerName(n, k.rule) == headerName(c.name, k.rule) }) {
			here = append(here, c)
		}
	}
	columns, err := bindHeader(found, k.rule, here, k.name)
	if err != nil {
		return err
	}
	// a second column of one name has a name of its own, or its values were lost
	seen := map[string]int{}
	for i, c := range columns {
		if seen[c]++; seen[c] > 1 {
			columns[i] = fmt.Sprintf("%s#%d", c, seen[c])
		}
	}
	kind.columns = columns
	if kind.As == rules.RoleRecord {
		if kind.used = len(kind.Columns) > 0; kind.used {
			k.markUsed(kind)
		}
		if k.rec.Cells != nil {
			if err := k.checkCarried(kind); err != nil {
				return err
			}
			k.placeFields(kind)
		}
	}
	k.compileAdds(kind)
	return nil
}

// markUsed notes the columns that records of the file have.
func (k *kindReader) markUsed(kind *lineKind) {
	kind.used = true
	for _, c := range kind.columns {
		k.inFile[c] = true
	}
}

// checkCarried refuses a column that the records have and a header carries as well.
func (k *kindReader) checkCarried(kind *lineKind) error {
	for _, c := range k.carried {
		if name := k.header[c.at]; slices.Contains(kind.columns, name) {
			return badFile(k.name, "the column %s is one of the kind %s, and carried by the kind %s as well", quoteName(name), quoteName(kind.Kind), quoteName(c.kind.Kind)).
				WithHint("carry it under another name")
		}
	}
	return nil
}
