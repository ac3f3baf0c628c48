package report

// AgeBucket counts the open items (see OpenItems) of one queue by their age at the
// reference time. All buckets of a queue together are its items. Every queue but confirm
// has every bucket, in the order of time.
type AgeBucket struct {
	Queue     string  `json:"queue"`
	Bucket    string  `json:"bucket"`        // 0-1d, 1-3d, 3-7d, 7-30d, 30d+; unknown: no time; waiting: a source proves nothing for their time, their age counts nowhere
	FromSecs  *int64  `json:"from_seconds"`  // half-open; null: none
	UntilSecs *int64  `json:"until_seconds"` // null: none
	Items     int64   `json:"items"`
	Amounts   []Money `json:"amounts"` // by currency
}
