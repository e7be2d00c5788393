package policy

import "strings"

// What real servers call destinations, paths and acts. All words are lower case and singular (see words).
var (
	readVerbs = setOf(`get list read search find fetch query show describe view count lookup check retrieve browse
		inspect fetch explain analyze validate verify status health preview resolve scrape crawl extract`)

	// actVerbs make a tool more than a reader, wherever they stand in its name.
	actVerbs = setOf(`send create write put insert upload edit publish invite append replace submit save
		execute exec eval pay grant subscribe register enable and or then tweet`)

	// mixedVerbs do so only before the word that says it reads: get_commit reads, commit_and_get does not.
	mixedVerbs = setOf(`broadcast post update add set patch push share forward reply respond notify message dm email mail sms
		store sync export import transfer move copy rename assign trigger run merge fork commit comment react schedule
		draft call dial connect open start make do apply deploy install request order book buy purchase manage change`)

	// sendVerbs send even when no argument says where to.
	sendVerbs = setOf(`send reply forward publish broadcast tweet share respond`)
	// publicThings are read by whoever has their link, however they are made (A16).
	publicThings = setOf(`paste pastebin gist`)
	makeVerbs    = setOf(`create update compose draft edit delete remove cancel stop port mark move add`)
	joining      = setOf(`and or then`)

	destroyVerbs = setOf(`rm drop destroy purge wipe erase unlink truncate`)

	writeVerbs = setOf(`write create save put upload edit move copy append rename delete remove rm mkdir download
		export insert patch modify update replace extract unzip untar touch store dump generate make clone screenshot
		init add commit checkout link symlink set install scaffold convert render`)

	execVerbs = setOf(`exec execute run eval evaluate bash sh zsh shell terminal powershell pwsh cmd command script
		python node code sandbox ssh process spawn console`)

	execNouns = setOf(`command cmd commandline script code shell program expression function argv`)

	// A tool that calls others has their destinations in its arguments (A44): invoke_tool, batch_execute_operations.
	innerVerbs  = setOf(`invoke call execute exec run dispatch batch proxy`)
	innerThings = setOf(`tool function operation op capability`)
	innerNouns  = setOf(`argument arg param parameter input payload operation tool call`)

	// A search on the web goes out, with whatever the query holds (A07).
	lookups    = setOf(`web internet online google bing brave duckduckgo exa tavily serp perplexity kagi browser`)
	queryNouns = setOf(`query queries q question prompt search keyword term`)

	urlNouns = setOf(`url uri href link endpoint webhook callback hook host hostname website site_url ip iri`)

	mailNouns = setOf(`email mail mailto emailaddress recipient receiver addressee address to cc bcc iban payee
		beneficiary payto phone telephone mobile msisdn fax whatsapp wallet attendee invitee guest participant
		collaborator delegate subscriber follower audience`)

	channelNouns = setOf(`channel chat room conversation repo repository webhook hook`)
	ownerNouns   = setOf(`owner organization organisation org`)

	// personNouns name a destination when the tool's act is to reach or to let in somebody.
	personNouns = setOf(`user username login member person contact domain group team topic queue arn bucket number
		recipient destination target dest remote origin server customer`)
	reachVerbs = setOf(`send share invite dm message notify forward grant publish push transfer pay upload call dial
		sms broadcast post sync mail email tell permission member wire payment`)
	payVerbs  = setOf(`pay payment transfer wire send deposit withdraw remit payout refund`)
	payNouns  = setOf(`account iban payee card destination`)
	codeVerbs = setOf(`push fork upload merge`)
	codeNouns = setOf(`project namespace`)

	// towards before a noun makes it a destination: to_account, targetAddress, destinationBucket, shareWith.
	towards = setOf(`to dest destination target recipient receiver share shared forward forwarding invite notify
		outgoing remote send deliver`)
	towardsNouns = setOf(`account user address email mail number phone wallet channel chat room recipient url uri
		host server repo repository owner org bucket person contact member group with to addr spreadsheet document drive
		project team workspace`)

	pathNouns  = setOf(`path file filename filepath dir directory pathname cwd`)
	movedNouns = setOf(`source src dest destination target from to`)
	fileVerbs  = setOf(`move copy rename save write put edit create download export clone link symlink mv cp append`)

	// tails say that a name is an identifier of what stands before.
	relations = setOf(`relation relationship edge association`)
	tails     = setOf(`id gid sid uuid name key handle slug identifier ref`)
	plurals   = setOf(`list string str value input param array csv`)
)

type class struct {
	what     string
	contacts bool
}

// classify says what kind of destination an argument looks like.
func classify(a argument, verbs []string) (class, bool) {
	if !carriesText(a) {
		return class{}, false
	}
	switch a.format {
	case "uri", "url", "iri", "uri-reference", "iri-reference", "hostname", "idn-hostname", "ipv4", "ipv6", "uri-template":
		return class{"an address on the network", true}, true
	case "date", "date-time", "time", "duration":
		return class{}, false
	}
	if a.name() == anyName {
		return class{}, false
	}
	ws := trimWords(words(a.name()), plurals)
	if len(ws) == 0 || foreign(a.name()) {
		return class{"something in words that these rules do not know", false}, foreign(a.name())
	}
	if a.format == "email" || a.format == "idn-email" {
		return class{"a mailbox", false}, ws[len(ws)-1] != "from" && ws[len(ws)-1] != "sender"
	}
	if numeric(a) {
		return classifyNumber(ws, verbs)
	}
	if len(a.path) > 1 && ws[len(ws)-1] == "to" && relations.any(words(a.path[len(a.path)-2])) {
		return class{}, false // the end of an edge, not of a way
	}
	return classifyWords(ws, verbs)
}

