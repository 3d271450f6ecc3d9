/** Puts an expression into every text field of every kind, and lets real Ansible read what the controllers make of them. */
import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { type KindDefinition, renderCrd } from '../../../src/api/crd.ts'
import { dnsMasqKind } from '../../../src/api/dnsmasq.ts'
import { type IpSet, ipSetKind } from '../../../src/api/ipset.ts'
import { formatExtraVars } from '../../../src/dataplane/execution/run-files.ts'
import {
  type DataPlaneNode,
  type DataPlaneRole,
  dataPlaneNodeKind,
  dataPlaneRoleKind,
} from '../../../src/dataplane/kinds/data-plane.ts'
import type { ServiceObject } from '../../../src/dataplane/kinds/service-object.ts'
import { addressVars } from '../../../src/dataplane/nodes/address-vars.ts'
import { renderNodeInventory, renderRoleHost, renderRoleInventory } from '../../../src/dataplane/nodes/inventory.ts'
import { resolveNode } from '../../../src/dataplane/rules/inheritance.ts'
import { checkNode, checkRole } from '../../../src/dataplane/rules/role-and-node.ts'
import { nodeServices } from '../../../src/dataplane/service-definitions/all.ts'
import { runProcess } from '../../../src/exec/process.ts'
import { ansibleRun } from '../../data-plane.ts'
import { useFolder } from '../../folder.ts'

const folder = useFolder()
const marker = path.join(folder, 'evaluated')

/** Leaves a line with the name of the field when Ansible evaluates it. */
const expression = (field: string): string => `{{ lookup('pipe', 'echo ${field} >> ${marker}') }}`

interface Schema {
  readonly type?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: Schema
  readonly items?: Schema
}

/** Variables and templates that a person writes for Ansible: expressions are their purpose. */
const CODE = new Set(['ansibleVars', 'template'])

function hostileValue(schema: Schema, field: string): unknown {
  const name = field.slice(field.lastIndexOf('.') + 1)
  if (CODE.has(name)) return name === 'ansibleVars' ? `control: "${expression(field)}"\n` : 'text'
  if (schema.type === 'string') return expression(field)
  if (schema.type === 'integer') return 1
  if (schema.type === 'boolean') return true
  if (schema.type === 'array') return [hostileValue(schema.items ?? {}, field)]
  if (schema.additionalProperties) return { key: hostileValue(schema.additionalProperties, field) }
  const properties = Object.entries(schema.properties ?? {})
  return Object.fromEntries(properties.map(([key, property]) => [key, hostileValue(property, `${field}.${key}`)]))
}

function hostileObject<T>(kind: KindDefinition, name: string): T {
  const { versions } = renderCrd(kind)['spec'] as {
    readonly versions: readonly { readonly schema: { readonly openAPIV3Schema: Schema } }[]
  }
  const { spec = {}, status = {} } = versions[0]?.schema.openAPIV3Schema.properties ?? {}
  return {
    apiVersion: `${kind.group}/${kind.version}`,
    kind: kind.kind,
    metadata: { name, namespace: 'openstack' },
    spec: hostileValue(spec, `${kind.kind}.spec`),
    status: hostileValue(status, `${kind.kind}.status`),
  } as T
}

const role = hostileObject<DataPlaneRole>(dataPlaneRoleKind, 'edpm-compute')
const node = hostileObject<DataPlaneNode>(dataPlaneNodeKind, 'edpm-compute-0')
const ipSet = hostileObject<IpSet>(ipSetKind, 'edpm-compute-0')
const { status: served } = hostileObject<{ readonly status: { readonly dnsAddresses: readonly string[] } }>(
  dnsMasqKind,
  'dnsmasq',
)
const [reservation] = ipSet.status?.reservations ?? []
if (!reservation) throw new Error('the schema of the IPSet has no reservation')
/** As it is, and with a usable name, because the values of a network without one are left out. */
const reservations = [reservation, { ...reservation, serviceNetwork: 'ctlplane' }]
const addresses = addressVars({ ...ipSet, status: { ...ipSet.status, reservations } }, served.dnsAddresses)

