package notify

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/recon-batch/recon-batch/report"
)

// The JSON mapping of ExportMetricsServiceRequest (opentelemetry-proto, OTLP/HTTP), as
// much of it as gauges need: lowerCamelCase names, 64-bit numbers as texts.
type (
	otlpRequest struct {
		ResourceMetrics []otlpResource `json:"resourceMetrics"`
	}
	otlpResource struct {
		Resource struct {
			Attributes []otlpAttribute `json:"attributes"`
		} `json:"resource"`
		ScopeMetrics []otlpScope `json:"scopeMetrics"`
	}
	otlpScope struct {
		Scope struct {
			Name string `json:"name"`
		} `json:"scope"`
		Metrics []otlpMetric `json:"metrics"`
	}
	otlpMetric struct {
		Name        string `json:"name"`
		Description string `json:"description"`
		Unit        string `json:"unit,omitempty"` // UCUM
		Gauge       struct {
			DataPoints []otlpPoint `json:"dataPoints"`
		} `json:"gauge"`
	}
	otlpPoint struct {
		Attributes   []otlpAttribute `json:"attributes"`
		TimeUnixNano string          `json:"timeUnixNano"`
		AsDouble     any             `json:"asDouble"` // a number, or the text Infinity
	}
	otlpAttribute struct {
		Key   string `json:"key"`
		Value struct {
			StringValue string `json:"stringValue"`
		} `json:"value"`
	}
	otlpAnswer struct {
		PartialSuccess struct {
			RejectedDataPoints json.RawMessage `json:"rejectedDataPoints"`
			ErrorMessage       string          `json:"errorMessage"`
		} `json:"partialSuccess"`
	}
)

func attribute(key, value string) (a otlpAttribute) {
	a.Key, a.Value.StringValue = key, value
	return a
}

// otlpBody encodes the metrics of an ending. What is not known (NaN) has no point: a
// series that has none simply ends.
func otlpBody(e *Ending) ([]byte, error) {
	var res otlpResource
	res.Resource.Attributes = []otlpAttribute{attribute("service.name", "recon-batch")}
	var scope otlpScope
	scope.Scope.Name = "github.com/recon-batch/recon-batch"
	at := strconv.FormatInt(e.Ended.UnixNano(), 10)
	for _, f := range e.Families() {
		m := otlpMetric{Name: report.MetricPrefix + f.Name, Description: report.MetricOf(f.Name).Help, Unit: unit(f.Name)}
		for _, x := range f.Samples {
			v, err := strconv.ParseFloat(x.Value, 64)
			if err != nil || v != v {
				continue
			}
			p := otlpPoint{Attributes: []otlpAttribute{attribute("recon_job", e.Series)}, TimeUnixNano: at, AsDouble: v}
			if x.Value == "+Inf" {
				p.AsDouble = "Infinity"
			}
			for i := 0; i < len(x.Labels); i += 2 {
				p.Attributes = append(p.Attributes, attribute(x.Labels[i], report.LabelValue(x.Labels[i+1])))
			}
			m.Gauge.DataPoints = append(m.Gauge.DataPoints, p)
		}
		if len(m.Gauge.DataPoints) > 0 {
			scope.Metrics = append(scope.Metrics, m)
		}
	}
	res.ScopeMetrics = []otlpScope{scope}
	return json.Marshal(otlpRequest{[]otlpResource{res}})
}

func unit(name string) string {
	switch {
	case strings.HasSuffix(name, "_seconds"):
		return "s"
	case strings.HasSuffix(name, "_bytes"):
		return "By"
	case strings.HasSuffix(name, "_ratio"):
		return "1"
	}
	return ""
}

// otlp sends the metrics to an OTLP/HTTP receiver.
func (c *courier) otlp(ctx context.Context) error {
	e := c.ending.Job.Outputs.Metrics.OTLP
	u, err := c.address(e, false)
	if err != nil {
		return err
	}
	body, err := otlpBody(c.ending)
	if err != nil {
		return err
	}
	text, err := c.post(ctx, e, u, "application/json", body, nil)
	if err != nil {
		return err
	}
	var answer otlpAnswer
	if len(text) > 0 && json.Unmarshal(text, &answer) == nil {
		if n := strings.Trim(string(answer.PartialSuccess.RejectedDataPoints), `"`); n != "" && n != "0" && n != "null" {
			return fmt.Errorf("%s took all but %s points", u.Host, report.LabelValue(n))
		}
	}
	return nil
}