// classifyNumber: chats, accounts and telephones have numbers; a number of URLs is no URL.
func classifyNumber(ws, verbs []string) (class, bool) {
	c, ok := classifyWords(ws, verbs)
	if c.contacts || mailNouns[ws[len(ws)-1]] && len(ws) > 1 {
		return class{}, false
	}
	return c, ok
}

func numeric(a argument) bool {
	for k := range a.kinds {
		if k != "integer" && k != "number" && k != "null" && k != "boolean" {
			return false
		}
	}
	return len(a.kinds) > 0
}

func classifyWords(ws, verbs []string) (class, bool) {
	last := ws[len(ws)-1]
	if urlNouns[last] || hasSuffix(last, "url", "uri", "webhook", "callback", "endpoint", "hostname") {
		return class{"an address on the network", true}, true
	}
	if execNouns[last] && execVerbs.any(verbs) {
		return class{"code that can reach anywhere", true}, true
	}
	if innerNouns[last] && innerVerbs.any(verbs) && innerThings.any(verbs) {
		return class{"what another tool is to do", true}, true
	}
	if ownerNouns[last] {
		return class{"whose place it is", false}, true
	}
	if named := trimWords(ws, tails); len(named) > 0 {
		noun := named[len(named)-1]
		if channelNouns[noun] || channelNouns[strings.TrimSuffix(noun, "id")] {
			return class{"a place where others read", false}, true
		}
		if reaches(noun, verbs) {
			return class{"somebody to reach", false}, true
		}
	}
	if mailNouns[last] && !(len(ws) > 1 && last == "to" && ws[0] != "reply" && !towards[ws[0]]) ||
		hasSuffix(last, "email", "emailaddress", "recipient", "phonenumber") {
		return class{"a recipient", false}, true
	}
	if len(ws) > 1 && (last == "number" && phoneWords.any(ws[:len(ws)-1]) || last == "forward") {
		return class{"a recipient", false}, true
	}
	switch last {
	case "forward", "destination":
		return class{"where something goes", false}, !(fileVerbs.any(verbs) && last == "destination")
	}
	if len(ws) > 1 && towards[ws[0]] && (towardsNouns[trimWords(ws[1:], tails)[0]] || len(ws) == 2 && last == "id") {
		return class{"where something goes", false}, true
	}
	return class{}, false
}

// reaches reports whether a noun names a destination for a tool with these verbs, though it need not for others.
func reaches(noun string, verbs []string) bool {
	switch {
	case fileVerbs.any(verbs) && movedNouns[noun]:
		return false
	case payNouns[noun] && payVerbs.any(verbs) && !mailNouns.any(verbs):
		return true
	case codeNouns[noun] && codeVerbs.any(verbs):
		return true
	}
	return personNouns[noun] && reachVerbs.any(verbs)
}

var phoneWords = setOf(`phone telephone mobile account routing card iban fax sms whatsapp bank`)

// pathShaped reports whether an argument looks like the path of a file.
func pathShaped(a argument, verbs []string) bool {
	if !carriesText(a) || a.name() == anyName {
		return false
	}
	ws := trimWords(words(a.name()), plurals)
	if len(ws) == 0 {
		return false
	}
	last := ws[len(ws)-1]
	if pathNouns[last] || hasSuffix(last, "path", "filename", "directory") {
		return true
	}
	if last == "name" && len(ws) > 1 && pathNouns[ws[len(ws)-2]] {
		return true
	}
	if last == "dest" || last == "destination" {
		return true
	}
	return len(ws) == 1 && movedNouns[last] && movers.any(verbs)
}

var movers = setOf(`move copy rename mv cp link symlink`)

// trimWords drops trailing words that are in drop; it keeps the last one that is left.
func trimWords(ws []string, drop set) []string {
	for len(ws) > 1 && (drop[ws[len(ws)-1]] || isNumber(ws[len(ws)-1])) {
		ws = ws[:len(ws)-1]
	}
	return ws
}

func isNumber(s string) bool {
	return strings.Trim(s, "0123456789") == ""
}

// hasSuffix reports whether w is a longer word that was written together, like webhookurl.
func hasSuffix(w string, suffixes ...string) bool {
	for _, s := range suffixes {
		if len(w) > len(s)+1 && strings.HasSuffix(w, s) {
			return true
		}
	}
	return false
}

// carriesText reports whether an argument can hold a destination: a flag cannot, a number can be a chat.
func carriesText(a argument) bool {
	for k := range a.kinds {
		if k != "boolean" && k != "null" {
			return true
		}
	}
	return len(a.kinds) == 0
}

// foreign reports whether a name is written in letters that the word lists cannot hold (also: look-alike letters).
func foreign(name string) bool {
	for _, r := range name {
		if r >= 0x80 {
			return true
		}
	}
	return false
}
