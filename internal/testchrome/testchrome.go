// Package testchrome opens pages in the Chromium of this machine, headless, and asks
// axe-core what is wrong with them. Only tests import it.
package testchrome

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// tester is what this package needs of a test.
type tester interface {
	Helper()
	Fatalf(format string, args ...any)
	Skipf(format string, args ...any)
	Errorf(format string, args ...any)
	Cleanup(func())
}

// programs are the names under which Chromium is installed.
var programs = []string{"chromium", "chromium-browser", "google-chrome"}

// missing ends a test that lacks what it needs: it is skipped, and says so; with
// CI=true it fails.
func missing(t tester, what, script string) {
	t.Helper()
	const how = "%s is missing: run scripts/%s"
	if os.Getenv("CI") == "true" {
		t.Fatalf(how, what, script)
	}
	t.Skipf("NOT TESTED: "+how, what, script)
}

// patience is how long something of a page may take, on a busy machine too.
const patience = 5 * time.Minute

// Browser is a running Chromium that ends with the test.
type Browser struct{ ctx context.Context }

// Start starts a Chromium with a profile of its own. It asks nothing of any network by
// itself.
func Start(t tester) *Browser {
	t.Helper()
	path := ""
	for _, name := range programs {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		missing(t, "Chromium", "install-chromium, as root on Debian")
	}
	profile, err := os.MkdirTemp("", "recon-chromium-")
	if err != nil {
		t.Fatalf("%v", err)
	}
	// It is removed last, when the browser writes to it no more.
	t.Cleanup(func() {
		if err := os.RemoveAll(profile); err != nil {
			t.Errorf("the profile of Chromium cannot be removed: %v", err)
		}
	})
	options := []chromedp.ExecAllocatorOption{chromedp.ExecPath(path), chromedp.UserDataDir(profile), chromedp.NoSandbox}
	for _, flag := range []string{"headless", "disable-gpu", "disable-quic", "no-first-run", "no-default-browser-check", "disable-background-networking",
		"disable-component-update", "disable-sync", "disable-extensions", "disable-dev-shm-usage", "metrics-recording-only", "mute-audio"} {
		options = append(options, chromedp.Flag(flag, true))
	}
	allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, end := chromedp.NewContext(allocator)
	t.Cleanup(func() {
		end()
		stop()
	})
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("Chromium cannot be started: %v", err)
	}
	return &Browser{ctx: ctx}
}

// Look is how a page is opened.
type Look struct {
	Width, Height int64 // of the window in CSS pixels; 0: 1280 × 900
	Dark          bool  // the system asks for dark colours
	NoScript      bool  // JavaScript is off
}

// Page is one tab.
type Page struct {
	t   tester
	ctx context.Context

	mu       sync.Mutex
	own      map[string]int // how often the test itself opens an address, and it was not yet asked for
	requests []string       // addresses that were asked for beside
	messages []string       // of the console, and errors of scripts
}

// Open opens an address in a new tab and waits until it is loaded.
func (b *Browser) Open(t tester, url string, look Look) *Page {
	t.Helper()
	ctx, end := chromedp.NewContext(b.ctx)
	t.Cleanup(end)
	p := &Page{t: t, ctx: ctx, own: map[string]int{}}
	messages := chromedp.Console(ctx)
	requests := chromedp.Events(ctx, network.RequestWillBeSent)
	// Both end with the tab: what is asked for or said until then is kept.
	go func() {
		for m, err := range messages {
			if err != nil {
				return
			}
			p.add(&p.messages, m.String())
		}
	}()
	go func() {
		for e, err := range requests {
			if err != nil {
				return
			}
			p.asked(e.Request.URL)
		}
	}()
	if look.Width == 0 {
		look.Width, look.Height = 1280, 900
	}
	p.do(call(network.Enable, network.EnableParams{}))
	p.do(chromedp.EmulateViewport(look.Width, look.Height))
	p.Dark(look.Dark)
	if look.NoScript {
		p.do(call(emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}))
	}
	p.Go(url)
	return p
}

func call[P, R any](cmd cdp.Command[P, R], params P) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, cmd, params)
		return err
	})
}

// asked notes a request, unless it is the one by which the test opens a page.
func (p *Page) asked(url string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.own[url] > 0 {
		p.own[url]--
		return
	}
	p.requests = append(p.requests, url)
}

func (p *Page) add(to *[]string, text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	*to = append(*to, text)
}

func (p *Page) do(steps ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	if err := chromedp.Do(p.ctx, steps...); err != nil {
		p.t.Fatalf("Chromium: %v", err)
	}
}

// Requests lists the addresses that the page asked for beside itself.
func (p *Page) Requests() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.requests...)
}

// Messages lists what the console says, exceptions that nothing caught among them.
func (p *Page) Messages() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.messages...)
}

