/** Builds runs for tests: minimal plays, the inventory of the test's nodes, and the objects that a run reads. */
import { vi } from 'vitest'
import { renderCrd } from '../../../src/api/crd.ts'
import type { KubeObject } from '../../../src/api/object.ts'
import {
  type AnsibleRun,
  type AnsibleRunSpec,
  ansibleRunKind,
  ansibleRuns,
} from '../../../src/dataplane/kinds/ansible-run.ts'
import type { KubeClient } from '../../../src/kube/client.ts'
import type { DataPlaneNodes } from './nodes.ts'

export const SSH_SECRET = 'dataplane-ansible-ssh-private-key-secret'

/** Creates a namespace that serves runs. */
export async function serveRuns(client: KubeClient, namespace: string): Promise<void> {
  await client.apply(renderCrd(ansibleRunKind), { fieldManager: 'test' })
  await client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
  const served = async (): Promise<void> => {
    if (!(await client.resource(ansibleRuns))) throw new Error('not served yet')
  }
  await vi.waitFor(served, { timeout: 30_000 })
}

export function play(tasks: readonly unknown[]): string {
  return JSON.stringify([{ hosts: 'all', gather_facts: false, tasks }])
}

export function inventory(
  nodes: DataPlaneNodes,
  names: readonly string[],
  vars: Readonly<Record<string, unknown>> = {},
): string {
  const host = (name: string): readonly [string, unknown] => [
    name,
    {
      ansible_host: nodes.node(name).address,
      ansible_user: 'root',
      ctlplane_ip: nodes.node(name).address,
      ...vars,
    },
  ]
  return JSON.stringify({ all: { hosts: Object.fromEntries(names.map(host)) } })
}

export function secret(namespace: string, name: string, stringData: Readonly<Record<string, string>>): KubeObject {
  const data = Object.fromEntries(
    Object.entries(stringData).map(([key, text]) => [key, Buffer.from(text).toString('base64')]),
  )
  return { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace }, data }
}

/** The volumes of a run as the data plane controllers write them. */
export function mounts(inventoryName: string, config?: string): NonNullable<AnsibleRunSpec['extraMounts']> {
  const configVolume = { name: 'config', secret: { secretName: config } }
  const configMount = { name: 'config', mountPath: '/var/lib/openstack/config' }
  return [
    {
      volumes: [
        {
          name: 'ssh-key',
          secret: { secretName: SSH_SECRET, items: [{ key: 'ssh-privatekey', path: 'ssh_key' }] },
        },
        {
          name: 'inventory',
          configMap: { name: inventoryName, items: [{ key: 'inventory', path: 'inventory' }] },
        },
        ...(config === undefined ? [] : [configVolume]),
      ],
      mounts: [
        { name: 'ssh-key', mountPath: '/runner/env/ssh_key', subPath: 'ssh_key' },
        { name: 'inventory', mountPath: '/runner/inventory/hosts', subPath: 'inventory' },
        ...(config === undefined ? [] : [configMount]),
      ],
    },
  ]
}

export function ansibleRun(
  namespace: string,
  name: string,
  spec: AnsibleRunSpec,
  meta: Partial<AnsibleRun['metadata']> = {},
): AnsibleRun {
  return { ...ansibleRuns, metadata: { name, namespace, ...meta }, spec }
}