/** Evaluates every variable of every host, also when it is copied. */
const PLAY = `
- hosts: all
  connection: local
  gather_facts: false
  tasks:
    - ansible.builtin.set_fact:
        copied: "{{ lookup('vars', item) }}"
      loop: "{{ hostvars[inventory_hostname].keys() | list }}"
      when: item not in ['ansible_facts', 'groups', 'hostvars', 'omit', 'vars']
    - ansible.builtin.debug:
        msg: "{{ copied }}"
    - ansible.builtin.debug:
        msg: "{{ dict(hostvars[inventory_hostname]) }}"
`

async function evaluatedFields(inventory: string, extraVars: string): Promise<readonly string[]> {
  const file = (name: string): string => path.join(folder, name)
  await Promise.all([
    writeFile(marker, ''),
    writeFile(file('inventory.yaml'), inventory),
    writeFile(file('extravars'), extraVars),
    writeFile(file('play.yaml'), PLAY),
  ])
  const { exit, stdout } = await runProcess({
    file: 'ansible-playbook',
    args: ['-i', file('inventory.yaml'), '-e', `@${file('extravars')}`, file('play.yaml')],
    env: { ...process.env, ANSIBLE_HOME: file('ansible'), ANSIBLE_LOCAL_TEMP: file('ansible/tmp') },
  })
  expect(exit, stdout).toMatchObject({ kind: 'exited', code: 0 })
  return [...new Set((await readFile(marker, 'utf8')).split('\n').filter(Boolean))]
}

describe('an expression in a text field', () => {
  it('of a node, its addresses and its DNS servers is only text in the inventory of the node', async () => {
    const { inventory } = renderNodeInventory(resolveNode(node, role), addresses)
    expect(await evaluatedFields(inventory, '{}')).toEqual(['OpenStackDataPlaneNode.spec.node.ansibleVars'])
  }, 120_000)

  it('of a role and its nodes is only text in the inventory of the role', async () => {
    const other = { ...node, spec: { ...node.spec, node: { ...node.spec.node, ansibleVars: '' } } }
    const host = renderRoleHost(resolveNode(other, role), other, addresses)
    const { inventory } = renderRoleInventory(role, [host])
    expect(await evaluatedFields(inventory, '{}')).toEqual(['OpenStackDataPlaneRole.spec.nodeTemplate.ansibleVars'])
  }, 120_000)

  it('of a service object is only text in the extra variables of its runs', async () => {
    const extraVars = nodeServices.flatMap(({ crd, steps }) => {
      const service = hostileObject<ServiceObject>(crd, 'edpm-compute-0')
      return steps.map((step) => step.extraVars?.(service) ?? {})
    })
    const run = ansibleRun('run', { step: 'nova', hosts: {}, spec: { extraVars: Object.assign({}, ...extraVars) } })
    expect(formatExtraVars(run)).toContain('ContainerImage')
    expect(await evaluatedFields('all: {hosts: {a: {}}}', formatExtraVars(run))).toEqual([])
  }, 120_000)

  it('of a run that a person wrote is evaluated, as its play is', async () => {
    const { metadata, ...run } = ansibleRun('run', {
      step: 'x',
      hosts: {},
      spec: { extraVars: { x: expression('x') } },
    })
    const written = { ...run, metadata: { ...metadata, annotations: {} } }
    expect(await evaluatedFields('all: {hosts: {a: {}}}', formatExtraVars(written))).toEqual(['x'])
  }, 120_000)

  it('is reported where it would become a part of an SSH command', () => {
    const fields = [...checkNode(node, []), ...checkRole(role, [])].flatMap(({ field, finding }) =>
      finding.code === 'SL7132' ? [field] : [],
    )
    expect(fields).toEqual([
      'spec.hostName',
      'spec.ansibleHost',
      'spec.node.ansibleUser',
      'spec.nodeTemplate.ansibleUser',
    ])
  })
})
