/**
 * Renders what Argo CD and Flux need besides the documents: sync waves, Kustomizations, and health rules for the kinds
 * that neither tool knows. One table of rules becomes Lua for Argo CD and CEL for Flux.
 */
import type { KubeObject } from '../../api/object.ts'
import { addOwnershipLabels } from '../labels.ts'
import { OPENSHIFT_GITOPS } from './argocd-applications.ts'
import { type Layer, type LayerFolder, layers } from './layers.ts'

const WAVE = 'argocd.argoproj.io/sync-wave'
const OPTIONS = 'argocd.argoproj.io/sync-options'

/** Clouds have the same waves, because they wait for what is shared and not for each other. */
export function addSyncWave(object: KubeObject, layer: Layer, shared: boolean): KubeObject {
  const wave = layers.indexOf(layer) + (shared ? 0 : 1)
  // A kind whose operator is installed in an earlier wave is not served when Argo CD plans the sync.
  const options = 'ServerSideApply=true,SkipDryRunOnMissingResource=true'
  const annotations = { ...object.metadata.annotations, [WAVE]: String(wave), [OPTIONS]: options }
  return { ...object, metadata: { ...object.metadata, annotations } }
}

/**
 * Kinds whose deletion destroys data: volumes are deleted with their namespace or the control plane that owns them, and
 * hosts are deprovisioned with their NodeSet. A rename or a wrong revision must not prune them.
 */
const KEPT_KINDS = new Set([
  'v1/Namespace',
  'v1/PersistentVolumeClaim',
  'core.openstack.org/v1beta1/OpenStackControlPlane',
  'dataplane.openstack.org/v1beta1/OpenStackDataPlaneNodeSet',
  'rabbitmq.openstack.org/v1beta1/RabbitMq',
])

const FLUX_PRUNE = 'kustomize.toolkit.fluxcd.io/prune'

/** Flux keeps these objects when they leave the repository; `stackloom down` removes them. */
export function protectFromPruning(object: KubeObject): KubeObject {
  if (!KEPT_KINDS.has(`${object.apiVersion}/${object.kind}`)) return object
  const annotations = { ...object.metadata.annotations, [FLUX_PRUNE]: 'disabled' }
  return { ...object, metadata: { ...object.metadata, annotations } }
}

/** Extends Argo CD's own ConfigMap: with server-side apply its keys are added to the existing ones. */
export function argocdHealth(): KubeObject {
  const data = argocdHealthChecks().map(({ group, kind, check }) => [
    `resource.customizations.health.${group}_${kind}`,
    check,
  ])
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'argocd-cm', namespace: 'argocd', labels: { 'app.kubernetes.io/part-of': 'argocd' } },
    data: Object.fromEntries(data) as Readonly<Record<string, string>>,
  }
}

/**
 * The same for OpenShift GitOps, whose operator writes `argocd-cm` from its ArgoCD resource and would remove the keys of
 * `argocdHealth`. With server-side apply the other fields of the resource stay.
 */
export function openshiftGitopsHealth(): KubeObject {
  return {
    apiVersion: 'argoproj.io/v1beta1',
    kind: 'ArgoCD',
    metadata: { name: OPENSHIFT_GITOPS, namespace: OPENSHIFT_GITOPS },
    spec: { resourceHealthChecks: argocdHealthChecks() },
  }
}

interface ArgocdHealthCheck {
  readonly group: string
  readonly kind: string
  /** A Lua script. */
  readonly check: string
}

function argocdHealthChecks(): readonly ArgocdHealthCheck[] {
  return healthRules.map((rule) => ({
    group: rule.apiVersion.split('/')[0] ?? '',
    kind: rule.kind,
    check: formatLua(rule),
  }))
}

const FLUX_NAMESPACE = 'flux-system'

/** A Kustomization for each layer, after the layers that it depends on, healthy when its objects are. */
export function fluxKustomizations(site: string, folders: readonly LayerFolder[]): readonly KubeObject[] {
  return folders.map((folder) => {
    const rules = new Set(folder.documents.flatMap(({ object }) => findHealthRule(object) ?? []))
    const before = dependency(folder, folders)
    const object = {
      apiVersion: 'kustomize.toolkit.fluxcd.io/v1',
      kind: 'Kustomization',
      metadata: { name: kustomizationName(site, folder), namespace: FLUX_NAMESPACE },
      spec: {
        interval: '10m',
        retryInterval: '1m',
        timeout: '60m',
        path: `./${folder.path}`,
        prune: true,
        wait: true,
        sourceRef: { kind: 'GitRepository', name: FLUX_NAMESPACE },
        ...(before.length > 0 && {
          dependsOn: before.map((layerFolder) => ({ name: kustomizationName(site, layerFolder) })),
        }),
        ...(rules.size > 0 && { healthCheckExprs: [...rules].map(formatCel) }),
      },
    }
    return addOwnershipLabels(object, { site, ...(folder.cloud !== undefined && { cloud: folder.cloud }) })
  })
}

