package mandate

import "strings"

// The vocabulary is English first, small and closed. A word that is missing here costs a question: the sentence it stands
// in is then understood less, never more.

func set(words string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(words) {
		m[w] = true
	}
	return m
}

var (
	// verbs can start a clause in the middle of a sentence: "..., and VERB". At the start of a sentence any word can.
	verbs = set(`accept access activate add adjust allow analyse analyze announce answer append apply approve archive arrange
		ask assign attach attend authorize authorise back backup block book bring broadcast browse build buy calculate call cancel
		change charge chat check choose clean clear click clone close collect comment commit compare complete compose compress
		compute confirm connect contact convert copy correct count create crop cut deactivate decline delete deliver deploy
		describe determine disable discard display distribute do donate download draft drop dm duplicate edit email e-mail enable
		enroll enter erase estimate evaluate execute explain export extend extract fax fetch fill filter find finish fix follow
		format forward gather generate get give grant group handle help identify import include inform insert inspect install
		invite invoice issue join keep label launch leave let list load lock log look mail make mark measure mention merge message
		modify monitor move mute name navigate note notify open order organise organize output pack pause pay perform pick pin
		ping place plan play post prepare present print proceed process produce promote propose provide publish pull purchase
		push put query quote rate read rebook recommend record redirect refund register reimburse reject release relay remind
		remit remove rename renew rent repay repeat replace reply report repost request reschedule research reserve reset resend
		resolve respond restart restore resubmit retrieve retry return retweet revert review revoke rewrite ring run save scan
		schedule scrape search select sell send set settle share ship show sign skip solve sort spend split star start stop store
		stream submit subscribe suggest sum summarise summarize swap switch sync synchronise tag take tell test text thank toggle
		track transcribe transfer translate transmit trash trigger try turn tweet type unblock uninstall unlock unmute unpin
		unshare unsubscribe update upgrade upload use validate verify view visit wait watch water wire withdraw work write
		congratulate greet welcome warn alert cc bcc hand pass raise file comment escalate assign react upvote like follow dial
		broadcast deposit top fund bid tip reward page radio nudge poke drop shoot compose`)

	// nounish verbs are nouns as often. In the middle of a sentence they are verbs only before an object.
	nounish = set(`access address answer back backup block book broadcast call change charge chat check clone comment commit contact
		copy cut dm draft drop email e-mail estimate fax file filter fix follow form forward fund group hand help invite invoice
		issue label leave like list load lock log look mail mark measure mention merge message move mute name note open order
		output page pass pay pick pin ping place plan play post present print process produce quote rate record refund release
		rent reply report repost request research reset return review ring run scan schedule search set share ship show sign
		sort split star start stop store stream sum swap switch tag test text thank tip top track transfer trash trigger try turn
		tweet type update upgrade upload use view visit wait watch water welcome wire work deposit reward review`)

	// towards are the nounish verbs that "to" follows: "and post to the channel". The others are nouns there: "the summary
	// and report to bob@x.example".
	towards = set(`answer call dm email e-mail fax forward mail message ping post reply respond return share text transfer tweet
		wire upload`)

	light     = set(`send write make leave post create do give drop shoot compose add set schedule book place put submit issue file publish initiate execute complete arrange perform process raise open start fire wire`)
	carrying  = set(`send write make post publish submit place complete issue execute process`) // of these the object may be definite
	speaking  = set(`send tell inform notify contact share deliver let update reach write reply respond ask thank congratulate forward invite answer alert warn remind greet welcome pass`)
	answering = set(`reply repli answer respond refund return reimburs repay reimburse`)
	reading   = set(`read open visit fetch get download retrieve load browse navigate scrape crawl check find look summariz summarise summarize extract pull clone import analyze analyse view see watch review search translat translate explain describ describe go list show tell access compar compare inspect install copy`)
	composing = set(`draft write compose prepare`)
	using     = set(`use go log sign navigate proceed try start begin continue`)
	stopping  = set(`stop avoid refrain quit cease`)

	fillers = set(`also just now first firstly next finally then afterwards afterward quickly again maybe perhaps simply only hey hi
		hello ok okay so well thanks thank yes yeah yep sure great good alright right cool once second secondly third thirdly
		lastly directly immediately really always kindly please pls plz bitte today tomorrow tonight still already instead
		later soon meanwhile additionally furthermore moreover automatically carefully briefly politely there then either both`)
	polite     = set(`please pls plz kindly bitte`)
	resets     = set(`but just instead please pls plz only rather simply kindly`)
	determiner = set(`the a an my your his her its our their this that these those all every each both any some no another other`)
	indefinite = set(`a an another new one some two three quick short brief`)
	definite   = set(`the my your his her its our their this that these those`)
	subjects   = set(`i we he she they it you this that these those there someone somebody everyone everybody people who i'm i've i'll i'd we're we've we'll we'd you're you've they're they've it's he's she's that's there's`)
	objects    = set(`it them him her me us this that these those everyone everybody all both`)
	questions  = set(`what what's when where where's who who's whom whose which why how how's did does do is are am was were has have had isn't aren't wasn't didn't doesn't haven't hasn't shall should may might can't couldn't`)
	auxiliary  = set(`is are am was were be been being has have had isn't aren't will would can could should must may might shall do does did 's`)
	openers    = set(`who whom whose that which where when if whether because since while until what why how unless although though whatever whoever wherever whenever as`)
	deferring  = set(`later myself tomorrow soon eventually someday ourselves planning plan thinking`)

	towardsPreps = set(`to cc bcc into onto towards toward`)
	loosePreps   = set(`at in on with for via using through over under inside within near after before during as per auf für für`)
	sourcePreps  = set(`from by of about regarding concerning re mentioning containing behind against than like including around between among
		belonging referring relating starting ending pointing coming von über`)
	notTargets = set(`according due thanks similar related next prior subject compared referring belonging addressed attached linked equal close response relative owing regards reference`)
	excluding  = set(`except excluding without besides minus not never neither nor nicht kein keine ohne außer`)

	compounds = set(`address addresses account accounts subject body thread threads id ids inbox list lists number numbers client app folder
		folders server link links history log logs exchange chain name names title date time board boards box template templates
		header headers attachment attachments signature settings provider domain contact contacts field content contents text
		message messages notification notifications digest system service tool api provider traffic`)
	abbreviations = set(`a.m p.m mr mrs ms dr prof st vs e.g i.e etc approx inc ltd jr sr dept`)

	functionWords = set(`the a an to of it in on at by for from with and or but if then is are be was were do does did not no yes
		me my you your he him his she her they them their we us our i this that these those as so who what when where which how
		please all any some can could will would should may might must up out new now here there`)
)

