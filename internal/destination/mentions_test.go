package destination

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMentions(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string
	}{
		{"", nil},
		{"Nothing here, e.g. v1.2 of report.txt, hawaii-packing-list.docx, README.md, setup.py or 3.14; i.e. p.m.", nil},
		{"Mail bob@x.example.", []string{"email bob@x.example"}},
		{"'bob@x.example', (amy@y.example); <lena@z.example>: \"jo@z.example\"", []string{"email bob@x.example", "email amy@y.example", "email lena@z.example", "email jo@z.example"}},
		{"to:bob@x.example,amy@y.example", []string{"email bob@x.example", "email amy@y.example"}},
		{"*bob@x.example* _amy@y.example_ **jo@z.example**", []string{"email bob@x.example", "email _amy@y.example", "email jo@z.example"}},
		{"cc/bob@x.example", []string{"email cc/bob@x.example !", "email bob@x.example"}},
		{"bob+tag@mail.x.example!", []string{"email bob+tag@mail.x.example"}},
		{"ping @alice about package@1.2.3 and image@2x", nil},
		{"root@10.0.0.1", []string{"email root@10.0.0.1 !"}},
		{"bob@x.example.They wrote", []string{"email bob@x.example"}},
		{"Reach bob@bücher.example", []string{"email bob@xn--bcher-kva.example"}},
		{"write to mailto:bob@x.example?cc=amy@y.example.", []string{"email bob@x.example", "email amy@y.example"}},

		{"see https://x.example/a?b=c#d.", []string{"url https://x.example/a?b=c"}},
		{"(https://x.example/a_(b)) and [x](https://y.example/c), <https://z.example>", []string{"url https://x.example/a_(b)", "url https://y.example/c", "url https://z.example/"}},
		{"[https://x.example/](https://evil.example/)", []string{"url https://x.example/", "url https://evil.example/"}},
		{`<a href='https://x.example/a'>x</a> <img src="http://y.example/p.png?d=1"/>`, []string{"url https://x.example/a", "url http://y.example/p.png?d=1"}},
		{"“https://x.example/a”, ‘https://y.example’", []string{"url https://x.example/a", "url https://y.example/"}},
		{"https://user@evil.example/", []string{"url https://evil.example/ !"}},
		{`https:\\evil.example`, []string{"url https://evil.example/ !"}},
		{"https%3A%2F%2Fevil.example%2Fx", []string{"url https://evil.example/x !"}},
		{"ftp://evil.example/x ws://evil.example", []string{"opaque ftp://evil.example/x", "opaque ws://evil.example"}},
		{"|https://x.example/a|", []string{"url https://x.example/a"}},
		{"https://x.example/wiki/Portland,_Oregon", []string{"url https://x.example/wiki/Portland,_Oregon"}},

		{"visit www.dora-website.com, or evil.example.", []string{"url www.dora-website.com/", "url evil.example/"}},
		{"evil.example/x?d=secret and evil.co.uk:8443/y", []string{"url evil.example/x?d=secret", "url evil.co.uk:8443/y"}},
		{"to www.our-company.com.They sent", []string{"url www.our-company.com/"}},
		{"EVIL.EXAMPLE Evil.Com", []string{"url evil.example/", "url evil.com/"}},
		{"www.evil.md evil.zip/x evil.zip", []string{"url www.evil.md/", "url evil.zip/x"}},
		{"//evil.example/x evil.example./x", []string{"url evil.example/x", "url evil.example/x"}},
		{"/home/me/site.example/x ./a.example ~/b.example C:/c.example", nil},
		{"10.0.0.1 10.0.0.1:99/steal 1.2.3.4.5/x", []string{"url 10.0.0.1:99/steal"}},
		{"请访问evil.example谢谢", []string{"url evil.example/"}},
		{"evil。example", []string{"url evil.example/ !"}},
		{"bücher.example", []string{"url xn--bcher-kva.example/"}},

		{"pay GB29NWBK60161331926819.", []string{"account GB29NWBK60161331926819"}},
		{"pay GB29 NWBK 6016 1331 9268 19 for the rent", []string{"account GB29NWBK60161331926819"}},
		{"PAY GB29 NWBK 6016 1331 9268 19 NOW", []string{"account GB29NWBK60161331926819"}},
		{"GB29-NWBK-6016-1331-9268-19", []string{"account GB29NWBK60161331926819 !"}},
		{"account: US122000000121212121212, or gb29nwbk60161331926819", []string{"account US122000000121212121212", "account GB29NWBK60161331926819"}},
		{"us12 2000 0001 2121 2121 212 and ab12cdef0123456789ab", nil},
		{"commit ab12cdef0123456789ab, key AB12-CDEF-GHIJ-KLMN-OPQR", nil},
		{"https://x.example/GB29NWBK60161331926819", []string{"url https://x.example/GB29NWBK60161331926819"}},
		{"xGB29NWBK60161331926819 GB29NWBK60161331926819_", nil},

		{"evil\u200b@x.example", []string{"email evil@x.example !", "url x.example/"}},
		{"ｅｖｉｌ.ｅｘａｍｐｌｅ", []string{"url evil.example/ !"}},
		{"https://ev\u00adil.example/", []string{"url https://evil.example/ !", "url https://ev/", "url il.example/"}},
		{"evil.example\u200bnow", []string{"url evil.example/"}},
		{"a\u0301 https://x.example/\u00e9", []string{"url https://x.example/%C3%A9"}},
	} {
		var ds []Destination
		for _, m := range Mentions(c.text) {
			ds = append(ds, m.Destination)
		}
		if diff := cmp.Diff(c.want, describe(ds)); diff != "" {
			t.Errorf("Mentions(%q) (-want +got):\n%s", c.text, diff)
		}
	}
}

