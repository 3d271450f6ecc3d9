/**
 * Deploys two clouds from one file: the dnsmasq of each cloud answers with the planned addresses and has no name of the
 * other. The API server, MetalLB and dnsmasq are real; the OpenStack operators are simulated.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { main } from '../../../src/cli/main.ts'
import { parseHosts } from '../../../src/controllers/dns/hosts-file.ts'
import { ownCrds } from '../../../src/operator/parts.ts'
import { listCloudDnsNames } from '../../../src/plan/dns-names.ts'
import { useCluster } from '../../cluster.ts'
import { testIo } from '../../io.ts'
import { sandboxPlan } from '../../plan.ts'
import { siteText } from '../../site.ts'
import { deploy, nodeNames, prepareCluster, type RunningActors, startActors } from '../deploy/deployment-fixture.ts'
import { type RunningOperator, startOperator } from '../ipam/operator.ts'
import { addressesOf, missingPrograms } from './ask.ts'
import { type ClusterPod, clusterPod } from './cluster-pod.ts'

const soon = { timeout: 30_000, interval: 50 }
const missing = missingPrograms()
const clouds = [
  { name: 'rhoso1', namespace: 'openstack', hosts: [{ name: 'compute-0' }] },
  { name: 'rhoso2', namespace: 'openstack2' },
]
const plan = sandboxPlan({ nodes: 2, clouds })

describe('two clouds', { timeout: 240_000 }, () => {
  const cluster = useCluster({ crds: 'today', metallb: true, controllerManager: true })
  let cast: RunningActors | undefined
  let operator: RunningOperator | undefined
  const running: ClusterPod[] = []

  beforeAll(async () => {
    for (const crd of ownCrds) await cluster.client.apply(crd, { fieldManager: 'test' })
    await vi.waitFor(async () => {
      const kind = { apiVersion: 'stackloom.dev/v1alpha1', kind: 'AddressBlock' }
      if (!(await cluster.client.resource(kind))) throw new Error('not served yet')
    }, soon)
    await prepareCluster(cluster.client, nodeNames(plan))
    cast = startActors(cluster.connection)
    operator = await startOperator(cluster)
  }, 600_000)
  beforeEach((context) => {
    if (missing !== undefined) context.skip(missing)
  })
  afterAll(async () => {
    for (const pod of running) await pod.stop()
    await operator?.stop()
    await cast?.stop()
  })

  /** The output of `dns hosts --live`. */
  const liveHosts = async (cloud: string): Promise<string> => {
    const cwd = await mkdtemp(path.join(tmpdir(), 'stackloom-dns-clouds-'))
    try {
      await writeFile(path.join(cwd, 'site.yaml'), siteText({ clouds }))
      const io = testIo({ cwd })
      const words = ['dns', 'hosts', '--cloud', cloud, '--live', '--kubeconfig', cluster.kubeconfig]
      expect(await main(words, io)).toBe(0)
      return io.out()
    } finally {
      await rm(cwd, { recursive: true })
    }
  }

  it('have servers that answer as planned and as their hosts files say, and nothing else', async () => {
    const { report } = await deploy(cluster.client, plan)
    expect(report.outcome).toBe('done')
    for (const cloud of plan.clouds) {
      const pod = await clusterPod(cluster.client, { namespace: cloud.namespace, name: 'dns' })
      running.push(pod)
      const wanted = new Map<string, string[]>()
      for (const { name, address } of listCloudDnsNames(cloud)) wanted.set(name, [...(wanted.get(name) ?? []), address])
      expect([...wanted.keys()]).toContain(`keystone-internal.${cloud.namespace}.svc`)
      for (const [name, addresses] of wanted) {
        await expect.poll(() => addressesOf(pod.server, name), soon).toEqual([...new Set(addresses)].sort())
      }
      const hosts = parseHosts(await liveHosts(cloud.name)).filter(({ usable }) => usable)
      const live = new Map(hosts.flatMap(({ ip, names }) => names.map((name) => [`${name} ${ip}`, name])))
      for (const { name, address } of listCloudDnsNames(cloud)) expect([...live.keys()]).toContain(`${name} ${address}`)
      for (const name of new Set(live.values())) {
        const said = hosts.filter(({ names }) => names.includes(name)).map(({ ip }) => ip)
        expect(await addressesOf(pod.server, name)).toEqual([...said].sort())
      }
      const others = plan.clouds.filter((plannedCloud) => plannedCloud !== cloud).flatMap(listCloudDnsNames)
      for (const { name } of others) expect(await addressesOf(pod.server, name)).toEqual([])
    }
  })
})