// pastForms maps irregular forms to their stems; what is regular ends in -ed.
var pastForms = map[string]string{
	"sent": "send", "wrote": "write", "written": "write", "paid": "pay", "told": "tell", "gave": "give", "given": "give",
	"made": "make", "bought": "buy", "sold": "sell", "found": "find", "got": "get", "gotten": "get", "took": "take",
	"taken": "take", "left": "leave", "said": "say", "spent": "spend", "lent": "lend", "met": "meet", "held": "hold",
	"kept": "keep", "ran": "run", "began": "begin", "did": "do", "done": "do", "saw": "see", "seen": "see", "heard": "hear",
	"brought": "bring", "chose": "choose", "chosen": "choose", "went": "go", "gone": "go", "came": "come", "knew": "know",
	"known": "know", "thought": "think", "asked": "ask", "forgot": "forget", "drew": "draw", "built": "build", "lost": "lose",
	"meant": "mean", "withdrew": "withdraw", "rewrote": "rewrite", "resent": "resend", "repaid": "repay", "spoke": "speak",
	"showed": "show", "shown": "show", "forwarded": "forward", "says": "say", "wants": "want", "has": "have", "was": "be",
	"hung": "hang", "led": "lead", "stood": "stand", "put": "", "set": "", "cut": "", "read": "", "let": "",
}

// stems maps what the rules below cannot: nouns of an act, and spellings of one verb.
var stems = map[string]string{
	"invitation": "invit", "reservation": "reserv", "payment": "pay", "deletion": "delet", "notification": "notify",
	"summary": "summariz", "summarise": "summariz", "e-mail": "email", "emails": "email", "e-mails": "email",
	"reply": "reply", "replies": "reply", "removal": "remov", "subscription": "subscrib", "publication": "publish",
	"reimbursement": "reimburs", "cancellation": "cancel", "registration": "regist", "register": "regist",
	"creation": "creat", "modification": "modify", "purchase": "purchas", "donation": "donat", "transaction": "transact",
	"announcement": "announc", "submission": "submit", "translation": "translat", "dms": "dm", "text": "text",
}
