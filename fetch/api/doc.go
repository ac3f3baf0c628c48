// Package api pulls services over HTTP: pages of records, or a report that the service
// makes on demand.
//
// # Pages
//
// Each page is stored as it came, compressed, before anything is read of it; what is read
// of it afterwards is read from the file. A list beside the files, pages.ndjson, has for
// each of them what was asked (without secrets), when, which headers came with it, its
// digest and what follows it. It is the checkpoint too: a pull that was cut short reads
// the list, and asks for what follows the last page that is there.
//
// # By what a pull is known to be whole
//
// The last page says that it is the last, in the way that the job declares. Besides, either
// the service says how many records there are: on every page the same number, and so many
// came. Or the first and the last page of each slice are asked for again at the end, and
// have to give the same records. Pages that are counted (offset, page) move when a record
// comes or goes while they are read, so that one may be missed on the seam though every
// page looks right: unless the job declares the order stable, all of them are asked for
// twice and compared, and no record may be on two of them. Where something has changed, all is
// asked for again, up to limits.passes; then the pull is refused.
package api
