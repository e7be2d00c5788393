package approval

import "time"

// Answer gives a person's answer to p, and keeps in book what is for always. The answer counts even where that could not be
// written: then the process whose question it was tries again.
func (d *Dir) Answer(book *Book, p Pending, g Given, now time.Time) error {
	if err := d.Give(g); err != nil {
		return err
	}
	if g.Choice == Always || g.Choice == Never {
		return book.Remember(p.Entries(g.Choice, g.Scope), now)
	}
	return nil
}
