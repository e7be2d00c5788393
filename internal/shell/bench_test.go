package shell

import "testing"

// BenchmarkRead reads the honest commands, which are what an agent runs all day.
func BenchmarkRead(b *testing.B) {
	cases := transcripts(b, "local")
	for i := 0; b.Loop(); i++ {
		Read(cases[i%len(cases)].command, place)
	}
}
