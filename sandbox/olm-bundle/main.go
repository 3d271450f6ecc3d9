// Judges a bundle of OLM as opm and operator-sdk do: prints each error and warning, and exits 1 on errors.
package main

import (
	"fmt"
	"os"

	"github.com/operator-framework/api/pkg/manifests"
	"github.com/operator-framework/api/pkg/validation"
	validator "github.com/operator-framework/api/pkg/validation/interfaces"
)

var validators = validator.Validators{
	validation.BundleValidator,
	validation.ClusterServiceVersionValidator,
	validation.CustomResourceDefinitionValidator,
	validation.ObjectValidator,
	validation.OperatorHubV2Validator,
	validation.StandardCapabilitiesValidator,
	validation.StandardCategoriesValidator,
	validation.AlphaDeprecatedAPIsValidator,
	validation.GoodPracticesValidator,
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: olm-bundle FOLDER")
		os.Exit(2)
	}
	bundle, err := manifests.GetBundleFromDir(os.Args[1])
	if err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
	objects := bundle.ObjectsToValidate()
	failed := false
	for _, result := range validators.Validate(objects...) {
		for _, warning := range result.Warnings {
			fmt.Println("warning:", warning.Error())
		}
		for _, failure := range result.Errors {
			failed = true
			fmt.Println("error:", failure.Error())
		}
	}
	if failed {
		os.Exit(1)
	}
}
