package main

import (
	"bytes"
	"encoding/json"
)

// Dashboard is the JSON of the dashboard (schema version 39: Grafana 10.3 and later). Keys
// are sorted and nothing depends on time or chance, so that it is the same every time.
func Dashboard() ([]byte, error) {
	source := map[string]any{"type": "prometheus", "uid": "${datasource}"}
	var list []any
	id, y := 0, 0
	for _, s := range sections {
		id++
		list = append(list, map[string]any{"id": id, "type": "row", "title": s.title, "collapsed": false, "panels": []any{}, "gridPos": place(0, y, 24, 1)})
		y++
		x, height := 0, 0
		for _, p := range s.panels {
			if x+p.width > 24 {
				x, y, height = 0, y+height, 0
			}
			id++
			h := p.height()
			list = append(list, p.json(id, place(x, y, p.width, h), source))
			x, height = x+p.width, max(height, h)
		}
		y += height
	}
	all := map[string]any{
		"uid": "recon-batch", "title": "recon-batch", "tags": []string{"recon-batch"}, "schemaVersion": 39, "version": 1, "editable": true,
		"timezone": "browser", "refresh": "5m", "time": map[string]any{"from": "now-30d", "to": "now"}, "graphTooltip": 1, "annotations": map[string]any{"list": []any{}},
		"panels": list,
		"templating": map[string]any{"list": []any{
			map[string]any{"name": "datasource", "label": "Prometheus", "type": "datasource", "query": "prometheus", "hide": 0},
			map[string]any{"name": "recon_job", "label": "Job", "type": "query", "datasource": source, "multi": true, "includeAll": true, "allValue": ".+", "refresh": 2, "sort": 1, "hide": 0,
				"query": map[string]any{"qryType": 1, "query": "label_values(recon_batch_last_run_timestamp_seconds,recon_job)"}},
		}},
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(all)
	return b.Bytes(), err
}

func (p panel) height() int {
	if p.kind == "stat" {
		return 4
	}
	return 8
}

func place(x, y, w, h int) map[string]any { return map[string]any{"x": x, "y": y, "w": w, "h": h} }

func (p panel) json(id int, at map[string]any, source any) map[string]any {
	var targets []any
	for i, q := range p.queries {
		t := map[string]any{"refId": string(rune('A' + i)), "datasource": source, "expr": q.expr, "editorMode": "code"}
		if q.legend != "" {
			t["legendFormat"] = q.legend
		}
		if p.kind == "timeseries" {
			t["range"] = true
		} else {
			t["instant"] = true
		}
		if p.kind == "table" {
			t["format"] = "table"
		}
		targets = append(targets, t)
	}
	unit := p.unit
	if unit == "" {
		unit = "short"
	}
	defaults := map[string]any{"unit": unit, "thresholds": p.thresholds()}
	out := map[string]any{"id": id, "type": p.kind, "title": p.title, "gridPos": at, "datasource": source, "targets": targets,
		"fieldConfig": map[string]any{"defaults": defaults, "overrides": []any{}}}
	if p.about != "" {
		out["description"] = p.about
	}
	switch p.kind {
	case "stat":
		out["options"] = map[string]any{"colorMode": "value", "graphMode": "none", "textMode": "auto", "reduceOptions": map[string]any{"calcs": []string{"lastNotNull"}, "fields": "", "values": false}}
	case "timeseries":
		// A value holds until the next run.
		defaults["custom"] = map[string]any{"lineInterpolation": "stepAfter", "fillOpacity": 5, "showPoints": "never", "spanNulls": true}
		out["options"] = map[string]any{"legend": map[string]any{"displayMode": "list", "placement": "bottom", "showLegend": true}, "tooltip": map[string]any{"mode": "multi", "sort": "desc"}}
	case "table":
		out["options"] = map[string]any{"showHeader": true}
		out["transformations"] = []any{map[string]any{"id": "organize", "options": map[string]any{"excludeByName": map[string]any{"Time": true, "__name__": true, "instance": true, "job": true}}}}
	}
	return out
}

func (p panel) thresholds() map[string]any {
	steps := []any{map[string]any{"color": "green", "value": nil}}
	switch p.red {
	case "above":
		steps = append(steps, map[string]any{"color": "red", "value": p.bound})
	case "below":
		steps = []any{map[string]any{"color": "red", "value": nil}, map[string]any{"color": "green", "value": p.bound}}
	}
	return map[string]any{"mode": "absolute", "steps": steps}
}
