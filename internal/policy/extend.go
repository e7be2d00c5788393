package policy

import "slices"

// extended returns a user's rule with everything that the rule below it judges as well. What the user says of budgets
// and effects stands; nothing that base judges is lost.
func extended(own, base Rule) Rule {
	everything := base.Exfiltrating && len(base.SinkParams) == 0
	own.Exfiltrating = own.Exfiltrating || base.Exfiltrating
	own.Sinks = slices.Concat(own.Sinks, base.Sinks)
	own.SinkParams = union(own.SinkParams, base.SinkParams)
	own.Content = without(union(own.Content, base.Content), own.SinkParams)
	if everything {
		own.Sinks, own.SinkParams, own.Content = nil, nil, base.Content
	}
	own.WriteParams = union(own.WriteParams, base.WriteParams)
	own.ArgPatterns = slices.Concat(own.ArgPatterns, base.ArgPatterns)
	own.ArgValues = slices.Concat(own.ArgValues, base.ArgValues)
	if own.MaxCalls == nil {
		own.MaxCalls = base.MaxCalls
	}
	own.Results = slices.Concat(own.Results, base.Results)
	if own.Intent != nil && base.Intent != nil {
		own.Intent = slices.Compact(slices.Sorted(slices.Values(slices.Concat(own.Intent, base.Intent))))
	} else if own.Intent == nil {
		own.Intent = base.Intent
	}
	switch {
	case own.Consequence == nil:
		own.Consequence = base.Consequence
	case base.Consequence != nil:
		own.Consequence = &Consequence{Named: union(own.Consequence.Named, base.Consequence.Named), Own: union(own.Consequence.Own, base.Consequence.Own)}
	}
	if own.Reads == nil {
		own.Reads = base.Reads
	}
	if own.Public == nil {
		own.Public = base.Public
	}
	own.Fetch = own.Fetch || base.Fetch && !base.sendsMore(own)
	return own
}

// sendsMore reports sinks of own that base, which only reads, does not have.
func (base Rule) sendsMore(own Rule) bool {
	return slices.ContainsFunc(own.SinkParams, func(p Param) bool { return !p.CoveredBy(base.SinkParams) })
}
