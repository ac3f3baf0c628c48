package extract

import (
	"context"
	"fmt"

	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/rules"
)

// otherTimes looks at each staged file that declares the time it covers, and tells
// which ones hold records of other times only: by far most often the file of another
// day under this day's name. Its silence about the declared time proves nothing.
//
// A file without records, or whose records carry no time, is not judged: it may be a
// quiet day.
func (l *loader) otherTimes(ctx context.Context) error {
	f := l.layout.spec.Field("created_at")
	if f == nil || f.Type != rules.Timestamp {
		return nil
	}
	l.elsewhen = map[int]string{}
	for j, found := range l.found {
		in := &l.inputs[found.input]
		if l.staged[j] == nil || l.rel.Files[j].Status != FileStaged || in.From == nil || in.Until == nil {
			continue
		}
		var timed, inside int64
		q := otherTimesSQL.Render(duck.Slots{"rows": l.layout.Relation(l.staged[j].path), "from": fmt.Sprint(*in.From), "until": fmt.Sprint(*in.Until)})
		if err := l.db.Scan(ctx, q, &timed, &inside); err != nil {
			return err
		}
		if timed > 0 && inside == 0 {
			l.elsewhen[j] = found.rel + " holds records of other times only"
		}
	}
	return nil
}
