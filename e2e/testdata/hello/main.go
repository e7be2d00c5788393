// Command hello is built by the tests of the build helper.
package main

import "fmt"

func main() { fmt.Println("hello") }
