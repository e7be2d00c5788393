package approval

import (
	"bytes"
	"encoding/json"
	"errors"
	"time"

	"github.com/mcp-bouncer/bouncer/internal/destination"
	"github.com/mcp-bouncer/bouncer/internal/provenance"
)

// pendingFile is a question as its file has it.
type pendingFile struct {
	Version int       `json:"version"`
	ID      string    `json:"id"`
	Key     string    `json:"key"`
	Client  string    `json:"client,omitempty"`
	Server  string    `json:"server"`
	Tool    string    `json:"tool"`
	Reason  string    `json:"reason"`
	Args    string    `json:"args"`
	Size    int       `json:"args_size"`
	Keys    []string  `json:"keys,omitempty"`
	Policy  string    `json:"policy,omitempty"`
	Asked   []atFile  `json:"asked,omitempty"`
	Made    time.Time `json:"made"`
	Expires time.Time `json:"expires"`
}

// atFile is one destination of it.
type atFile struct {
	Param     string `json:"param"`
	Kind      string `json:"kind"`
	Raw       string `json:"raw"`
	Canonical string `json:"canonical"`
	Ambiguous string `json:"ambiguous,omitempty"`
	Contract  string `json:"contract"`
	Origin    string `json:"origin"`
	Reason    string `json:"reason"`
	Like      string `json:"like,omitempty"`
	Differs   string `json:"differs,omitempty"`
	Seen      *struct {
		Server  string `json:"server"`
		Tool    string `json:"tool"`
		Call    string `json:"call"`
		Kind    string `json:"kind"`
		Field   string `json:"field"`
		Snippet string `json:"snippet"`
	} `json:"seen,omitempty"`
}

// givenFile is an answer as its file has it.
type givenFile struct {
	Version int       `json:"version"`
	ID      string    `json:"id"`
	Key     string    `json:"key"`
	Choice  string    `json:"choice"`
	Scope   string    `json:"scope,omitempty"`
	By      string    `json:"by"`
	Kept    bool      `json:"kept,omitempty"`
	At      time.Time `json:"at"`
}

func encode(p Pending) pendingFile {
	f := pendingFile{Version: 1, ID: p.ID, Key: p.Key, Client: p.Client, Server: p.Server, Tool: p.Tool, Reason: p.Reason, Args: string(p.Args),
		Size: p.Size, Keys: p.Keys, Policy: p.Policy, Made: p.Asked, Expires: p.Expires}
	for _, d := range p.Question.Asked {
		at := atFile{Param: d.Param, Kind: string(d.Kind), Raw: d.Raw, Canonical: d.Canonical, Ambiguous: d.Ambiguous, Contract: d.Contract, Origin: d.Origin, Reason: d.Reason, Like: d.Like, Differs: d.Differs}
		if s := d.Seen; s != nil {
			at.Seen = &struct {
				Server  string `json:"server"`
				Tool    string `json:"tool"`
				Call    string `json:"call"`
				Kind    string `json:"kind"`
				Field   string `json:"field"`
				Snippet string `json:"snippet"`
			}{s.Source.Server, s.Source.Tool, s.Source.Call, s.Source.Kind, s.Field, s.Snippet}
		}
		f.Asked = append(f.Asked, at)
	}
	return f
}

// strictJSON reads one JSON object of known members, and nothing behind it.
func strictJSON(data []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	if d.More() {
		return errors.New("something stands behind it")
	}
	return nil
}

func decode(data []byte) (Pending, error) {
	var f pendingFile
	if err := strictJSON(data, &f); err != nil {
		return Pending{}, err
	}
	if f.Version != 1 || f.Key == "" || f.Server == "" || f.Tool == "" {
		return Pending{}, errors.New("not a question")
	}
	p := Pending{Key: f.Key, Asked: f.Made, Expires: f.Expires, Size: f.Size, Question: Question{ID: f.ID, Client: f.Client, Server: f.Server, Tool: f.Tool,
		Reason: f.Reason, Args: []byte(f.Args), Keys: f.Keys, Policy: f.Policy}}
	for _, at := range f.Asked {
		d := Destination{Param: at.Param, Contract: at.Contract, Origin: at.Origin, Reason: at.Reason, Like: at.Like, Differs: at.Differs, Destination: destination.Destination{
			Kind: destination.Kind(at.Kind), Raw: at.Raw, Canonical: at.Canonical, Ambiguous: at.Ambiguous}}
		if s := at.Seen; s != nil {
			d.Seen = &provenance.Sighting{Field: s.Field, Snippet: s.Snippet,
				Source: provenance.Source{Server: s.Server, Tool: s.Tool, Call: s.Call, Kind: s.Kind}}
		}
		p.Question.Asked = append(p.Question.Asked, d)
	}
	return p, nil
}

func decodeGiven(data []byte) (Given, error) {
	var f givenFile
	if err := strictJSON(data, &f); err != nil {
		return Given{}, err
	}
	choice, ok := ParseChoice(f.Choice)
	scope, scoped := ParseScope(f.Scope)
	if f.Version != 1 || !ok || !scoped || f.By != ByTerminal && f.By != ByPage {
		return Given{}, errors.New("not an answer")
	}
	return Given{ID: f.ID, Key: f.Key, Choice: choice, Scope: scope, By: f.By, Kept: f.Kept, At: f.At}, nil
}
