/** The sites of the release matrix: examples, samples of the plan's lints, and generated sites. */
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import fc from 'fast-check'
import type { KubeObject } from '../../../src/api/object.ts'
import { hasErrors } from '../../../src/errors/finding.ts'
import { releaseKinds } from '../../../src/plan/release/releases.ts'
import { renderDocuments } from '../../../src/render/render.ts'
import { count } from '../../counts.ts'
import { exampleSites, planTextForRelease } from '../../examples.ts'
import { generatedSiteWith } from '../../generated-sites.ts'
import { siteText } from '../../site.ts'

export interface MatrixSite {
  readonly name: string
  readonly text: string | Uint8Array
  /** The code of the error for which the sample exists. */
  readonly code?: string
}

const SAMPLES = 'test/samples/plan-lints'

/** Services that are off by default. */
const services = ['barbican', 'designate', 'heat', 'ironic', 'manila', 'octavia', 'redis', 'watcher']

export type MatrixGroup = 'examples' | 'samples' | 'generated'

export function matrixSites(group: MatrixGroup, release: string): readonly MatrixSite[] {
  switch (group) {
    case 'examples':
      return exampleSites.map((name) => ({ name, text: readFileSync(`examples/${name}.yaml`) }))
    case 'samples':
      return readdirSync(SAMPLES).map((name) => ({
        name,
        text: readFileSync(path.join(SAMPLES, name)),
        code: name.slice(0, 6),
      }))
    case 'generated':
      return fc
        .sample(generatedSiteWith(services.filter((name) => hasService(name, release))), {
          numRuns: count({ test: 6, soak: 50 }),
          seed: 19,
        })
        .map((spec, index) => ({ name: `generated ${index}`, text: siteText(spec) }))
  }
}

/** Whether a cloud with the service can be planned for the release. */
function hasService(name: string, release: string): boolean {
  const clouds = [{ name: 'rhoso1', namespace: 'openstack', services: { [name]: { enabled: true } } }]
  return !hasErrors(planTextForRelease(siteText({ clouds }), name, release).findings)
}

const rendered: readonly string[] = releaseKinds

export interface SiteObjects {
  readonly objects: readonly KubeObject[]
  /** Errors because of which nothing is rendered, without the sample's own. */
  readonly errors: readonly string[]
}

/** The objects whose kinds a release decides. */
export function renderForRelease({ name, text, code }: MatrixSite, release: string): SiteObjects {
  const plan = planTextForRelease(text, name, release)
  if (hasErrors(plan.findings)) {
    const errors = plan.findings.filter(({ severity }) => severity === 'error').map((found) => found.code)
    return {
      objects: [],
      errors: [...new Set(errors)].filter((found) => found !== code).map((found) => `${name}: ${found}`),
    }
  }
  const objects = renderDocuments(plan).map(({ object }) => object)
  return { objects: objects.filter(({ kind }) => rendered.includes(kind)), errors: [] }
}
