package policy_test

import (
	"github.com/mcp-bouncer/bouncer/internal/jsonrpc"
	"github.com/mcp-bouncer/bouncer/internal/policy"
)

func decoded(name, schema string) (policy.Tool, bool) {
	v, err := jsonrpc.DecodeLenient([]byte(schema))
	return policy.Tool{Name: name, InputSchema: v}, err == nil
}
