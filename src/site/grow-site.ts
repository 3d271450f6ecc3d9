/** Adds clouds and hosts to the text of a site file, to plan what does not exist yet. Pure. */
import { asList, asRecord, asString, isRecord } from '../api/json.ts'
import { readYaml } from '../yaml/read.ts'
import { writeYaml } from '../yaml/write.ts'

export interface Growth {
  readonly clouds: number
  /** By the name of the cloud. */
  readonly hosts: ReadonlyMap<string, number>
}

/** New clouds have the services and networks of the last one, without its pins: the planner chooses their numbers. */
export function growSite(text: string | Uint8Array, file: string, { clouds, hosts }: Growth): string {
  const site = asRecord(readYaml(text, file).value)
  const spec = asRecord(site['spec'])
  const before = asList(spec['clouds'])
  const grown = before.map((cloud) => {
    const count = hosts.get(asString(asRecord(cloud)['name']) ?? '') ?? 0
    return count === 0
      ? cloud
      : { ...asRecord(cloud), hosts: [...asList(asRecord(cloud)['hosts']), ...newHosts(count)] }
  })
  const model = asRecord(before.at(-1))
  const more = Array.from({ length: clouds }, (_, index) => newCloud(model, index + 1))
  return writeYaml({ ...site, spec: { ...spec, clouds: [...grown, ...more] } })
}

function newHosts(count: number): readonly object[] {
  return Array.from({ length: count }, (_, index) => ({ name: `one-more-${index + 1}` }))
}

function newCloud({ services, networks }: Readonly<Record<string, unknown>>, number: number): object {
  const absent = Object.entries(asRecord(networks)).filter(([, settings]) => settings === false)
  return {
    name: `one-more-${number}`,
    namespace: `one-more-${number}`,
    ...(services !== undefined && { services: withoutPins(services) }),
    ...(absent.length > 0 && { networks: Object.fromEntries(absent) }),
  }
}

/** Raw templates may have addresses. */
function withoutPins(services: unknown): object {
  return Object.fromEntries(
    Object.entries(asRecord(services)).map(([name, value]) => {
      if (!isRecord(value)) return [name, value]
      const { template: _, ...rest } = value
      return [name, rest]
    }),
  )
}
