/** Runs the pod of a DNSMasq without a cluster: the controller's objects are written by a simulated kubelet. */
import type { DnsMasq } from '../../../src/api/dnsmasq.ts'
import type { KubeObject } from '../../../src/api/object.ts'
import { buildDeployment } from '../../../src/controllers/dns/dnsmasq-deployment.ts'
import { hostsConfigMaps, configMapObjects as mapsOf } from '../../../src/controllers/dns/dnsmasq-objects.ts'
import { type HostsRevision, nextRevision } from '../../../src/controllers/dns/hosts-revision.ts'
import { createSharder, type HostSource } from '../../../src/controllers/dns/shards.ts'
import { dnsMasq } from '../../dns.ts'
import { type PodOptions, podFolder, podSpec, type RunningPod, startPod, volumeConfigMaps } from '../../dns-pod.ts'
import { kubeletVolume, type VolumeFiles } from '../../kubelet-volume.ts'
import { loopback } from './ask.ts'

export interface ServedHosts {
  readonly server: RunningPod
  /** Replaces the hosts files, each with its name. */
  readonly serve: (sources: Readonly<Record<string, string>>) => void
  /** Writes only some files, like a kubelet that is behind. */
  readonly bring: (change: (files: VolumeFiles) => VolumeFiles) => void
  readonly restart: () => Promise<RunningPod>
  readonly stop: () => Promise<void>
}

export interface ServedOptions extends Partial<Omit<PodOptions, 'deployment' | 'folder'>> {
  readonly spec?: Partial<DnsMasq['spec']>
  readonly sources?: Readonly<Record<string, string>>
}

export async function servedHosts({ spec = {}, sources = {}, ...options }: ServedOptions = {}): Promise<ServedHosts> {
  const owner = dnsMasq('dns', 'openstack', { options: [], ...spec })
  const deployment = buildDeployment(owner)
  const sharder = createSharder()
  const folder = await podFolder()
  let revision: HostsRevision | undefined
  const filesFor = (given: Readonly<Record<string, string>>): VolumeFiles => {
    const sharded = sharder.shard(Object.entries(given).map(([name, text]): HostSource => ({ name, text })))
    revision = nextRevision(revision, sharded, 1)
    return dataOf(hostsConfigMaps(owner, revision))
  }
  let files = filesFor(sources)
  let hosts: (now: VolumeFiles) => void = () => {}
  for (const volume of podSpec(deployment).volumes) {
    const names = volumeConfigMaps(volume)
    if (names.length === 0) continue
    const write = kubeletVolume(folder.volume(volume.name))
    write(volume.projected ? files : dataOf(mapsOf(owner).filter(({ metadata }) => names.includes(metadata.name))))
    if (volume.projected) hosts = write
  }
  const start = (): Promise<RunningPod> => startPod({ address: loopback(), ...options, deployment, folder })
  let server = await start().catch(async (error: unknown) => {
    await folder.remove()
    throw error
  })
  return {
    get server() {
      return server
    },
    serve: (given) => {
      files = filesFor(given)
      hosts(files)
    },
    bring: (change) => hosts(change(files)),
    restart: async () => {
      server = await start()
      return server
    },
    stop: async () => {
      await server.stop()
      await folder.remove()
    },
  }
}

function dataOf(configMaps: readonly KubeObject[]): VolumeFiles {
  return Object.assign({}, ...configMaps.map((configMap) => configMap['data']))
}
