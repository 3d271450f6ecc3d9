/** Edits of a site file, as users make them between two runs of `up`. */
import { readFileSync } from 'node:fs'
import { load } from 'js-yaml'
import type { KubeObject } from '../../../src/api/object.ts'
import type { SiteFileCloud, SiteFileSpec } from '../../../src/api/site.ts'
import { hasErrors } from '../../../src/errors/finding.ts'
import type { Lock } from '../../../src/plan/lock.ts'
import { builtInTable } from '../../../src/plan/slots/built-in-crds.ts'
import { renderDocuments } from '../../../src/render/render.ts'
import { writeYaml } from '../../../src/yaml/write.ts'
import { planText } from '../../site.ts'

type Editable<T> = { -readonly [K in keyof T]: T[K] extends readonly (infer U)[] | undefined ? Editable<U>[] : T[K] }

export type EditableCloud = Editable<SiteFileCloud> & { services: NonNullable<SiteFileCloud['services']> }

export interface SiteFile {
  readonly spec: Editable<SiteFileSpec> & { clouds: EditableCloud[] }
}

export interface Rendered {
  readonly objects: readonly KubeObject[]
  readonly lock: Lock
  /** The codes of the errors because of which nothing is rendered. */
  readonly errors: readonly string[]
}

/** An example with an edit, as the program renders it after the site with the lock was deployed. */
export function renderEdited(
  example: string,
  release: string,
  edit: (site: SiteFile) => void = () => undefined,
  lock?: Lock,
): Rendered {
  const site = load(readFileSync(`examples/${example}.yaml`, 'utf8')) as SiteFile
  for (const cloud of site.spec.clouds) cloud.services = { ...cloud.services }
  edit(site)
  const { plan, lock: after } = planText(writeYaml(site), { slots: builtInTable(release), ...(lock && { lock }) })
  const errors = plan.findings.filter(({ severity }) => severity === 'error').map(({ code }) => code)
  const objects = hasErrors(plan.findings) ? [] : renderDocuments(plan).map(({ object }) => object)
  return { objects, lock: after, errors: [...new Set(errors)] }
}

/** An edit of the first cloud. */
export const editCloud =
  (edit: (cloud: EditableCloud) => void) =>
  ({ spec }: SiteFile): void => {
    const [cloud] = spec.clouds
    if (cloud) edit(cloud)
  }

export const editService = (name: string, settings: EditableCloud['services'][string]): ((site: SiteFile) => void) =>
  editCloud(({ services }) => void (services[name] = settings))

export const editNetwork = (name: string, settings: object): ((site: SiteFile) => void) =>
  editCloud((cloud) => void (cloud.networks = { ...cloud.networks, [name]: settings }))

function nova({ services }: EditableCloud): Exclude<EditableCloud['services'][string], boolean> {
  const settings = services['nova']
  return typeof settings === 'object' ? settings : {}
}

/** Edits that a running cloud allows. */
export const allowedEdits: Readonly<Record<string, (site: SiteFile) => void>> = {
  'a service is enabled': editCloud((cloud) => {
    const service = ['heat', 'cinder', 'barbican'].find((name) => !cloud.services[name])
    cloud.services[service ?? 'swift'] = service !== undefined
  }),
  'a service is disabled': editCloud((cloud) => {
    const service = ['octavia', 'barbican', 'telemetry', 'cinder'].find((name) => cloud.services[name])
    if (service) cloud.services[service] = false
    else cloud.services['nova'] = { ...nova(cloud), enabled: false }
  }),
  'an API gets more replicas': editCloud(({ services }) => {
    services['keystone'] = { replicas: 3 }
    services['glance'] = { replicas: 3 }
  }),
  'a raw field changes': editCloud(({ services }) => {
    services['keystone'] = { template: { customServiceConfig: '[DEFAULT]\ndebug = true\n' } }
    services['placement'] = { template: { customServiceConfig: '[DEFAULT]\ndebug = true\n' } }
  }),
  'a nova cell is added': editCloud((cloud) => {
    const { cells = ['cell1'], ...settings } = nova(cloud)
    cloud.services['nova'] = { ...settings, cells: [...cells, 'cell9'] }
  }),
  'a host is added to a node set': editCloud((cloud) => {
    const [first] = cloud.hosts ?? []
    cloud.hosts = [...(cloud.hosts ?? []), { ...first, name: 'added-0' }]
  }),
  'a node set is added': editCloud((cloud) => {
    cloud.nodeSets = [...(cloud.nodeSets ?? []), { name: 'added', role: 'networker' }]
    cloud.hosts = [...(cloud.hosts ?? []), { name: 'networker-added-0', nodeSet: 'added' }]
  }),
  'a cloud is added': ({ spec }) => {
    spec.clouds.push({ name: 'added', namespace: 'added', services: {} })
  },
}
