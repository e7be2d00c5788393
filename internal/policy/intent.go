package policy

import (
	"slices"
	"strings"
)

// act is a kind of act: which words of a tool's name say so, and the words by which people ask for it. People's words are
// in their base form; mandate bends them. Verbs that go with everything (create, add, get) ask for nothing by themselves.
type act struct {
	verbs set  // one of these stands in the name
	nouns set  // and one of these, unless there are none
	not   set  // and none of these
	reads bool // only a tool that reads is of this kind: "visit x" does not ask for a post to x
	asks  []string
}

var (
	talking = strings.Fields(`send email e-mail mail message write reply respond answer forward tell notify inform text
		contact draft cc dm ping remind thank ask share let`)
	posting = strings.Fields(`post publish send write share announce comment reply respond answer tell tweet message upload
		submit say ask put`)
	paying = strings.Fields(`pay transfer wire refund remit settle reimburse repay deposit donate return charge send
		payment transaction money withdraw`)
	booking = strings.Fields(`reserve reservation book booking rent hire order`)
	meeting = strings.Fields(`event calendar meeting appointment schedule reschedule invite remind reminder book plan
		participant attendee`)
	inviting = strings.Fields(`invite invitation add include join onboard enroll register`)
	sharing  = strings.Fields(`share grant give access permission let collaborate invite`)
	deleting = strings.Fields(`delete remove erase wipe drop destroy trash clear clean cancel revoke discard kick ban purge
		unsubscribe uninvite`)
	reading = strings.Fields(`read visit open fetch get browse check look see summarize summarise find search download view
		go show navigate crawl scrape review use follow click tell`)
	running = strings.Fields(`run execute start launch call install build test deploy`)
	coding  = strings.Fields(`push commit merge fork open create make submit publish file report issue gist upload update`)
)

// acts is what is known about acts. A tool may be of several kinds.
var acts = []act{
	{verbs: setOf(`send reply respond forward message notify dm email mail sms text compose draft contact`),
		not: setOf(`money payment fund transaction ether crypto invitation delete remove trash archive mark move label modify update
			cancel purge clear search list get`), asks: talking}, // behind these an email is a thing: delete_email sends none
	{verbs: setOf(`send post write`), nouns: setOf(`channel chat room group thread`), asks: posting},
	{verbs: setOf(`post publish tweet comment announce broadcast blog`), asks: posting},
	{verbs: setOf(`pay transfer wire remit refund withdraw deposit payout donate`), asks: paying},
	{verbs: setOf(`send request schedule update create make`), nouns: setOf(`money payment fund transaction payout ether crypto`),
		asks: append(strings.Fields(`schedule adjust update change set recurring standing`), paying...)},
	{verbs: setOf(`purchase buy order checkout`), asks: strings.Fields(`buy purchase order checkout pay get`)},
	{verbs: setOf(`reserve book rent`), asks: booking},
	{verbs: setOf(`create add schedule update reschedule book move set manage`), nouns: setOf(`event meeting appointment calendar reminder`), asks: meeting},
	{verbs: setOf(`invite`), asks: inviting},
	{verbs: setOf(`add invite`), nouns: setOf(`user member participant attendee guest collaborator person people contact`), asks: inviting},
	{verbs: setOf(`share grant`), asks: sharing},
	{verbs: setOf(`delete remove rm drop destroy purge wipe erase unlink trash truncate clear clean cancel revoke kick ban`), asks: deleting},
	{verbs: changeVerbs, asks: strings.Fields(`cancel revoke disable deactivate terminate unlock reset close`)},
	{verbs: setOf(`run execute exec eval`), asks: running},
	{verbs: setOf(`fork`), asks: strings.Fields(`fork copy clone`)},
	{verbs: setOf(`push commit merge create update open submit upload`), nouns: setOf(`issue pull request pr repository repo branch gist file release commit`), asks: coding},
	{verbs: readVerbs, reads: true, asks: reading},
}

// generic are words of tools' names that go with every act.
var generic = setOf(`create add update get set make put new do manage change edit list user data item info information to
	from in of by with for and or id name all my your the api tool mcp server send`)

// changing are words for a change; which act it is, only the thing that is changed tells: "change my password".
var changing = strings.Fields(`update change edit modify set reset rotate replace adjust`)

var managing = strings.Fields(`manage create add delete remove cancel move`)

// intentOf returns the words that ask for what a tool does, from its name.
func intentOf(name string) []string {
	verbs := toolWords(name)
	reader := saysReads(verbs)
	ways := changing
	if slices.Contains(verbs, "manage") {
		ways = append(slices.Clip(changing), managing...)
	}
	changes := setOf(strings.Join(ways, " ")).any(verbs)
	var out []string
	for _, v := range verbs {
		if len(v) > 2 && !isNumber(v) && !generic[v] {
			out = append(out, v)
			for _, c := range ways {
				if changes && c != v {
					out = append(out, c+" "+v)
				}
			}
		}
	}
	for _, a := range acts {
		if a.verbs.any(verbs) && (a.nouns == nil || a.nouns.any(verbs)) && !a.not.any(verbs) && (reader || !a.reads) {
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
		return actsForOthers(verbs)
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

// Words of tools that act on the world, let somebody in, or change what guards other things, whatever their arguments. A
// request for such an act is enough; without one, nobody asked for it.
var (
	handOver   = setOf(`grant give share manage dispatch redirect reroute control trigger authorize permit approve`)
	actuate    = setOf(`schedule set turn switch toggle activate operate`)
	actuators  = setOf(`device action light lock alarm thermostat appliance camera vehicle valve door`)
	edits      = setOf(`create add update set edit change modify configure remove replace put patch`)
	guardNouns = setOf(`policy profile rule permission role access setting preference privilege firewall allowlist whitelist blocklist`)
)

// actsForOthers guesses a consequence from the act alone.
func actsForOthers(verbs []string) (*Consequence, string) {
	for _, v := range verbs {
		switch {
		case handOver[v], actuate[v] && actuators.any(verbs), guardNouns[v] && edits.any(verbs):
			return &Consequence{Guessed: true, Asked: true}, v
		}
	}
	return nil, ""
}
