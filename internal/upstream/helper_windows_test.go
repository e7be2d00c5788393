package upstream

import "os"

var politeSignals = []os.Signal{os.Interrupt}