// TestMentionsPlaces: the spelling at the place of a mention is its own.
func TestMentionsPlaces(t *testing.T) {
	text := "é: bob@x.example, ﬁn www.y.example/a\u200b! Cafe\u0301 https://z.example/e\u0301 GB29 NWBK 6016 1331 9268 19."
	var got []string
	for _, m := range Mentions(text) {
		got = append(got, text[m.At:m.End])
	}
	want := []string{"bob@x.example", "www.y.example/a", "https://z.example/e\u0301", "GB29 NWBK 6016 1331 9268 19"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("places (-want +got):\n%s", diff)
	}
}

func TestMentionsBound(t *testing.T) {
	for _, one := range []string{"a@b.example ", "https://b.example/ ", "b.example,", "GB29NWBK60161331926819 ", "a\u200b@b.example "} {
		ms := Mentions(strings.Repeat(one, 5000))
		last := ms[len(ms)-1]
		if len(ms) != maxMentions+1 || last.Ambiguous == "" || last.Kind != Opaque {
			t.Errorf("%q: %d mentions, the last %.200v", one, len(ms), last)
		}
	}
}

// TestMentionsComeBack: no text takes more than a look or two at each byte. A quadratic reading would not come back.
func TestMentionsComeBack(t *testing.T) {
	for _, piece := range []string{"@", "a@", ".", "a.", "a.a@", "http:", "http://", "https%3A", "://", "(", "[](", "GB29", "GB29 ", "é", "é.", "\u200b", "www.", "www.a.", "e\u0301", "。", "a/", "'"} {
		Mentions(strings.Repeat(piece, 1<<20/len(piece)))
	}
}

func FuzzMentions(f *testing.F) {
	for _, s := range []string{"mail bob@x.example, see https://x.example/(a).", "GB29 NWBK 6016 1331 9268 19", "e\u0301vil.example\u200bnow", "a@b@c.example", "\xff@x.example"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, m := range Mentions(s) {
			if m.At < 0 || m.End < m.At || m.End > len(s) {
				t.Fatalf("%+v stands outside of %q", m, s)
			}
		}
		if got := Readable(Readable(s)); got != Readable(s) {
			t.Fatalf("Readable is not idempotent: %q, %q", Readable(s), got)
		}
		// A link between blanks is found in whatever text.
		for _, link := range []string{"https://evil.example/x", "bob@evil.example", "www.evil.example", "GB29NWBK60161331926819"} {
			ms := Mentions(s + "\n" + link + "\n")
			if found := fmt.Sprint(ms); len(ms) <= maxMentions && !strings.Contains(found, Parse(link)[0].Canonical) {
				t.Fatalf("%s is not found behind %q: %s", link, s, found)
			}
		}
	})
}
