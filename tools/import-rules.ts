/**
 * Which folder of `src/` may import which: the house as a graph, enforced by `make lint`.
 *
 * What a folder may import, its importers may too, so only the direct steps are written here.
 * `docs/architecture.md` draws its picture from this table.
 */

export interface ImportRule {
  readonly may: readonly string[]
  /** Folders whose types alone may be used (`import type`). */
  readonly typesOf?: readonly string[]
  /** Nobody else may import this folder. */
  readonly top?: boolean
}

export const importRules: Readonly<Record<string, ImportRule>> = {
  data: { may: [] },
  errors: { may: ['data'] },
  clock: { may: [] },
  net: { may: ['errors'] },
  ini: { may: ['errors'] },
  yaml: { may: ['errors'] },
  pki: { may: ['errors'] },
  api: { may: ['net', 'ini', 'yaml', 'pki'] },
  'node-services': { may: ['api'] },
  site: { may: ['api'] },
  plan: { may: ['site'] },
  render: { may: ['plan', 'node-services'] },
  run: { may: ['errors', 'clock'] },
  exec: { may: ['errors'] },
  kube: { may: ['errors', 'clock', 'yaml', 'pki'], typesOf: ['api'] },
  verify: { may: ['plan', 'node-services'] },
  deploy: { may: ['run', 'kube', 'render', 'verify'] },
  controllers: { may: ['kube', 'api', 'plan', 'render', 'exec'] },
  webhooks: { may: ['kube', 'api', 'plan', 'render', 'exec'] },
  operator: { may: ['controllers', 'webhooks'] },
  lab: { may: ['run', 'exec', 'plan'] },
  doctor: { may: ['verify'] },
  sandbox: { may: ['kube', 'exec', 'net', 'node-services'] },
  cli: { may: ['deploy', 'operator', 'lab', 'doctor', 'sandbox'], top: true },
}

/** Every folder that `folder` may import, direct or not. */
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
