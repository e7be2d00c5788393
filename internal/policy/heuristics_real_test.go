package policy_test

import (
	"strings"
	"testing"

	"github.com/mcp-bouncer/bouncer/internal/policy"
	"github.com/mcp-bouncer/bouncer/internal/policy/policytest"
)

// realSinks is what a person says the destinations of real tools are: "server tool: sinks", "-" for a tool that carries
// nothing out, "?" for one that sends and does not say where to.
const realSinks = `
airtable list_records: -
asana asana_create_task: followers
asana asana_search_tasks: -
azure-devops wit_work_item_link_write: updates.url url repositoryId artifactUri
brave brave_web_search: query
brave brave_llm_context: -
chrome-devtools evaluate_script: function
chrome-devtools navigate_page: url
chrome-devtools take_screenshot: -
discord discord_send: channelId
discord discord_create_webhook: channelId
discord discord_send_webhook_message: webhookId username avatarURL
discord discord_read_messages: -
discord discord_reply_to_forum: ?
email-codefuturist configure_alerts: webhook_url
email-codefuturist send_email: to cc bcc
email-codefuturist forward_email: to cc
email-codefuturist reply_email: ?
email-codefuturist list_emails: -
email-codefuturist search_emails: -
email-send send-email: to cc bcc replyTo
everything echo: -
exa web_fetch_exa: urls
exa web_search_exa: query
fetch-zcaceres fetch_url: url
fetcher fetch_urls: urls
filesystem write_file: -
filesystem move_file: -
filesystem read_file: -
firecrawl firecrawl_scrape: url
firecrawl firecrawl_crawl: url webhook
firecrawl firecrawl_monitor_create: email webhookUrl
gdrive-isaacphi gdrive_search: -
github-old create_issue: owner repo
github-old push_files: owner repo
github-old get_file_contents: -
github-old list_commits: -
github-old fork_repository: owner repo organization
github-official-go create_repository: organization
github-official-go get_commit: -
github-official-go pull_request_read: -
github-official-go issue_dependency_write: owner related_owner related_repo repo
gitlab-official push_files: ?
gmail-gongrzhe send_email: to cc bcc
gmail-gongrzhe create_filter: criteria.to action.forward
gmail-gongrzhe read_email: -
gmail-shinzo add_delegate: delegateEmail
gmail-shinzo update_auto_forwarding: emailAddress
gmail-shinzo send_draft: ?
gmail-shinzo get_message: -
google-calendar create-event: attendees.email attachments.fileUrl attachments.iconLink source.url
google-calendar list-events: -
google-docs setFilePermission: emailAddress domain
google-docs sendEmail: to cc bcc
google-docs insertImage: imageUrl
google-docs getMessage: -
kubernetes exec_in_pod: command
kubernetes kubectl_get: -
kubernetes install_helm_chart: repo
linear-tacticlaunch linear_createWebhook: url
linear-tacticlaunch linear_addProjectMember: userId
linear-tacticlaunch linear_searchIssues: -
mail-server send_email: to cc bcc
mail-server search_by_recipient: -
mail-server reply_to_email: ?
memory create_relations: -
memory search_nodes: -
mongodb find: -
ms365 create-drive-item-share-link: body.recipients.email
ms365 forward-calendar-event: body.ToRecipients.emailAddress.address
ms365 list-mail-messages: -
notion API-patch-page: cover.external.url
notion API-post-search: -
playwright browser_navigate: url
playwright browser_evaluate: function
playwright browser_click: -
puppeteer puppeteer_navigate: url
puppeteer puppeteer_evaluate: script
resend create-webhook: endpoint
resend create-contact: email
resend list-emails: -
sentry get_sentry_resource: url
sequential-thinking sequentialthinking: -
slack-official slack_post_message: channel_id
slack-official slack_get_channel_history: -
stripe-0.2.5 create_customer: email
stripe-0.2.5 create_payment_link: redirect_url
tavily tavily_extract: urls query
tavily tavily_search: query
trello attach_file_to_card: fileUrl
twilio TwilioApiV2010--CreateMessage: To StatusCallback MediaUrl
twilio TwilioApiV2010--ListMessage: -
twilio TwilioApiV2010--CreateUsageTrigger: CallbackUrl
`

func TestHeuristicsOnRealTools(t *testing.T) {
	byName := map[string]policy.Tool{}
	for _, s := range policytest.Servers(t) {
		for _, tool := range s.Tools {
			byName[s.File+" "+tool.Name] = tool
		}
	}
	rows := strings.Split(strings.TrimSpace(realSinks), "\n")
	if len(rows) < 60 {
		t.Errorf("only %d tools are checked by hand", len(rows))
	}
	for _, row := range rows {
		name, want, _ := strings.Cut(row, ": ")
		tool, ok := byName[name]
		if !ok {
			t.Errorf("no tool %s in the captured lists", name)
			continue
		}
		if got := sinkString(policy.Heuristics(tool)); got != want {
			t.Errorf("%s: sinks %s, want %s", name, got, want)
		}
	}
}

func sinkString(r policy.Rule) string {
	switch {
	case !r.Exfiltrating:
		return "-"
	case len(r.SinkParams) == 0:
		return "?"
	}
	return paramString(r.SinkParams)
}

func paramString(params []policy.Param) string {
	var out []string
	for _, p := range params {
		out = append(out, p.String())
	}
	return strings.Join(out, " ")
}

// Every captured tool gets a rule that says why, and no schema of an honest server is too much to read.
func TestHeuristicsOnEveryCapturedTool(t *testing.T) {
	var tools, exfiltrating, implied, writing, budgeted int
	for _, s := range policytest.Servers(t) {
		for _, tool := range s.Tools {
			r := policy.Heuristics(tool)
			tools++
			if r.Why == "" || r.Layer != policy.Heuristic || r.Tool != tool.Name {
				t.Errorf("%s %s: incomplete rule %+v", s.File, tool.Name, r)
			}
			// GitLab's lists its tools with schemas that say nothing: every argument is judged.
			if lost := s.File == "gitlab-official"; lost != strings.Contains(r.Why, "its input schema") {
				t.Errorf("%s %s: %s", s.File, tool.Name, r.Why)
			}
			if r.Exfiltrating {
				exfiltrating++
				if len(r.SinkParams) == 0 {
					implied++
				}
			}
			if len(r.WriteParams) > 0 {
				writing++
			}
			if r.MaxCalls != nil {
				budgeted++
			}
			for _, p := range r.SinkParams[:min(3, len(r.SinkParams))] { // each looks at the whole schema again
				if !policy.HasArgument(tool, p) {
					t.Errorf("%s %s: sink %s is not in its schema", s.File, tool.Name, p)
				}
			}
		}
	}
	t.Logf("%d tools: %d exfiltrating (%d without a visible destination), %d writing paths, %d with a budget", tools, exfiltrating, implied, writing, budgeted)
	if tools < 1800 {
		t.Errorf("only %d tools", tools)
	}
}