// Dark switches what the system asks for, dark colours or light ones.
func (p *Page) Dark(dark bool) {
	p.t.Helper()
	value := "light"
	if dark {
		value = "dark"
	}
	p.do(call(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: value}}}))
}

// Print switches to the styles of print, or back.
func (p *Page) Print(on bool) {
	p.t.Helper()
	media := ""
	if on {
		media = "print"
	}
	p.do(call(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: media}))
}

// Size gives the window another size.
func (p *Page) Size(width, height int64) {
	p.t.Helper()
	p.do(chromedp.EmulateViewport(width, height))
}

// Eval runs an expression in the page, waits for it where it is a promise, and decodes
// its value from JSON. It works where JavaScript is off for the page too, but for promises,
// which then never come.
func (p *Page) Eval(expression string, into any) {
	p.t.Helper()
	ctx, end := context.WithTimeout(p.ctx, patience)
	defer end()
	data, err := chromedp.Run(ctx, chromedp.Evaluate[[]byte](expression, chromedp.EvalAwaitPromise, chromedp.EvalAsValue))
	if err != nil {
		p.t.Fatalf("in the page: %v\n%s", err, short(expression))
	}
	if into == nil {
		return
	}
	if err := json.Unmarshal(data, into); err != nil {
		p.t.Fatalf("in the page: %v: %s\n%s", err, data, short(expression))
	}
}

func short(s string) string { return s[:min(len(s), 300)] }

// Text is the value of an expression as text.
func (p *Page) Text(expression string) string {
	p.t.Helper()
	var s string
	p.Eval("String("+expression+")", &s)
	return s
}

// Until waits until an expression is true; after a minute the test ends.
func (p *Page) Until(expression string) {
	p.t.Helper()
	const wait = `new Promise((yes, no) => { let n = 0; const look = () => (%s) ? yes(true) : ++n > 2400 ? no(new Error("it never came true")) : setTimeout(look, 25); look(); })`
	p.Eval(fmt.Sprintf(wait, expression), nil)
}

// Key presses keys, as a person does, where the focus is: characters, or those of
// chromedp/kb.
func (p *Page) Key(keys string) {
	p.t.Helper()
	p.do(chromedp.KeyEvent(keys))
}

// Click clicks the middle of the element that a selector finds, with the mouse.
func (p *Page) Click(selector string) {
	p.t.Helper()
	var at [2]float64
	p.Eval(fmt.Sprintf(`(() => { const e = document.querySelector(%q); e.scrollIntoView({block: "center"}); const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; })()`, selector), &at)
	p.do(chromedp.MouseClickXY(at[0], at[1]))
}

// PDF prints the page on A4 with its own margins, as a person who prints it to a file.
func (p *Page) PDF() []byte {
	p.t.Helper()
	data, err := chromedp.Run(p.ctx, chromedp.PrintToPDF(chromedp.PDFPaper(chromedp.PaperA4), chromedp.PDFPreferCSSPageSize(), chromedp.PDFPrintBackground()))
	if err != nil {
		p.t.Fatalf("the page cannot be printed: %v", err)
	}
	return data
}

// Shot writes pictures of the whole page, from top to bottom, into the folder that the
// environment variable RECON_SHOTS names; without it there are none.
func (p *Page) Shot(name string) {
	p.t.Helper()
	dir := os.Getenv("RECON_SHOTS")
	if dir == "" {
		return
	}
	const high = 1800
	var size [2]float64
	p.Eval("[innerWidth, document.documentElement.scrollHeight]", &size)
	for i := 0; float64(i*high) < size[1]; i++ {
		y := float64(i * high)
		shot, beyond := page.CaptureScreenshotParams{Clip: &page.Viewport{Y: y, Width: size[0], Height: min(high, size[1]-y), Scale: 1}}, true
		shot.CaptureBeyondViewport = &beyond
		res, err := chromedp.Call(p.ctx, page.CaptureScreenshot, shot)
		if err != nil {
			p.t.Fatalf("no picture of %s: %v", name, err)
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%s-%02d.png", name, i)), res.Data, 0o644); err != nil {
			p.t.Fatalf("%v", err)
		}
	}
}

// Sentinel makes every later document of the tab notice the calls that hostile values
// try: the expression window.__ran is then true.
func (p *Page) Sentinel() {
	p.t.Helper()
	p.do(call(page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{
		Source: `window.__ran = false; for (const f of ["alert", "confirm", "prompt", "print", "open", "eval"]) window[f] = () => { window.__ran = true; };`}))
}

// Go opens another address in the tab.
func (p *Page) Go(url string) {
	p.t.Helper()
	own, _, _ := strings.Cut(url, "#") // the rest of an address is asked of nobody
	p.mu.Lock()
	p.own[own]++
	p.mu.Unlock()
	p.do(chromedp.Navigate(url))
}
