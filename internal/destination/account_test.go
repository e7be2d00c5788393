package destination

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAccount(t *testing.T) {
	for _, c := range []struct {
		raw  string
		want []string
	}{
		{"GB29NWBK60161331926819", []string{"account GB29NWBK60161331926819"}},
		{"GB29 NWBK 6016 1331 9268 19", []string{"account GB29NWBK60161331926819"}},
		{" DE89370400440532013000\n", []string{"account DE89370400440532013000"}},
		{"gb29nwbk60161331926819", []string{"account GB29NWBK60161331926819"}},
		{"Gb29nwbk60161331926819", []string{"account GB29NWBK60161331926819 !"}},
		{"ＧＢ29NWBK60161331926819", []string{"account GB29NWBK60161331926819 !"}},
		{"GB29\u200bNWBK60161331926819", []string{"account GB29NWBK60161331926819 !"}},
		{"US122000000121212121212", []string{"account US122000000121212121212"}},
		{"CA133012400231215421872", []string{"account CA133012400231215421872"}},
		{"MT84 MALT 0110 0001 2345 MTLC AST0 01S", []string{"account MT84MALT011000012345MTLCAST001S"}},
		{"GB2 9NWBK60161331926819", []string{"account GB29NWBK60161331926819"}}, // odd groups, right digits
		{"US12 2000000121212121212", []string{"opaque US12 2000000121212121212"}},
		{"GB29  NWBK 6016 1331 9268 19", []string{"opaque GB29  NWBK 6016 1331 9268 19"}},
		// Ids of other servers, where case tells two things apart.
		{"ab12cdefghijklmnop", []string{"opaque ab12cdefghijklmnop"}},
		{"aB12cdEfGhIjKlMnOp", []string{"opaque aB12cdEfGhIjKlMnOp"}},
		{"US122000000", []string{"opaque US122000000"}},
		{"US1220000001212121212121212121212121212", []string{"opaque US1220000001212121212121212121212121212"}},
		{"U2122000000121212121212", []string{"opaque U2122000000121212121212"}},
		{"IN20 MORE TIME THAN EVER", []string{"opaque IN20 MORE TIME THAN EVER"}},
		// What was something else stays it.
		{"DE89370400440532013000@x.example", []string{"email de89370400440532013000@x.example"}},
		{"DE89370400440532013000.example", []string{"url de89370400440532013000.example/"}},
		{"DE89370400440532013000/x", []string{"path DE89370400440532013000/x"}},
	} {
		if diff := cmp.Diff(c.want, describe(Parse(c.raw))); diff != "" {
			t.Errorf("Parse(%q) (-want +got):\n%s", c.raw, diff)
		}
	}
}

// TestAccountIsExact: accounts that differ are two, whatever their check digits say.
func TestAccountIsExact(t *testing.T) {
	a, b := Parse("GB29NWBK60161331926819")[0], Parse("GB29NWBK60161331926818")[0]
	if a.Canonical == b.Canonical || Covers("GB29NWBK60161331926819", b) || !Covers("GB29 NWBK 6016 1331 9268 19", a) {
		t.Errorf("%+v and %+v", a, b)
	}
}
