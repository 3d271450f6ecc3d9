/**
 * Which fields the served API has: that of 2023 has fewer, and an unknown field is refused.
 *
 * Asked once, and again while nobody answers.
 */
import { networkGroup } from '../../api/netconfig.ts'
import type { KubeObject } from '../../api/object.ts'
import type { KubeReader } from '../../kube/client.ts'

export interface ServedFields {
  /** A status without what the served API does not know. */
  readonly prune: <T extends object>(plural: string, status: T) => Promise<T>
  /** Whether an option of this name may be stored. */
  readonly hasOption: (key: string) => Promise<boolean>
}

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
  readonly enum?: readonly string[]
}

export function createServedFields(client: Pick<KubeReader, 'get'>): ServedFields {
  const asked = new Map<string, Promise<Schema>>()
  const schemaOf = (plural: string): Promise<Schema> => {
    const known = asked.get(plural)
    if (known) return known
    const name = `${plural}.${networkGroup.group}`
    const crd = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', name }
    const asking = client.get(crd).then(servedSchema)
    asked.set(plural, asking)
    asking.catch(() => asked.delete(plural))
    return asking
  }
  return {
    prune: async (plural, status) => {
      const fields = (await schemaOf(plural)).properties?.['status']?.properties
      if (!fields) return status
      return Object.fromEntries(Object.entries(status).filter(([key]) => key in fields)) as typeof status
    },
    hasOption: async (key) => {
      const spec = (await schemaOf('dnsmasqs')).properties?.['spec']
      const keys = spec?.properties?.['options']?.items?.properties?.['key']?.enum
      return keys?.includes(key) ?? true
    },
  }
}

/** Without a definition nothing is known, and nothing is left out. */
function servedSchema(crd: KubeObject | undefined): Schema {
  const { versions = [] } = (crd?.['spec'] ?? {}) as {
    readonly versions?: readonly { served: boolean; schema?: { openAPIV3Schema?: Schema } }[]
  }
  return versions.find((version) => version.served)?.schema?.openAPIV3Schema ?? {}
}
