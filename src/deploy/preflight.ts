/**
 * Checks what a cluster must have before anything is deployed, and changes the two cluster-wide settings that the site
 * needs if the user agrees. `checkCluster` is pure over the live objects; the stage reads and writes.
 */
import type { GroupVersionKind, KubeObject } from '../api/object.ts'
import { getField, getList, getString } from '../api/raw-object.ts'
import { indexSnapshot, type SnapshotIndex } from '../api/snapshot.ts'
import { Failure } from '../errors/failure.ts'
import { type Finding, finding, hasErrors } from '../errors/finding.ts'
import type { KubeClient, KubeReader } from '../kube/client.ts'
import { takeSnapshot } from '../kube/snapshot.ts'
import { slotLines } from '../plan/lock.ts'
import type { Plan } from '../plan/plan.ts'
import { readSlotTable } from '../plan/slots/slot-table.ts'
import type { SlotTable } from '../plan/slots/slots.ts'
import { renderNodeTuning } from '../render/node-tuning.ts'
import type { RenderedDocument } from '../render/render.ts'
import { applyAcceptances } from '../site/accept.ts'
import { capacityFindings, capacityKinds, takenVipFindings, vipCapacityFindings } from '../verify/capacity.ts'
import { SERVICE } from '../verify/checks/check-definition.ts'
import { readReleaseCrds, refusedFields } from './cluster-release.ts'
import {
  clusterDnsMissing,
  crdMismatch,
  gatewaySettings,
  multusMissing,
  noDefaultStorageClass,
  nodeTuningMissing,
  storageClassMissing,
  whereaboutsMissing,
} from './findings/up.ts'
import type { LiveView } from './live-view.ts'
import { FIELD_MANAGER } from './object-changes.ts'
import { type RetryPolicy, retry } from './retry.ts'
import type { StageWork } from './stages/apply-and-wait.ts'

export interface PreflightDeps {
  readonly client: KubeClient
  readonly view: LiveView
  readonly plan: Plan
  readonly documents: readonly RenderedDocument[]
  /** The user agreed to change cluster-wide settings. */
  readonly mayConfigureCluster: boolean
  readonly retryPolicy: RetryPolicy
}

export function preflightStage(deps: PreflightDeps): StageWork {
  const { client, view, plan } = deps
  const check = async (): Promise<Preflight> => {
    const { findings, settings } = checkCluster(plan, view.index(), await readControlPlaneCrd(client))
    const refused = refusedFields(deps.documents, plan.slots.release, await readReleaseCrds(client))
    return { settings, findings: [...findings, ...refused, ...(await checkCapacity(deps))] }
  }
  return {
    check: async (context) => {
      await view.watch(preflightKinds, context)
      const { findings, settings } = await check()
      return findings.length === 0 && settings.length === 0
        ? { kind: 'satisfied', reason: 'the cluster has what the site needs' }
        : { kind: 'needed' }
    },
    work: async (context) => {
      const { findings, settings } = await check()
      if (hasErrors(findings)) throw new Failure(findings, 1)
      for (const finding of findings) context.emit({ kind: 'finding', finding })
      for (const { object, patch, finding } of settings) {
        context.stop.throwIfAborted()
        if (!deps.mayConfigureCluster) {
          context.emit({ kind: 'finding', finding })
          continue
        }
        const write = () => client.patch(object, patch, { type: 'merge', fieldManager: FIELD_MANAGER })
        await retry(write, context, deps.retryPolicy)
        context.emit({ kind: 'applied', change: 'changed', object })
      }
    },
  }
}

/** Lists once and does not watch: other workloads matter before the deployment, not during it. */
async function checkCapacity({ client, plan, documents }: PreflightDeps): Promise<readonly Finding[]> {
  const { snapshot } = await takeSnapshot(client, [...capacityKinds, SERVICE])
  const live = indexSnapshot(snapshot)
  const nodes = plan.from.cluster.nodes.map(({ name }) => name)
  // Problems of a cloud that this run does not deploy must not stop it.
  const deployed = new Set(documents.map(({ cloud }) => cloud))
  const clouds = plan.clouds.filter(({ name }) => deployed.has(name))
  const findings = [
    ...capacityFindings({ nodes, clouds: plan.clouds, documents }, live),
    ...vipCapacityFindings(clouds, live),
    ...takenVipFindings(clouds, live),
  ]
  return applyAcceptances(findings, plan.from.accept)
}

/** A change to an object that belongs to the whole cluster. */
export interface ClusterSetting {
  readonly object: GroupVersionKind & { readonly name: string }
  /** The change in words, for the user. */
  readonly what: string
  readonly finding: Finding
  /** A merge patch. */
  readonly patch: unknown
}

export interface Preflight {
  readonly findings: readonly Finding[]
  readonly settings: readonly ClusterSetting[]
}

