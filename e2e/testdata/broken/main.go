// Command broken does not compile: the build helper has to say so.
package main

func main() { undefinedHere() }
