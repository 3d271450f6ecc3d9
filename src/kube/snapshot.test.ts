import { describe, expect, it } from 'vitest'
import { statusObject } from '../../test/scripted-server.ts'
import type { GroupVersionKind, KubeObject } from '../api/object.ts'
import type { ListOptions } from './client.ts'
import { takeSnapshot } from './snapshot.ts'
import { errorFromResponse } from './status-error.ts'

const pool = { apiVersion: 'metallb.io/v1beta1', kind: 'IPAddressPool' }
const secret = { apiVersion: 'v1', kind: 'Secret' }
const missing = { apiVersion: 'nmstate.io/v1', kind: 'NodeNetworkConfigurationPolicy' }

const named = (kind: GroupVersionKind, name: string): KubeObject => ({ ...kind, metadata: { name } })
const errorWithStatus = (status: number) =>
  errorFromResponse({ status, body: statusObject(status, '', 'no') }, { server: 's', verb: 'list', subject: 'x' })

/** A cluster that serves `kinds`; `list` returns their objects. */
function reader(
  kinds: readonly GroupVersionKind[],
  list: (kind: GroupVersionKind, options: ListOptions) => readonly KubeObject[],
) {
  const at = (kind: GroupVersionKind) =>
    kinds.find(
      (groupVersionKind) => groupVersionKind.apiVersion === kind.apiVersion && groupVersionKind.kind === kind.kind,
    )
  return {
    resource: (kind: GroupVersionKind) => {
      const found = at(kind)
      return Promise.resolve(found && { ...found, plural: 'x', namespaced: true, verbs: [] })
    },
    versions: (group: string) =>
      Promise.resolve([
        ...new Set(kinds.map((kind) => kind.apiVersion).filter((version) => version.startsWith(`${group}/`))),
      ]),
    list: async (kind: GroupVersionKind, options: ListOptions = {}) => {
      await Promise.resolve()
      return { items: list(kind, options), resourceVersion: '1' }
    },
  }
}

describe('takeSnapshot', () => {
  it('returns the objects of all kinds, in the requested order', async () => {
    const cluster = reader([pool, secret], (kind) => [named(kind, 'a'), named(kind, 'b')])
    const { snapshot, findings } = await takeSnapshot(cluster, [secret, pool])
    expect(snapshot.objects.map((object) => `${object.kind} ${object.metadata.name}`)).toEqual([
      'Secret a',
      'Secret b',
      'IPAddressPool a',
      'IPAddressPool b',
    ])
    expect({ unread: snapshot.unread, findings }).toEqual({ unread: [], findings: [] })
  })

  it('reports the kinds that could not be read with the cause, and keeps the others', async () => {
    const cluster = reader([pool, secret], (kind) => {
      if (kind.kind === 'Secret') throw errorWithStatus(403)
      throw errorWithStatus(500)
    })
    const { snapshot, findings } = await takeSnapshot(cluster, [secret, pool, missing])
    expect(snapshot.unread.map((unreadKind) => [unreadKind.kind, unreadKind.cause])).toEqual([
      ['Secret', 'forbidden'],
      ['IPAddressPool', 'failed'],
      ['NodeNetworkConfigurationPolicy', 'not-served'],
    ])
    expect(findings.map((finding) => finding.code)).toEqual(['SL1124', 'SL1124'])
  })

  it('reads a kind in the version that the cluster serves', async () => {
    const newer = { ...pool, apiVersion: 'metallb.io/v1' }
    const { snapshot } = await takeSnapshot(
      reader([newer], (kind) => [named(kind, 'a')]),
      [pool],
    )
    expect(snapshot.objects).toEqual([named(newer, 'a')])
    expect(snapshot.unread).toEqual([])
  })

  it('reads the allowed namespaces, and reports that it has read no others', async () => {
    const cluster = reader([pool], (kind, { namespace }) => {
      if (namespace === undefined) throw errorWithStatus(403)
      return [named(kind, namespace)]
    })
    const { snapshot } = await takeSnapshot(cluster, [pool], { namespaces: ['openstack', 'openstack2'] })
    expect(snapshot.objects.map((object) => object.metadata.name)).toEqual(['openstack', 'openstack2'])
    expect(snapshot.unread).toEqual([
      expect.objectContaining({ cause: 'forbidden', reason: expect.stringContaining('openstack2 only') }),
    ])
  })

  it('fails at once when the server rejects the credential', async () => {
    let lists = 0
    const cluster = reader([pool], () => {
      lists += 1
      throw errorWithStatus(401)
    })
    const many = Array.from({ length: 20 }, () => pool)
    await expect(takeSnapshot(cluster, many, { concurrency: 1 })).rejects.toMatchObject({ kind: 'unauthorized' })
    expect(lists).toBe(1)
  })

  it('reads no more kinds at a time than allowed', async () => {
    let running = 0
    let most = 0
    const cluster = {
      ...reader([pool], () => []),
      list: async () => {
        running += 1
        most = Math.max(most, running)
        await new Promise((resolve) => setTimeout(resolve, 1))
        running -= 1
        return { items: [], resourceVersion: '1' }
      },
    }
    await takeSnapshot(
      cluster,
      Array.from({ length: 30 }, () => pool),
      { concurrency: 3 },
    )
    expect(most).toBe(3)
  })
})
