/**
 * Checks that every list of services follows the definitions: for each service, and for one that exists only in tests. It
 * fails when a new service, or a new list of services, is incomplete.
 */
import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { dataPlaneNode, dataPlaneRole } from '../../../test/data-plane.ts'
import { weatherAgents, weatherService } from '../../../test/weather-service.ts'
import { renderCrd } from '../../api/crd.ts'
import type { KubeObject } from '../../api/object.ts'
import { convertDataPlane } from '../../dataplane/convert/convert-data-plane.ts'
import type { ServiceObject } from '../../dataplane/kinds/service-object.ts'
import { summarizedKinds, summarizeNodes } from '../../dataplane/node-summary.ts'
import { createDataPlanePart } from '../../dataplane/operator-part.ts'
import { DECOMMISSION_PLAYBOOK, phase0Playbooks, readPlaybook } from '../../dataplane/runs/playbooks.ts'
import { groupVersionKind, nodeServices } from '../../dataplane/service-definitions/all.ts'
import type { ServiceDefinition } from '../../dataplane/service-definitions/definition.ts'
import { dataPlaneHandlers, dataPlaneWebhooks } from '../../dataplane/webhooks/data-plane-webhooks.ts'
import { buildOwnCrds } from '../../sandbox/crds/own-crds.ts'
import { webhookPath } from '../../webhooks/webhook-configuration.ts'
import { serviceColumn } from '../status/data-plane-status.ts'

const services = [...nodeServices, weatherService]
const part = createDataPlanePart(services)
const kindOf = ({ annotation }: ServiceDefinition): string => annotation.kind.kind
const crdNames = (crds: readonly KubeObject[]): readonly string[] => crds.map(({ metadata }) => metadata.name)

describe.each(services)('the service $name', (service) => {
  const { annotation, crd, dependency, images, steps } = service

  it('names the same kind in its CRD, annotation and objects', () => {
    expect(annotation.kind).toEqual(groupVersionKind(crd))
    if (dependency.fallbackCrd) expect(dependency.kind).toEqual(groupVersionKind(dependency.fallbackCrd))
    const [version] = (renderCrd(crd)['spec'] as { versions: { schema: object }[] }).versions
    const fields = [...Object.keys(images), ...(annotation.immutableField ? [annotation.immutableField] : [])]
    for (const field of fields)
      expect(version?.schema).toHaveProperty(['openAPIV3Schema', 'properties', 'spec', 'properties', field])
  })

  it('has its playbooks', async () => {
    for (const { playbook } of steps) expect(await readPlaybook(playbook)).toContain('hosts: all')
  })

  it('has CRDs, permissions and webhooks in the operator and in the sandbox', () => {
    const name = `${crd.plural}.${crd.group}`
    expect(crdNames(part.crds.own)).toContain(name)
    expect(crdNames(buildOwnCrds(services)['own-2023'].ours)).toContain(name)
    const may = (group: string, resource: string): readonly string[] =>
      part.rules
        .filter(({ apiGroups, resources }) => apiGroups.includes(group) && resources.includes(resource))
        .flatMap(({ verbs }) => verbs)
    expect(may(crd.group, crd.plural)).toEqual(expect.arrayContaining(['list', 'watch', 'patch', 'delete']))
    expect(may(crd.group, `${crd.plural}/status`)).toContain('update')
    const waited = dependency.fallbackCrd ?? { group: '', plural: 'secrets' }
    expect(may(waited.group, waited.plural)).toEqual(expect.arrayContaining(['get', 'list', 'watch']))
    const webhooks = dataPlaneWebhooks(services).filter(({ plural }) => plural === crd.plural)
    expect(webhooks.map(({ kind }) => kind)).toEqual(['mutate', 'validate'])
    const noObjects = {
      role: () => undefined,
      node: () => undefined,
      nodesInRole: () => [],
      service: () => undefined,
    }
    const view = { env: {}, cached: () => noObjects, live: async () => noObjects }
    expect(Object.keys(dataPlaneHandlers(view, services, 'f'))).toEqual(
      expect.arrayContaining(webhooks.map(webhookPath)),
    )
  })

  it('is the only one left out where its kinds are not served', () => {
    expect(part.kinds).not.toContainEqual(annotation.kind)
    expect(part.pieces?.find(({ name }) => name === service.name)?.kinds).toContainEqual(annotation.kind)
  })

  it('is shown by `status`', () => {
    expect(summarizedKinds(services)).toContainEqual(annotation.kind)
    const [state] = summarizeNodes({ objects: [dataPlaneNode('n')], unread: [] }, services)
    expect(state?.services.map(({ kind }) => kind)).toContain(kindOf(service))
    expect(serviceColumn(kindOf(service), services)).toBe(service.name.replaceAll('-', ' ').toUpperCase())
  })

  it('is converted to the NodeSet API with its configuration', () => {
    const text = '[DEFAULT]\ndebug = True\n'
    const value = ['true', 'nova-cell1'].find((one) => annotation.parse(one).kind === 'requested') ?? ''
    const object: ServiceObject = {
      ...annotation.kind,
      metadata: { name: 'n', namespace: 'openstack' },
      spec: { customServiceConfig: text },
    }
    const from = {
      roles: [dataPlaneRole('r', { preProvisioned: true })],
      nodes: [dataPlaneNode('n', { role: 'r' }, { [annotation.key]: value })],
      services: [],
      serviceObjects: [object],
    }
    const { objects, findings } = convertDataPlane(from, services)
    const unconverted = expect.stringContaining(`${kindOf(service)} n: the NodeSet API has no such service`)
    expect(findings.map(({ message }) => message)).toEqual(service.nodeSetService ? [] : [unconverted])
    const made = (kind: string): KubeObject | undefined => objects.find((object) => object.kind === kind)
    if (!service.nodeSetService) return
    const { type } = service.nodeSetService
    expect(made('ConfigMap')?.['data']).toEqual({ [`25-${type}-custom.conf`]: text })
    expect(made('OpenStackDataPlaneService')?.['spec']).toMatchObject({ edpmServiceType: type })
    const set = made('OpenStackDataPlaneNodeSet')?.['spec'] as { services: string[] } | undefined
    expect(set?.services.at(-1)).toBe(`${type}-of-r`)
    const unasked = { ...from, nodes: [dataPlaneNode('n', { role: 'r' })] }
    expect(convertDataPlane(unasked, services).findings.map(({ message }) => message)).toEqual([
      expect.stringContaining(`${kindOf(service)} n: no annotation`),
    ])
  })
})

