/**
 * Defines a service that exists only in tests. The program knows nothing of it but this definition, so every list of
 * services must follow the definitions to include it.
 */
import { z } from 'zod'
import type { KindDefinition } from '../src/api/crd.ts'
import { serviceSpecFields, serviceStatusSchema } from '../src/dataplane/kinds/service-object.ts'
import type { ServiceDefinition } from '../src/dataplane/service-definitions/definition.ts'

export const weatherAgents = { apiVersion: 'weather.example.org/v1', kind: 'WeatherAgent' }
const weatherKind: KindDefinition = {
  group: 'weather.example.org',
  version: 'v1',
  kind: weatherAgents.kind,
  plural: 'weatheragents',
  scope: 'Namespaced',
  spec: z.object({ ...serviceSpecFields, station: z.string().optional() }),
  status: serviceStatusSchema,
}
export const weatherService: ServiceDefinition = {
  name: 'weather',
  crd: weatherKind,
  annotation: {
    key: 'weather.example.org/station',
    holdKey: 'weather.example.org/deploy',
    kind: weatherAgents,
    immutableField: 'station',
    parse: (text) => (text === '' ? { kind: 'none' } : { kind: 'requested', fields: { station: text } }),
  },
  images: { ansibleEEContainerImage: { variables: [], otherwise: 'runner' } },
  dependency: {
    kind: { apiVersion: 'v1', kind: 'Secret' },
    objectName: ({ spec }) => spec['station'] as string | undefined,
    condition: 'StationReady',
  },
  requiredSecrets: ({ spec }) => [{ secret: String(spec['station']), namedBy: 'station', keys: ['url'] }],
  facts: ({ service, secretValue }) => ({
    kind: 'found',
    facts: { url: secretValue(String(service.spec['station']), 'url') },
  }),
  files: ({ url = '' }, custom) => ({
    kind: 'files',
    files: { '01-weather.conf': `[DEFAULT]\nurl = ${url}\n`, '02-custom.conf': custom },
  }),
  generatedFile: '01-weather.conf',
  configSecret: (name) => `${name}-weather-config-data`,
  binding: [],
  variablePrefix: 'weather_',
  steps: [{ name: 'weather', playbook: 'run-os' }],
  nodeSetService: {
    type: 'weather',
    playbook: 'weather.example.forecast',
    order: 30,
    secrets: ({ station = '' }) => [station],
  },
}
