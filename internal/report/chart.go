package report

// chart is a bar chart as numbers: how it is drawn is the template's matter.
type chart struct {
	Width, Height int
	Label         string
	Bars          []bar
	Ticks         []tick
	Most          int
}

type bar struct {
	Kind       string // allow, ask, deny
	X, Y, W, H float64
	Title      string
}

type tick struct {
	X      float64
	Anchor string
	Text   string
}

// The chart's size, and the room for its labels.
const (
	chartWidth  = 720
	chartHeight = 150
	chartTop    = 14
	chartBottom = 20
)

// newChart stacks the verdicts of each period, denials at the bottom, where they can be compared.
func newChart(all []period, u unit) *chart {
	c := &chart{Width: chartWidth, Height: chartHeight, Label: "verdicts by " + u.name}
	for _, p := range all {
		c.Most = max(c.Most, p.Allow+p.Ask+p.Deny)
	}
	if c.Most == 0 {
		return nil
	}
	step := float64(chartWidth) / float64(max(len(all), 12))
	const room = chartHeight - chartTop - chartBottom
	for i, p := range all {
		y := float64(chartTop + room)
		for _, part := range []struct {
			kind string
			n    int
		}{{"deny", p.Deny}, {"ask", p.Ask}, {"allow", p.Allow}} {
			if part.n == 0 {
				continue
			}
			h := max(1, float64(part.n)/float64(c.Most)*room) // one denial among thousands is to be seen
			y -= h
			c.Bars = append(c.Bars, bar{part.kind, float64(i)*step + step*0.1, max(y, 0), step * 0.8, h,
				p.From.Format(u.layout) + ": " + plural(part.n, part.kind, part.kind)})
		}
	}
	ticks := map[int]string{0: "start"}
	if len(all) > 1 {
		ticks[len(all)-1] = "end"
	}
	for i := range all {
		if anchor, ok := ticks[i]; ok {
			x := float64(i) * step
			if anchor == "end" {
				x = min(x+step, chartWidth)
			}
			if anchor == "end" && x < 260 { // beside the first label there is no room
				continue
			}
			c.Ticks = append(c.Ticks, tick{x, anchor, all[i].From.Format(u.layout)})
		}
	}
	return c
}
