// Package notify tells the outside world how a run ended: metrics to a textfile, a
// Pushgateway or an OTLP receiver, and notifications by webhook, Slack or mail.
//
// # Rules
//
//  1. What is told never changes how a run ends. Every place has ten seconds, all of
//     them side by side; a place that is dead, slow or refuses is one line of notes.
//  2. Nothing personal leaves: numbers, amounts by currency, names of the job file, the
//     run and its folder. No value of a row, and no message of an error, which may quote one.
//  3. A place gets what was declared for it: the host of a URL is on the list of the job,
//     redirects are not followed, and link-local addresses are never dialled. Secrets come
//     from files and variables, are sent as declared, and are in no note.
//  4. What a run knows replaces what the last one knew, metric by metric. A run that was
//     not published replaces only when a run last ended and how, one of an earlier date
//     than the newest besides when one last succeeded: what they left is still true.
package notify
