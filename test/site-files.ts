/** Site files for tests: the smallest complete one, and one with a change. */
import { parse } from 'yaml'
import { writeYaml } from '../src/yaml/write.ts'

export const smallSite = `apiVersion: stackloom.dev/v1alpha1
kind: Site
metadata: {name: lab}
spec:
  cluster:
    nodes:
    - {name: worker-0, nic: enp6s0}
  clouds:
  - {name: rhoso1, namespace: openstack}
  - {name: rhoso2, namespace: openstack2}
`

/** The smallest site with fields of its spec replaced: `smallSiteWith({ addressing: {...} })`. */
export function smallSiteWith(spec: Readonly<Record<string, unknown>>): string {
  const site = parse(smallSite) as { readonly spec: object }
  return writeYaml({ ...site, spec: { ...site.spec, ...spec } })
}
