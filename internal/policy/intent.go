package policy

import (
	"slices"
	"strings"
)

// act is a kind of act: the words of tools' names that say so, the kinds of sinks that go with it, and the words by
// which people ask for it. People's words are stems in their base form; mandate bends them.
type act struct {
	tools set
	kinds []SinkKind
	asks  []string
	reads bool // only a tool that reads is of this kind: "visit x" does not ask for a post to x
}

// acts is what is known about acts. A tool may be of several kinds; its own name's words ask for it as well.
var acts = []act{
	{setOf(`send email mail gmail sms dm message reply respond forward draft notify compose tell contact text whatsapp`),
		[]SinkKind{KindEmail, KindPhone, KindUser},
		strings.Fields(`send email e-mail mail message write reply respond answer forward tell notify inform text contact draft cc share dm ping remind thank ask let`), false},
	{setOf(`post publish tweet announce broadcast comment channel slack discord blog toot upload webpage chat`),
		[]SinkKind{KindChannel},
		strings.Fields(`post publish send write share announce comment reply respond answer tell tweet message upload say ask put notify`), false},
	{setOf(`pay payment money transfer wire remit refund transaction payout deposit withdraw checkout purchase buy order invoice`),
		[]SinkKind{KindAccount},
		strings.Fields(`pay transfer send wire refund remit settle buy purchase order reimburse repay deposit donate return charge schedule update change adjust`), false},
	{setOf(`share grant permission access collaborator delegate acl`), nil,
		strings.Fields(`share grant give allow permit add invite let send`), false},
	{setOf(`invite member participant attendee guest user group team`), nil,
		strings.Fields(`invite add include join onboard enroll register share`), false},
	{setOf(`calendar event meeting schedule appointment reminder book reserve reservation booking`), nil,
		strings.Fields(`create schedule book add set plan arrange organize organise put make invite reserve remind move reschedule change update`), false},
	{setOf(`fetch get read browse visit navigate open crawl scrape webpage url http request download search`), []SinkKind{KindURL},
		strings.Fields(`read visit open fetch get browse check look see summarize summarise find search download view go show navigate crawl scrape review use follow click`), true},
	{setOf(`delete remove rm drop destroy purge wipe erase unlink trash truncate clear clean cancel revoke kick ban`), nil,
		strings.Fields(`delete remove erase wipe drop destroy trash clear clean cancel revoke discard undo kick ban purge unsubscribe`), false},
	{setOf(`create write update edit append push commit merge fork issue pull file repository repo branch gist page document note task ticket`), nil,
		strings.Fields(`create write update edit add append push commit merge fork open file make submit save change fix modify put publish report raise note record log`), false},
	{setOf(`password passcode pin credential secret key token mfa otp 2fa security`), nil,
		strings.Fields(`change update set reset rotate replace generate enable disable add`), false},
	{setOf(`run exec execute command bash shell script eval code`), nil,
		strings.Fields(`run execute start launch use call install build test deploy`), false},
}

// intentOf returns the words that ask for what a tool does, from its name and the kinds of its sinks.
func intentOf(name string, sinks []Sink) []string {
	verbs := toolWords(name)
	var out []string
	for _, v := range verbs {
		if len(v) > 2 && !isNumber(v) {
			out = append(out, v)
		}
	}
	for _, a := range acts {
		if a.reads && !saysReads(verbs) {
			continue
		}
		if a.tools.any(verbs) || slices.ContainsFunc(sinks, func(s Sink) bool { return slices.Contains(a.kinds, s.Kind) }) {
			out = append(out, a.asks...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// changeVerbs say of a tool that it changes what cannot be changed back, or what guards other things.
var changeVerbs = setOf(`cancel revoke disable deactivate terminate unlock disarm purchase buy order checkout reset overwrite
	shutdown reboot format kick ban close archive uninstall`)

var credentialNouns = setOf(`password passcode passphrase pin credential mfa 2fa otp`)

// consequenceOf guesses whether a tool changes things in a way that its user must have asked for, and on which
// arguments that shows: all that the tool requires.
func consequenceOf(tool Tool, args []argument, verbs []string) (*Consequence, string) {
	if saysReads(verbs) {
		return nil, ""
	}
	word, ok := destructive(verbs)
	if !ok {
		for _, v := range verbs {
			if changeVerbs[v] || credentialNouns[v] {
				word, ok = v, true
				break
			}
		}
	}
	if !ok {
		return nil, ""
	}
	required, _ := tool.InputSchema.Get("required")
	c := &Consequence{Guessed: true}
	for _, a := range args {
		if a.inner || !carriesText(a) {
			continue
		}
		for _, r := range required.Elems {
			if r.Text == a.param().Top() {
				c.Named = append(c.Named, a.param())
				break
			}
		}
	}
	return c, word
}
