// Signs an executable of macOS ad hoc, in place: the kernel of Apple silicon starts no other.
package main

import (
	"fmt"
	"os"

	"github.com/anchore/quill/quill"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: quill EXECUTABLE")
		os.Exit(2)
	}
	config := quill.SigningConfig{Path: os.Args[1], Identity: "stackloom-ad-hoc"}
	if err := quill.Sign(config); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
