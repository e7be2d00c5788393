package policy

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestExtends: a rule that extends another judges everything that one judges, whatever it says itself.
func TestExtends(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	names := []string{"to", "cc", "body", "a.b", "a", "path"}
	some := func() (out []Param) {
		for _, n := range names {
			if r.IntN(3) == 0 {
				out = append(out, MustParam(n))
			}
		}
		return out
	}
	draw := func() Rule {
		rule := Rule{Exfiltrating: r.IntN(2) == 0, SinkParams: some(), Content: some(), WriteParams: some()}
		rule.Content = without(rule.Content, rule.SinkParams)
		if r.IntN(2) == 0 {
			rule.Consequence = &Consequence{Named: some()}
		}
		if r.IntN(2) == 0 {
			n := r.IntN(3)
			rule.MaxCalls = &n
		}
		return rule
	}
	for range 20_000 {
		own, base := draw(), draw()
		got := extended(own, base)
		if base.Exfiltrating && !got.Exfiltrating || base.Consequence != nil && got.Consequence == nil || base.MaxCalls != nil && got.MaxCalls == nil {
			t.Fatalf("%+v extending %+v gives %+v", own, base, got)
		}
		if !base.Exfiltrating {
			continue
		}
		if len(base.SinkParams) == 0 && len(got.SinkParams) > 0 {
			t.Fatalf("every argument was a sink of %+v, and not of %+v", base, got)
		}
		for _, p := range base.SinkParams {
			if len(got.SinkParams) > 0 && !p.CoveredBy(got.SinkParams) || p.CoveredBy(got.Content) {
				t.Fatalf("%s is a sink of %+v, and not of %+v", p, base, got)
			}
		}
		for _, p := range base.WriteParams {
			if !p.CoveredBy(got.WriteParams) {
				t.Fatalf("%s is a path of %+v, and not of %+v", p, base, got)
			}
		}
	}
}

// TestIntentOf: a tool is asked for by the words for its act, and not by words that go with everything.
func TestIntentOf(t *testing.T) {
	for name, c := range map[string]struct{ has, lacks []string }{
		"send_email":            {[]string{"email", "send", "reply", "forward"}, []string{"pay", "delete", "create", "read"}},
		"send_money":            {[]string{"pay", "transfer", "money", "refund"}, []string{"email", "reply"}},
		"create_calendar_event": {[]string{"event", "calendar", "meeting", "invite"}, []string{"create", "add", "send"}},
		"get_webpage":           {[]string{"read", "visit", "summarize"}, []string{"post", "send", "get_webpage"}},
		"post_webpage":          {[]string{"post", "publish"}, []string{"visit", "read"}},
		"delete_email":          {[]string{"delete", "trash"}, []string{"send", "reply", "forward"}},
		"deleteFile":            {[]string{"delete", "remove", "file"}, []string{"send"}},
		"invite_user_to_slack":  {[]string{"invite", "slack"}, []string{"post", "user", "send"}},
		"update_password":       {[]string{"password", "change password", "reset password"}, []string{"update", "change"}},
		"x":                     {nil, []string{"x"}},
	} {
		got := intentOf(name)
		for _, w := range c.has {
			if !slices.Contains(got, w) {
				t.Errorf("%s is not asked for by %q: %q", name, w, got)
			}
		}
		for _, w := range c.lacks {
			if slices.Contains(got, w) {
				t.Errorf("%s is asked for by %q", name, w)
			}
		}
	}
}

func TestConsequenceOf(t *testing.T) {
	for name, want := range map[string]bool{
		"delete_file": true, "cancel_order": true, "update_password": true, "unlock_door": true, "get_deleted_files": false,
		"list_orders": false, "send_email": false, "create_file": false, "remove_member": true,
		"grant_guest_access": true, "manage_records": true, "update_user_profile": true, "schedule_device_action": true, "get_policy": false,
		"update_task": false, "schedule_meeting": false, "create_policy": true, "edit_file": false,
	} {
		tool := Tool{Name: name}
		if c, _ := consequenceOf(tool, nil, toolWords(name)); (c != nil) != want {
			t.Errorf("%s changes things for good: %v, want %v", name, c != nil, want)
		}
	}
}
