/** Reads from the CRDs which fields are served: the first version of the API has fewer, and unknown fields are refused. */
import { networkGroup } from '../../api/netconfig.ts'
import type { KubeObject } from '../../api/object.ts'
import type { KubeReader } from '../../kube/client.ts'

export interface ServedFields {
  /** Removes the status fields that are not served. */
  readonly prune: <T extends object>(plural: string, status: T) => Promise<T>
  /** Whether a DNSMasq may have an option with this key. */
  readonly hasOption: (key: string) => Promise<boolean>
}

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
  readonly enum?: readonly string[]
}

export function createServedFields(client: Pick<KubeReader, 'get'>): ServedFields {
  const schemas = new Map<string, Promise<Schema>>()
  /** Reads each CRD once; a failed read is repeated by the next call. */
  const readSchema = (plural: string): Promise<Schema> => {
    const known = schemas.get(plural)
    if (known) return known
    const name = `${plural}.${networkGroup.group}`
    const crd = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', name }
    const schema = client.get(crd).then(servedSchema)
    schemas.set(plural, schema)
    schema.catch(() => schemas.delete(plural))
    return schema
  }
  return {
    prune: async (plural, status) => {
      const fields = (await readSchema(plural)).properties?.['status']?.properties
      if (!fields) return status
      return Object.fromEntries(Object.entries(status).filter(([key]) => key in fields)) as typeof status
    },
    hasOption: async (key) => {
      const spec = (await readSchema('dnsmasqs')).properties?.['spec']
      const keys = spec?.properties?.['options']?.items?.properties?.['key']?.enum
      return keys?.includes(key) ?? true
    },
  }
}

/** Empty without a CRD: then no field is removed. */
function servedSchema(crd: KubeObject | undefined): Schema {
  const { versions = [] } = (crd?.['spec'] ?? {}) as {
    readonly versions?: readonly { served: boolean; schema?: { openAPIV3Schema?: Schema } }[]
  }
  return versions.find(({ served }) => served)?.schema?.openAPIV3Schema ?? {}
}
