package report

import (
	"maps"
	"slices"
	"time"
)

// hoursMost bounds the hours that are told apart; forged times could name any number of them.
const hoursMost = 50_000

// hours counts verdicts by the hour.
type hours struct {
	counts map[int64]counts
	lost   int // lines of hours for which there was no room
}

func (h *hours) add(t time.Time, verdict string) {
	at := t.Unix() - t.Unix()%3600
	c, known := h.counts[at]
	if !known && len(h.counts) >= hoursMost {
		h.lost++
		return
	}
	c.add(verdict)
	h.counts[at] = c
}

// period is a span of time that verdicts are counted for.
type period struct {
	From time.Time
	counts
}

// barsMost is how many periods a chart and its table hold.
const barsMost = 92

// unit is how long a period is.
type unit struct {
	name   string
	layout string
	start  func(time.Time) time.Time
	next   func(time.Time) time.Time
}

var units = []unit{
	{"hour", "2006-01-02 15:00", func(t time.Time) time.Time { return t.Truncate(time.Hour) }, func(t time.Time) time.Time { return t.Add(time.Hour) }},
	{"day", "2006-01-02", func(t time.Time) time.Time { return date(t.Year(), t.Month(), t.Day()) }, func(t time.Time) time.Time { return t.AddDate(0, 0, 1) }},
	{"month", "2006-01", func(t time.Time) time.Time { return date(t.Year(), t.Month(), 1) }, func(t time.Time) time.Time { return t.AddDate(0, 1, 0) }},
}

func date(year int, month time.Month, day int) time.Time {
	return time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
}

// hoursShown is the longest time that is counted by the hour.
const hoursShown = 48 * time.Hour

// periods returns the periods from the first to the last line, empty ones included, in the smallest unit that keeps
// them few; and how many lines are older than the periods that fit.
func (h *hours) periods() (all []period, u unit, older int) {
	if len(h.counts) == 0 {
		return nil, units[0], 0
	}
	times := slices.Sorted(maps.Keys(h.counts))
	first, last := time.Unix(times[0], 0).UTC(), time.Unix(times[len(times)-1], 0).UTC()
	switch span := last.Sub(first); {
	case span < hoursShown:
		u = units[0]
	case span < (barsMost-2)*24*time.Hour:
		u = units[1]
	default:
		u = units[2]
	}
	from := u.start(first)
	if u.name == "month" { // the latest that fit
		if oldest := u.start(last).AddDate(0, 1-barsMost, 0); from.Before(oldest) {
			from = oldest
		}
	}
	at := map[time.Time]int{}
	for t := from; !t.After(last); t = u.next(t) {
		at[t] = len(all)
		all = append(all, period{From: t})
	}
	for hour, c := range h.counts {
		if i, ok := at[u.start(time.Unix(hour, 0).UTC())]; ok {
			all[i].plus(c)
		} else {
			older += c.sum()
		}
	}
	return all, u, older
}