describe('services on nodes', () => {
  it('have unique names, kinds, annotation keys, Secrets and steps', () => {
    const once = (names: readonly string[]): void => expect(names).toEqual([...new Set(names)])
    once(services.map(({ name }) => name))
    once(services.map(kindOf))
    once(services.flatMap(({ annotation }) => [annotation.key, annotation.holdKey]))
    once(services.map(({ configSecret }) => configSecret('n')))
    once(services.flatMap(({ nodeSetService }) => nodeSetService?.type ?? []))
    once([...phase0Playbooks, DECOMMISSION_PLAYBOOK, ...services.flatMap(({ steps }) => steps.map(({ name }) => name))])
  })

  it('that depend on the same kind define its CRD once', () => {
    const [nova] = nodeServices
    const twice = createDataPlanePart(nova ? [nova, { ...weatherService, dependency: nova.dependency }] : [])
    expect(crdNames(twice.crds.upstream)).toEqual(['novacells.nova.openstack.org'])
  })

  it('are described in the guide', async () => {
    const guide = await readFile('docs/guide/data-plane.md', 'utf8')
    for (const { annotation } of nodeServices)
      for (const word of [annotation.key, annotation.holdKey, annotation.kind.kind]) expect(guide).toContain(word)
  })

  it('use the names of their steps on the host, which decommissioning needs', async () => {
    for (const { name, playbook } of nodeServices.flatMap(({ steps }) => steps)) {
      const text = await readPlaybook(playbook)
      expect(text).toContain(`    service: ${name}\n`)
      expect(text).toContain('target: "/var/lib/openstack/config/{{ service }}"\n')
      expect(text).toContain('unit: "stackloom-{{ service }}.service"\n')
    }
  })

  it('say when they are up and what they need for it, unless systemd knows', async () => {
    for (const { playbook } of nodeServices.flatMap(({ steps }) => steps)) {
      const text = await readPlaybook(playbook)
      const [, up] = /^    up: (.+)$/m.exec(text) ?? []
      expect(up, playbook).toBeDefined()
      if (up === '""') expect(text).toContain('    type: notify\n')
      else expect(text).toMatch(/^    needs: .+$/m)
    }
  })

  it('do not include the service of the tests', () => {
    expect(summarizedKinds()).not.toContainEqual(weatherAgents)
  })
})
