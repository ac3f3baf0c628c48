package naive

// newSet opens an unresolved set: rows that belong together without the data
// saying how.
func (w *world) newSet() int64 {
	w.sets++
	return w.sets
}

// join makes one set of two.
func (w *world) join(keep, drop int64) {
	for _, rows := range [][]*row{w.o, w.r} {
		for _, x := range rows {
			if x.decided != nil && x.decided.SetID == drop {
				x.decided.SetID = keep
			}
		}
	}
}

// together puts the decided rows into one set, with all that they were in before.
func (w *world) together(rows []*row) {
	set := w.newSet()
	for _, x := range rows {
		if x.decided.SetID != 0 {
			w.join(set, x.decided.SetID)
		}
		x.decided.SetID = set
	}
}
