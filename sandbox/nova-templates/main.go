// Renders a template of nova-operator with the parameters that stdin has as JSON, as the operator does.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"text/template"
)

func main() {
	if err := render(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func render(file string) error {
	var parameters map[string]any
	if err := json.NewDecoder(os.Stdin).Decode(&parameters); err != nil {
		return err
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	parsed, err := template.New("tmp").Option("missingkey=error").Parse(string(text))
	if err != nil {
		return err
	}
	return parsed.Execute(os.Stdout, parameters)
}
