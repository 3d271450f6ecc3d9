/** The JSON Schema of each kind of file that users write, with the names that editors complete. */
import type * as z from 'zod/v4/core'
import type { KnownNames } from '../../api/json-schema.ts'

export type FileKind = 'site' | 'lab' | 'fleet'
export const fileKinds: readonly FileKind[] = ['site', 'lab', 'fleet']

export async function fileSchema(kind: FileKind): Promise<object> {
  const { toJsonSchema } = await import('../../api/json-schema.ts')
  const { schema, title, names } = await sources[kind]()
  return toJsonSchema(schema, title, names)
}

interface SchemaSource {
  readonly schema: z.$ZodType
  readonly title: string
  readonly names: KnownNames
}

const sources: Readonly<Record<FileKind, () => Promise<SchemaSource>>> = {
  site: async () => {
    const { siteSchema } = await import('../../api/site.ts')
    const { networkTemplates } = await import('../../site/network-templates.ts')
    const { serviceCatalogue } = await import('../../plan/slots/service-catalogue.ts')
    const { loadReleases } = await import('../../plan/release/releases.ts')
    const names = {
      network: Object.keys(networkTemplates),
      service: serviceCatalogue.map(({ name }) => name),
      release: loadReleases().map(({ name }) => name),
    }
    return { schema: siteSchema, title: 'Site', names }
  },
  lab: async () => {
    const { labSchema, networkNames } = await import('../../api/lab.ts')
    return { schema: labSchema, title: 'Lab', names: { network: networkNames } }
  },
  fleet: async () => ({ schema: (await import('../../api/fleet.ts')).fleetSchema, title: 'Fleet', names: {} }),
}
