package extract

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// sheetDigits is how many significant digits a number cell holds: what lies beyond
// is noise of the binary form, 19.899999999999999 for 19.9 (ECMA-376, §18.3.1.96,
// stores the double in full).
const sheetDigits = 15

// sheetNumber appends a stored number as a plain decimal of at most 15 significant
// digits, as the workbook shows it; whole tells that it is a whole number of that
// many digits or more, whose last ones may be lost. A number too large to be written
// out stays as it is.
func sheetNumber(b, stored []byte) (text []byte, long, ok bool) {
	form := decimalForm{mark: '.'}
	d, readable := form.parse(stored)
	if !readable {
		if _, err := strconv.ParseFloat(string(stored), 64); err != nil || strings.ContainsAny(string(stored), "xXpPnNiI_") {
			return b, false, false
		}
		return append(b, stored...), true, true
	}
	if d.digits() <= sheetDigits {
		return d.appendText(b), d.scale == 0 && d.digits() >= sheetDigits, true
	}
	digits := d.appendCoefficient(nil)
	if drop := len(digits) - sheetDigits; drop > 0 {
		if digits = roundUp(digits[:sheetDigits], digits[sheetDigits] >= '5'); drop > d.scale {
			digits = append(digits, strings.Repeat("0", drop-d.scale)...)
			drop = d.scale
		}
		if d, readable = parseDigits(digits, d.scale-drop, d.neg); !readable {
			return append(b, stored...), true, true
		}
	}
	return d.appendText(b), d.scale == 0 && d.digits() >= sheetDigits, true
}

// roundUp adds one in the last place where that is said.
func roundUp(digits []byte, up bool) []byte {
	for i := len(digits) - 1; up && i >= 0; i-- {
		if up = digits[i] == '9'; up {
			digits[i] = '0'
		} else {
			digits[i]++
		}
	}
	if up {
		digits = append([]byte{'1'}, digits...)
	}
	return digits
}

func parseDigits(digits []byte, scale int, neg bool) (dec, bool) {
	text := append(digits, 'e', '-')
	form := decimalForm{mark: '.'}
	d, ok := form.parse(strconv.AppendInt(text, int64(scale), 10))
	d.neg = neg && !d.isZero()
	return d, ok
}

// dateStyle says what of a number a cell's format shows.
type dateStyle uint8

const (
	styleNumber dateStyle = iota
	styleDate
	styleTime
	styleDateTime
)

// builtinStyle is the meaning of the formats that are known by number alone
// (ECMA-376 §18.8.30, with those that East Asian versions show).
func builtinStyle(id int) dateStyle {
	switch {
	case id >= 14 && id <= 17, id >= 27 && id <= 31, id == 36, id >= 50 && id <= 54, id == 57, id == 58:
		return styleDate
	case id >= 18 && id <= 21, id >= 32 && id <= 35, id == 45, id == 47, id == 55, id == 56:
		return styleTime
	case id == 22:
		return styleDateTime
	default:
		return styleNumber // 46, [h]:mm:ss, is a length of time: a number of days
	}
}

// styleOf reads a format code, its first section. Letters of a date outside quotes
// make a date; m stands for minutes where an hour or second is in the format. A
// length of time ([h]:mm) stays a number of days.
func styleOf(code string) dateStyle {
	var date, month, clock bool
	lower := strings.ToLower(code)
	if strings.HasPrefix(lower, "general") {
		return styleNumber
	}
scan:
	for i := 0; i < len(lower); i++ {
		switch c := lower[i]; c {
		case ';':
			break scan
		case '"':
			end := strings.IndexByte(lower[i+1:], '"')
			if end < 0 {
				break scan
			}
			i += end + 1
		case '\\', '_', '*':
			i++
		case '[':
			end := strings.IndexByte(lower[i:], ']')
			if end < 0 {
				break scan
			}
			if inner := strings.Trim(lower[i+1:i+end], string(lower[i+1])); inner == "" && strings.IndexByte("hms", lower[i+1]) >= 0 {
				return styleNumber
			}
			i += end
		case 'a': // am/pm, a/p
			for _, mark := range []string{"am/pm", "a/p"} {
				if strings.HasPrefix(lower[i:], mark) {
					clock = true
					i += len(mark) - 1
				}
			}
		case 'e':
			if i+1 < len(lower) && (lower[i+1] == '+' || lower[i+1] == '-') {
				i++ // an exponent
				continue
			}
			date = true
		case 'y', 'd', 'g', 'b':
			date = true
		case 'h', 's':
			clock = true
		case 'm':
			month = true
		}
	}
	switch {
	case date && clock:
		return styleDateTime
	case date, month && !clock:
		return styleDate
	case clock:
		return styleTime
	default:
		return styleNumber
	}
}

const msPerDay = 24 * 60 * 60 * 1000

// sheetDate appends a serial number as an ISO 8601 text: a day, a day with its time,
// or a time. A day that the format shows without a time has one in the text if the
// number has one: nothing is cut off. why is its fault, "" for a good one. Times are
// of whole milliseconds, the finest that a workbook shows.
func sheetDate(b, stored []byte, style dateStyle, from1904 bool) (text []byte, why string) {
	serial, err := strconv.ParseFloat(string(stored), 64)
	if err != nil || math.IsInf(serial, 0) || math.IsNaN(serial) {
		return b, "it should hold a date and is no number"
	}
	const last = 2958466 // the day after 9999-12-31
	if serial < 0 || serial >= last || from1904 && serial >= last-1462 {
		return b, "its number is outside the dates that a workbook has"
	}
	ms := int64(math.Round(serial * msPerDay))
	days, clock := ms/msPerDay, ms%msPerDay
	start := time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC)
	switch {
	case from1904:
		start = time.Date(1904, 1, 1, 0, 0, 0, 0, time.UTC)
	case days == 60:
		return b, "its number is 29 February 1900, a day that never was"
	case days < 60:
		start = start.AddDate(0, 0, 1)
	}
	if days == 0 && !from1904 || style == styleTime && days == 0 {
		if style == styleDate {
			return b, "its number is a time without a day"
		}
		return appendClock(b, clock), ""
	}
	b = start.AddDate(0, 0, int(days)).AppendFormat(b, time.DateOnly)
	if style == styleDate && clock == 0 {
		return b, ""
	}
	return appendClock(append(b, 'T'), clock), ""
}

// appendClock appends a time of day of milliseconds.
func appendClock(b []byte, ms int64) []byte {
	t := time.UnixMilli(ms).UTC()
	if ms%1000 == 0 {
		return t.AppendFormat(b, "15:04:05")
	}
	return t.AppendFormat(b, "15:04:05.000")
}
