/**
 * Says which folder of `src/` may import which; `make lint` enforces it.
 *
 * A folder may also import what the folders that it imports may import, so only the direct steps are listed.
 * `docs/architecture.md` draws its graph from this table.
 */

export interface ImportRule {
  readonly may: readonly string[]
  /** Folders of which only types may be used (`import type`). */
  readonly typesOf?: readonly string[]
  /** No other folder may import this one; tests may. */
  readonly top?: boolean
}

/** A key with a slash is a folder inside another one with a rule of its own: the longest key that matches counts. */
export const importRules: Readonly<Record<string, ImportRule>> = {
  data: { may: [] },
  errors: { may: ['data'] },
  clock: { may: [] },
  files: { may: [] },
  async: { may: [] },
  net: { may: ['errors'] },
  ini: { may: ['errors'] },
  yaml: { may: ['errors'] },
  pki: { may: ['errors'] },
  api: { may: ['net', 'ini', 'yaml', 'pki'] },
  'dataplane/kinds': { may: ['api'] },
  'dataplane/findings': { may: ['errors'] },
  'dataplane/rules': { may: ['dataplane/kinds', 'dataplane/findings'] },
  'dataplane/service-definitions': { may: ['dataplane/rules'] },
  site: { may: ['api'] },
  plan: { may: ['site'] },
  render: { may: ['plan', 'dataplane/kinds'] },
  run: { may: ['errors', 'clock'] },
  exec: { may: ['errors', 'files'] },
  kube: { may: ['clock', 'async', 'api', 'files'] },
  openstack: { may: ['kube'] },
  netbox: { may: ['plan'] },
  images: { may: ['api'] },
  fleet: { may: ['kube', 'plan'] },
  verify: { may: ['plan', 'dataplane/service-definitions'] },
  addresses: { may: ['verify'] },
  hosts: { may: ['dataplane/rules'] },
  certificates: { may: ['api'] },
  backup: { may: ['verify'] },
  deploy: { may: ['run', 'kube', 'openstack', 'render', 'verify', 'hosts', 'addresses', 'backup'] },
  controllers: { may: ['kube', 'render'] },
  webhooks: { may: ['kube', 'render'] },
  dataplane: {
    may: ['controllers', 'webhooks', 'exec', 'openstack', 'dataplane/service-definitions'],
    typesOf: ['operator'],
  },
  operator: { may: ['dataplane', 'hosts', 'addresses', 'certificates', 'backup'] },
  lab: { may: ['run', 'exec', 'plan'] },
  doctor: { may: ['verify', 'addresses', 'hosts', 'certificates', 'backup'] },
  sandbox: { may: ['kube', 'exec', 'dataplane/service-definitions', 'hosts'] },
  rehearse: { may: ['deploy', 'sandbox'] },
  console: { may: ['deploy', 'controllers', 'doctor', 'lab'] },
  cli: {
    may: ['deploy', 'operator', 'lab', 'doctor', 'sandbox', 'rehearse', 'console', 'fleet', 'images', 'netbox'],
    top: true,
  },
}

/** Every folder that `folder` may import, directly or not. */
export function reachable(folder: string, rules = importRules): ReadonlySet<string> {
  const found = new Set<string>()
  const visit = (name: string): void => {
    for (const next of rules[name]?.may ?? []) {
      if (found.has(next)) continue
      found.add(next)
      visit(next)
    }
  }
  visit(folder)
  return found
}