export const preflightKinds: readonly GroupVersionKind[] = [
  { apiVersion: 'k8s.cni.cncf.io/v1', kind: 'NetworkAttachmentDefinition' },
  { apiVersion: 'whereabouts.cni.cncf.io/v1alpha1', kind: 'IPPool' },
  { apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass' },
  { apiVersion: 'operator.openshift.io/v1', kind: 'Network' },
  { apiVersion: 'operator.openshift.io/v1', kind: 'DNS' },
  { apiVersion: 'tuned.openshift.io/v1', kind: 'Tuned' },
]

/** `crd` is the definition of the control plane, if the cluster has one already. */
export function checkCluster(plan: Plan, live: SnapshotIndex, crd: KubeObject | undefined): Preflight {
  return {
    findings: [
      ...missingKind(live, 'k8s.cni.cncf.io/NetworkAttachmentDefinition', finding(multusMissing, {})),
      ...missingKind(live, 'whereabouts.cni.cncf.io/IPPool', finding(whereaboutsMissing, {})),
      ...storageFindings(plan, live),
      ...crdFindings(plan.slots, crd),
      ...(renderNodeTuning(plan).length > 0
        ? missingKind(live, 'tuned.openshift.io/Tuned', finding(nodeTuningMissing, {}))
        : []),
    ],
    settings: [...gatewaySetting(live), ...dnsSetting(plan.from.cluster.dns, live)],
  }
}

function missingKind(live: SnapshotIndex, groupKind: string, missing: Finding): readonly Finding[] {
  return live.unread(groupKind) === undefined ? [] : [missing]
}

const DEFAULT_CLASS = 'storageclass.kubernetes.io/is-default-class'

function storageFindings({ from, clouds }: Plan, live: SnapshotIndex): readonly Finding[] {
  const classes = live.all('storage.k8s.io/StorageClass')
  const known = classes.map(({ metadata }) => metadata.name)
  const named = [from.cluster.storageClass, ...clouds.map((cloud) => cloud.from.file.storageClass)]
  const requested = new Set(named.filter((name) => name !== undefined))
  if (requested.size === 0) {
    const hasDefault = classes.some(({ metadata }) => metadata.annotations?.[DEFAULT_CLASS] === 'true')
    return hasDefault ? [] : [finding(noDefaultStorageClass, { known })]
  }
  return [...requested]
    .filter((name) => !known.includes(name))
    .map((name) => finding(storageClassMissing, { name, known }))
}

/** Without these settings OVN-Kubernetes does not answer for VIPs on secondary interfaces. */
function gatewaySetting(live: SnapshotIndex): readonly ClusterSetting[] {
  const network = live.get('operator.openshift.io/Network', 'cluster')
  if (!network || getString(network, 'spec', 'defaultNetwork', 'type') !== 'OVNKubernetes') return []
  const gatewayConfig = getField(network, 'spec', 'defaultNetwork', 'ovnKubernetesConfig', 'gatewayConfig')
  const viaHost = getField(gatewayConfig, 'routingViaHost') === true
  if (viaHost && getString(gatewayConfig, 'ipForwarding') === 'Global') return []
  const settings = { gatewayConfig: { routingViaHost: true, ipForwarding: 'Global' } }
  return [
    {
      object: settingRef(network),
      what: 'network.operator/cluster: routingViaHost: true, ipForwarding: Global',
      finding: finding(gatewaySettings, {}),
      patch: { spec: { defaultNetwork: { ovnKubernetesConfig: settings } } },
    },
  ]
}

/** Pods must resolve names that only the site's DNS servers know; the previous upstreams follow after them. */
function dnsSetting(dns: readonly string[], live: SnapshotIndex): readonly ClusterSetting[] {
  const operator = live.get('operator.openshift.io/DNS', 'default')
  if (!operator || dns.length === 0) return []
  const upstreams = getList(operator, 'spec', 'upstreamResolvers', 'upstreams')
  const known = upstreams.map((upstream) => getString(upstream, 'address'))
  const missing = dns.filter((address) => !known.includes(address))
  if (missing.length === 0) return []
  return [
    {
      object: settingRef(operator),
      what: `dns.operator/default: asks ${missing.join(', ')} first`,
      finding: finding(clusterDnsMissing, { servers: missing }),
      patch: {
        spec: {
          upstreamResolvers: {
            policy: 'Sequential',
            upstreams: [
              ...missing.map((address) => ({ type: 'Network', address, port: 53 })),
              ...(upstreams.length > 0 ? upstreams : [{ type: 'SystemResolvConf' }]),
            ],
          },
        },
      },
    },
  ]
}

function settingRef({ apiVersion, kind, metadata }: KubeObject): ClusterSetting['object'] {
  return { apiVersion, kind, name: metadata.name }
}

/** Undefined until the OpenStack operator has created it. */
export function readControlPlaneCrd(client: Pick<KubeReader, 'get'>): Promise<KubeObject | undefined> {
  const name = 'openstackcontrolplanes.core.openstack.org'
  return client.get({ apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', name })
}

/**
 * Compares the cluster's control plane schema with the planned one. Slots that the cluster does not have are refused,
 * and Services of slots that the plan does not have take their addresses from any pool.
 */
export function crdFindings(planned: SlotTable, crd: KubeObject | undefined): readonly Finding[] {
  if (!crd) return []
  const result = readSlotTable(crd, 'the cluster')
  if (result.kind === 'refused') return result.findings
  if (result.table.crd === planned.crd) return []
  const [before, after] = [slotLines(planned), slotLines(result.table)]
  const slotPath = (line: string): string => line.split(' ')[0] ?? line
  const gone = before.filter((line) => !after.includes(line)).map(slotPath)
  const added = after.filter((line) => !before.includes(line)).map(slotPath)
  return [finding(crdMismatch, { gone, added })]
}
