package extract

import (
	"regexp"

	"github.com/recon-batch/recon-batch/rules"
)

// hiddenCell stands in messages for a text of a file, where the job declares personal
// fields: which of them a broken record has at a place, nobody can say.
const hiddenCell = "(hidden)"

// quoteCell shows the text of a cell in a message.
func quoteCell(text string, hide bool) string {
	if hide {
		return hiddenCell
	}
	return quoteName(text)
}

// hidingCells tells a reader of lines of several kinds whether its messages may quote.
func hidingCells(src *rules.Source) func(*kindReader, error) (Reader, error) {
	return func(k *kindReader, err error) (Reader, error) {
		if err == nil {
			k.hide = src.HideCells
		}
		return orNil(k, err)
	}
}

// quotedText is a text in quotes as Go writes them: the package bank quotes nothing but
// what stands in the file.
var quotedText = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)

func unquoted(message string) string { return quotedText.ReplaceAllString(message, hiddenCell) }