function kustomizationName(site: string, { path }: LayerFolder): string {
  return `${site}-${path.replace(/^clouds\//, '').replaceAll('/', '-')}`
}

/** The previous layer of the same cloud; for the first layer of a cloud, the last shared one. */
function dependency(folder: LayerFolder, folders: readonly LayerFolder[]): readonly LayerFolder[] {
  const earlier = folders.filter(
    (layerFolder) =>
      layerFolder.cloud === folder.cloud && layers.indexOf(layerFolder.layer) < layers.indexOf(folder.layer),
  )
  const previous = earlier.at(-1)
  if (previous) return [previous]
  return folder.cloud === undefined ? [] : folders.filter((folder) => folder.cloud === undefined).slice(-1)
}

interface HealthRule {
  readonly apiVersion: string
  readonly kind: string
  /** Healthy when this condition is true. */
  readonly ready?: string
  /** Failed when this condition is true. */
  readonly failed?: string
  /** Healthy when `status.state` has this value: OLM's Subscription has no such condition. */
  readonly state?: string
}

/**
 * Without NMState, whose operator reports no conditions before 0.85: a rule would wait for them forever. The policies, which
 * have one, become ready only when it works.
 */
const healthRules: readonly HealthRule[] = [
  { apiVersion: 'operators.coreos.com/v1alpha1', kind: 'Subscription', state: 'AtLatestKnown' },
  { apiVersion: 'nmstate.io/v1', kind: 'NodeNetworkConfigurationPolicy', ready: 'Available', failed: 'Degraded' },
  { apiVersion: 'metallb.io/v1beta1', kind: 'MetalLB', ready: 'Available', failed: 'Degraded' },
  { apiVersion: 'operator.openstack.org/v1beta1', kind: 'OpenStack', ready: 'Ready' },
  { apiVersion: 'core.openstack.org/v1beta1', kind: 'OpenStackControlPlane', ready: 'Ready' },
  { apiVersion: 'core.openstack.org/v1beta1', kind: 'OpenStackVersion', ready: 'Initialized' },
  { apiVersion: 'network.openstack.org/v1beta1', kind: 'DNSData', ready: 'Ready' },
  { apiVersion: 'dataplane.openstack.org/v1beta1', kind: 'OpenStackDataPlaneNodeSet', ready: 'SetupReady' },
  { apiVersion: 'dataplane.openstack.org/v1beta1', kind: 'OpenStackDataPlaneDeployment', ready: 'Ready' },
]

function findHealthRule(object: { readonly apiVersion: string; readonly kind: string }): HealthRule | undefined {
  return healthRules.find((rule) => rule.kind === object.kind && rule.apiVersion === object.apiVersion)
}

/** The generation that the status is about; kinds of other projects do not report it. */
const OPENSTACK = /\.openstack\.org\//

/** A Lua script for Argo CD. A status of an earlier generation says nothing about the spec that was just synced. */
function formatLua({ apiVersion, kind, ready, failed, state }: HealthRule): string {
  const head = `local health = { status = "Progressing", message = "${kind} is not ready yet" }
if obj.status == nil then return health end
if obj.status.observedGeneration ~= nil and obj.status.observedGeneration ~= obj.metadata.generation then return health end
`
  if (state !== undefined) {
    return `${head}if obj.status.state == "${state}" then health.status = "Healthy"; health.message = obj.status.state end\nreturn health\n`
  }
  const failure = failed
    ? `  if condition.type == "${failed}" and condition.status == "True" then\n    return { status = "Degraded", message = condition.message or condition.reason }\n  end\n`
    : ''
  // lib-common marks what does not recover without a change by severity Error; Warning and Info are waits.
  const severity = OPENSTACK.test(apiVersion)
    ? `  if condition.status == "False" and condition.severity == "Error" then
    return { status = "Degraded", message = condition.type .. ": " .. (condition.message or condition.reason or "") }
  end
`
    : ''
  return `${head}for _, condition in ipairs(obj.status.conditions or {}) do
${failure}${severity}  if condition.type == "${ready}" and condition.status == "True" then
    health = { status = "Healthy", message = condition.message or condition.reason }
  elseif condition.type == "${ready}" then
    health.message = condition.message or condition.reason
  end
end
return health
`
}

/** CEL expressions for Flux. */
function formatCel({ apiVersion, kind, ready, failed, state }: HealthRule): Readonly<Record<string, string>> {
  const condition = (type: string): string => `status.conditions.exists(e, e.type == '${type}' && e.status == 'True')`
  const current = state === undefined ? condition(ready ?? 'Ready') : `status.state == '${state}'`
  if (!OPENSTACK.test(apiVersion))
    return { apiVersion, kind, current, ...(failed !== undefined && { failed: condition(failed) }) }
  // Flux tries these in this order.
  return {
    apiVersion,
    kind,
    inProgress: 'has(status.observedGeneration) && status.observedGeneration != metadata.generation',
    failed: "status.conditions.exists(e, e.status == 'False' && has(e.severity) && e.severity == 'Error')",
    current,
  }
}
